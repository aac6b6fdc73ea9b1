import assert from "node:assert/strict"
import { setImmediate } from "node:timers/promises"
import test from "node:test"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Message } from "../../lib/dtc/types.ts"
import {
  answers,
  answersLate,
  catalog,
  catalogWith,
  type Endpoint,
  entry,
  neverAnswers,
  provider,
} from "../helpers/client.ts"
import { clearedTargets } from "../helpers/history.ts"
import { longHistory, NARROW, ROOMY, startInstance, type Instance } from "./instance.ts"

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `ses_${index}`)
const modelNames = ["lab-1", "lab-2"]

function historyFor(sessionID: string, modelID: string): Message[] {
  const messages = longHistory(sessionID)
  for (const { info } of messages) if (info.role === "user") info["model"] = { providerID: "lab", modelID }
  return messages
}

test("requests that ask at the same time are each judged by the answer that they got", async () => {
  const late = answersLate()
  const instance = startInstance({ providers: late.endpoint })
  const histories = names(4).map((name) => longHistory(name))
  const requests = histories.map((messages) => instance.transform(messages))
  late.answer(catalogWith(ROOMY))
  late.answer(catalogWith(NARROW))
  late.refuse()
  late.answer(catalogWith({ context: 4_000, output: 500 }))
  await Promise.all(requests)
  assert.deepEqual(histories.map(clearedTargets), [[], ["old.ts"], [], ["old.ts"]])
  assert.deepEqual(instance.budgets(), [168_000, 2_500, 3_500])
  await instance.transform(longHistory("ses_later"))
  assert.equal(instance.budgets().at(-1), 3_500, "the newest answer is remembered")
})

test("a thousand sessions under two models, in turns: each gets its own budget, guard and clear", async () => {
  const wide = entry(ROOMY, { id: "lab-2" })
  const instance = startInstance({ providers: answers(catalog(provider({ "lab-1": entry(NARROW), "lab-2": wide }))) })
  const sessions = names(1_000).map((sessionID, index) => ({
    sessionID,
    modelID: modelNames[index % 2] ?? "",
    compacts: index % 5 === 0,
    prunes: index % 7 === 0 && index < 700,
    deleted: index % 35 === 0,
  }))
  for (const { sessionID, prunes } of sessions) if (prunes) await instance.prune(sessionID)
  for (const { sessionID, compacts } of sessions) if (compacts) await instance.compacting(sessionID)
  for (const { sessionID, deleted } of sessions) if (deleted) await instance.deleted(sessionID)

  const expectations = sessions.flatMap((session) => {
    const guarded = session.compacts && !session.deleted
    const forced = session.prunes && !session.deleted
    const clears = session.modelID === "lab-1" || forced
    return [
      { ...session, clears: clears && !guarded },
      { ...session, clears: guarded ? clears : session.modelID === "lab-1" },
    ]
  })
  // Every session's first request before any session's second one.
  const ordered = [0, 1].flatMap((round) => expectations.filter((_, index) => index % 2 === round))
  const requests = ordered.map(async ({ sessionID, modelID, clears }) => {
    const messages = historyFor(sessionID, modelID)
    await instance.transform(messages)
    assert.deepEqual(clearedTargets(messages), clears ? ["old.ts"] : [], sessionID)
  })
  await Promise.all(requests)
  assert.equal(instance.outcomes().length, 2_000)
  instance.fake.assertNothingWritten()
})

test("a catalog that never answers holds a thousand requests two seconds, not longer, and each only once", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  const signals: AbortSignal[] = []
  const instance = startInstance({
    providers: (options) => {
      signals.push(options.signal)
      return neverAnswers(options)
    },
  })
  let done = 0
  const requests = names(1_000).map((name) => instance.transform(longHistory(name)).then(() => done++))
  t.mock.timers.tick(1_999)
  await setImmediate()
  assert.equal(done, 0)
  t.mock.timers.tick(1)
  await Promise.all(requests)
  assert.deepEqual(new Set(instance.outcomes()), new Set(["unavailable-budget"]))
  assert.equal(signals.length, 1_000)
  assert.ok(signals.every(({ aborted }) => aborted))
})

