import assert from "node:assert/strict"
import { setImmediate } from "node:timers/promises"
import test, { type TestContext } from "node:test"
import { withinDeadline } from "../../lib/deadline.ts"
import { answersLate, catalogWith, neverAnswers, type LateEndpoint } from "../helpers/client.ts"
import { clearedTargets } from "../helpers/history.ts"
import { longHistory, NARROW, ROOMY, startInstance } from "./instance.ts"

/** What nobody caught while the test ran; the runner itself would fail the wrong test. */
function watchRejections(t: TestContext): unknown[] {
  const unhandled: unknown[] = []
  const listen = (reason: unknown): void => void unhandled.push(reason)
  process.on("unhandledRejection", listen)
  t.after(() => process.off("unhandledRejection", listen))
  return unhandled
}

const lateAnswers: [what: string, settle: (late: LateEndpoint) => void][] = [
  ["answers", (late) => late.answer(catalogWith(NARROW))],
  ["answers garbage", (late) => late.answer({ data: { providers: [null, 7] } })],
  ["refuses", (late) => late.refuse()],
]
for (const [what, settle] of lateAnswers)
  test(`a catalog that ${what} after the request has gone out changes nothing and is not remembered`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] })
    const unhandled = watchRejections(t)
    const late = answersLate()
    const instance = startInstance({ providers: late.endpoint })
    await instance.prune("ses_1")
    const messages = longHistory()
    const request = instance.transform(messages)
    t.mock.timers.tick(2_000)
    await request
    const calls = instance.fake.calls.length
    settle(late)
    await setImmediate()
    assert.deepEqual([instance.outcomes(), clearedTargets(messages)], [["unavailable-budget"], []])
    assert.equal(instance.fake.calls.length, calls, "nothing is said about it either")

    const next = instance.transform(messages)
    assert.equal(instance.fake.countOf("config.providers"), 2, "the host is asked again")
    late.answer(catalogWith(ROOMY))
    await next
    assert.deepEqual(instance.budgets(), [168_000])
    assert.deepEqual(clearedTargets(messages), ["old.ts"], "what was asked for waited for this request")
    assert.deepEqual(unhandled, [])
  })

test("a lookup that was given up does not answer for the request after it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  const late = answersLate()
  const instance = startInstance({ providers: late.endpoint })
  const first = instance.transform(longHistory("ses_a"))
  t.mock.timers.tick(1_500)
  const second = instance.transform(longHistory("ses_b"))
  t.mock.timers.tick(500)
  await first
  late.answer(catalogWith(NARROW))
  late.answer(catalogWith(ROOMY))
  await second
  assert.deepEqual([instance.outcomes(), instance.budgets()], [["unavailable-budget", "projected"], [168_000]])
})

test("by the clock on the wall a request waits two seconds, and not much longer", { timeout: 10_000 }, async () => {
  const instance = startInstance({ providers: neverAnswers })
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: 100 }, (_, index) => instance.transform(longHistory(`ses_${index}`))))
  const waitedMs = performance.now() - startedMs
  assert.ok(waitedMs >= 1_990 && waitedMs < 3_500, `${waitedMs} ms`)
})

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length
const asked: [what: string, ask: () => Promise<unknown>][] = [
  ["answered", () => Promise.resolve(1)],
  ["refused", () => Promise.reject(new Error("no"))],
  [
    "not even sent",
    () => {
      throw new Error("no")
    },
  ],
]
for (const [what, ask] of asked)
  test(`a question that is ${what} leaves no timer that would keep the host awake, and is not aborted`, async () => {
    const before = timers()
    let given: AbortSignal | undefined
    const answer = withinDeadline(60_000, (signal) => {
      given = signal
      return ask()
    })
    await answer.catch(() => undefined)
    assert.equal(timers(), before)
    assert.equal(given?.aborted, false)
  })

test("a question that is not answered is aborted at its time, not before, and then answers nothing", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  let given: AbortSignal | undefined
  const answer = withinDeadline(500, (signal) => {
    given = signal
    return new Promise(() => undefined)
  })
  t.mock.timers.tick(499)
  assert.equal(given?.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(given.aborted, true)
  assert.equal(await answer, undefined)
})

test("an abort that the client turns into a rejection is no failure", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  const unhandled = watchRejections(t)
  const aborting = ({ signal }: { signal: AbortSignal }): Promise<unknown> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error))
    })
  const instance = startInstance({ providers: aborting })
  const request = instance.transform(longHistory())
  t.mock.timers.tick(2_000)
  await request
  await setImmediate()
  assert.deepEqual([instance.outcomes(), unhandled], [["unavailable-budget"], []])
})