test("a session that is deleted, or an instance that is disposed, during the lookup: the request goes on, its clear is forgotten", async () => {
  for (const forget of ["deleted", "disposed"]) {
    const late = answersLate()
    const instance = startInstance({ providers: late.endpoint })
    await instance.prune("ses_a")
    const messages = longHistory("ses_a")
    const request = instance.transform(messages)
    await (forget === "deleted" ? instance.deleted("ses_a") : instance.call("dispose"))
    late.answer(catalogWith(ROOMY))
    await request
    assert.deepEqual([instance.outcomes(), clearedTargets(messages)], [["projected"], []], forget)
  }
})

test("of 10,000 scheduled clears the newest 256 are kept, and each that was dropped is told", async () => {
  const instance = startInstance({ providers: answers(catalogWith(ROOMY)) })
  for (const name of names(10_000)) await instance.prune(name)
  const dropped = instance.fake.logged().filter(({ level }) => level === "warn")
  assert.equal(dropped.length, 10_000 - 256)
  const kept = [0, 9_743, 9_744, 9_999].map((index) => instance.controls.hasPendingClear(`ses_${index}`))
  assert.deepEqual(kept, [false, false, true, true])
})

test("10,000 compactions stop clearing with one line, and no request fails or is written", async () => {
  const instance = startInstance()
  for (const name of names(10_000)) await instance.compacting(name)
  assert.equal(instance.fake.logged().filter(({ level }) => level === "warn").length, 1)
  for (const name of ["ses_0", "ses_255", "ses_256", "ses_9999"]) {
    const messages = longHistory(name)
    await instance.transform(messages)
    assert.deepStrictEqual(messages, longHistory(name))
  }
})

for (const debug of [false, true])
  test(
    `a log that runs a hook at every line ends${debug ? ", when debugging too" : ""}`,
    { timeout: 20_000 },
    async () => {
      let lines = 0
      const started: { instance?: Instance } = {}
      const inner: Promise<void>[] = []
      const log = (): unknown => {
        if (++lines > 50) throw new Error("endless")
        inner.push(started.instance?.transform(Object.freeze(longHistory(`ses_${lines}`))) ?? Promise.resolve())
        return setImmediate().then(() => started.instance?.transform([{}]))
      }
      const instance = startInstance({ log, showToast: log }, { debug, notify: "toast" })
      started.instance = instance
      const messages = longHistory()
      await instance.transform(messages)
      await instance.transform([{ odd: true }])
      for (let turn = 0; turn < 20; turn++) await setImmediate()
      await Promise.all(inner)
      assert.deepEqual(clearedTargets(messages), ["old.ts"])
      assert.ok(lines <= (debug ? 5 : 3), `${lines} lines`)
      assert.equal(instance.fake.countOf("tui.showToast"), 1)
    },
  )

/** By turns: a host that knows one more model, one that knows none, and one that never answers. */
const unsteady: ((known: string) => Endpoint)[] = [
  (id) => answers(catalog(provider({ "lab-1": entry(NARROW), [id]: entry(NARROW, { id }) }))),
  () => answers(undefined),
  () => neverAnswers,
]

test(
  "memory does not grow with sessions, requests, guards, clears, models, failures or silence",
  { timeout: 60_000 },
  async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] })
    const collect = exposeCollector()
    let asked = 0
    let modelID = ""
    const instance = startInstance(
      { providers: (options) => unsteady[(asked++ >> 1) % unsteady.length]?.(modelID)(options) },
      { debug: false, notify: "toast" },
    )
    const calls = instance.fake.calls as unknown[]
    const round = async (from: number): Promise<void> => {
      for (let index = from; index < from + 600; index++) {
        const sessionID = `ses_${index}_${"x".repeat(200)}`
        await instance.prune(sessionID)
        await instance.compacting(sessionID)
        modelID = `model ${sessionID}`
        const requests = [longHistory(sessionID), longHistory(sessionID), historyFor(sessionID, modelID)]
        const done = requests.map((messages) => instance.transform(messages))
        t.mock.timers.tick(2_000)
        await Promise.all(done)
        await instance.params(sessionID, "build")
        await instance.transform([{ [sessionID]: 1 }])
        if (index % 2 === 0) await instance.deleted(sessionID)
        instance.advance(1_000)
      }
      // What the fake client keeps is the test's own.
      calls.length = 0
      collect()
    }
    await round(0)
    const before = process.memoryUsage().heapUsed
    for (let index = 1; index <= 4; index++) await round(index * 600)
    const grownBytes = process.memoryUsage().heapUsed - before
    assert.ok(grownBytes < 1_000_000, `${grownBytes} bytes more after 2,400 sessions`)
  },
)

function exposeCollector(): () => void {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
}
