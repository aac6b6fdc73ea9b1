import assert from "node:assert/strict"
import test from "node:test"
import type { Message } from "../../lib/dtc/types.ts"
import { answers, answersLate, catalogWith, neverAnswers } from "../helpers/client.ts"
import { bash, clearedTargets, read, session, step, tokens, user, userParts } from "../helpers/history.ts"
import { createSnapshots, longHistory, NARROW, ROOMY, startInstance, type Instance } from "./instance.ts"

const roomy = { providers: answers(catalogWith(ROOMY)) }

/** What one request of the session cleared. */
async function request(instance: Instance, sessionID: string, messages = longHistory(sessionID)): Promise<string[]> {
  await instance.transform(messages)
  return clearedTargets(messages)
}

function withUnknownContent(sessionID: string): Message[] {
  const messages = longHistory(sessionID)
  messages[3]?.parts.push({ id: "prt_odd", type: "hologram" })
  return messages
}

test("the compaction's own request stays whole, and the guard is gone after it", async () => {
  const instance = startInstance()
  await instance.compacting("ses_a")
  const messages = longHistory("ses_a")
  const snapshot = createSnapshots()
  const before = snapshot(messages)
  await instance.transform(messages)
  assert.deepStrictEqual(snapshot(messages), before)
  assert.deepEqual(await request(instance, "ses_a"), ["old.ts"])
  assert.deepEqual(instance.outcomes(), ["native-compaction", "projected"])
})

test("other sessions go on while one compacts", async () => {
  const instance = startInstance()
  await instance.compacting("ses_a")
  assert.deepEqual(await request(instance, "ses_b"), ["old.ts"])
  assert.deepEqual(await request(instance, "ses_a"), [])
})

test("a guard is armed before the hook returns and taken before the catalog is asked", async () => {
  const instance = startInstance({ providers: neverAnswers })
  const armed = instance.compacting("ses_a")
  await request(instance, "ses_a")
  await armed
  assert.equal(instance.fake.countOf("config.providers"), 0)
  assert.deepEqual(instance.outcomes(), ["native-compaction"])
})

test("an aborted compaction costs one request at most", async () => {
  const instance = startInstance()
  await instance.compacting("ses_a")
  await instance.compacting("ses_a")
  assert.deepEqual(await request(instance, "ses_a"), [])
  assert.deepEqual(await request(instance, "ses_a"), ["old.ts"])
})

test("a guard survives requests whose session cannot be told", async () => {
  const instance = startInstance()
  await instance.compacting("ses_a")
  await instance.transform([])
  await instance.transform([...longHistory("ses_a"), {}])
  assert.deepEqual(await request(instance, "ses_a"), [])
})

test("parameters of the compaction agent clear a guard left behind; those of other agents and sessions do not", async () => {
  for (const [sessionID, agent, cleared] of [
    ["ses_a", "compaction", ["old.ts"]],
    ["ses_a", "title", []],
    ["ses_a", "build", []],
    ["ses_a", "summary", []],
    ["ses_a", "Compaction", []],
    ["ses_b", "compaction", []],
  ] as const) {
    const instance = startInstance()
    await instance.compacting("ses_a")
    await instance.params(sessionID, agent)
    assert.deepEqual(await request(instance, "ses_a"), cleared, `${sessionID} ${agent}`)
  }
})

test("parameters of any agent leave a pending clear alone", async () => {
  const instance = startInstance(roomy)
  await instance.prune("ses_a")
  for (const agent of ["compaction", "title", "build"]) await instance.params("ses_a", agent)
  assert.deepEqual(await request(instance, "ses_a"), ["old.ts"])
})

test("a guard armed while an ordinary request waits for the catalog is kept for the compaction", async () => {
  const late = answersLate()
  const instance = startInstance({ providers: late.endpoint })
  const ordinary = request(instance, "ses_a")
  await instance.compacting("ses_a")
  late.answer(catalogWith(NARROW))
  assert.deepEqual(await ordinary, ["old.ts"])
  assert.deepEqual(await request(instance, "ses_a"), [])
})

test("256 guards are kept; with the 257th clearing stops for good, and one line says so", async () => {
  const instance = startInstance()
  await instance.prune("ses_free")
  for (let index = 0; index < 256; index++) await instance.compacting(`ses_${index}`)
  assert.deepEqual(await request(instance, "ses_free"), ["old.ts"])
  assert.deepEqual(instance.fake.logged().filter(isWarning), [])

  for (const late of ["ses_256", "ses_257", "ses_258"]) await instance.compacting(late)
  assert.equal(instance.fake.logged().filter(isWarning).length, 1)
  const outcomesBefore = instance.outcomes().length
  for (const sessionID of ["ses_256", "ses_free"]) {
    const messages = longHistory(sessionID)
    await instance.transform(messages)
    assert.deepStrictEqual(messages, longHistory(sessionID))
  }
  for (let index = 0; index < 256; index++) assert.deepEqual(await request(instance, `ses_${index}`), [])
  const outcomes = instance.outcomes().slice(outcomesBefore)
  assert.deepEqual(outcomes.slice(0, 2), ["guard-capacity", "guard-capacity"])
  assert.deepEqual(new Set(outcomes.slice(2)), new Set(["native-compaction"]), "no guard was evicted")
  assert.deepEqual(await request(instance, "ses_0"), [], "room for guards does not start clearing again")
  assert.equal(instance.outcomes().at(-1), "guard-capacity")
})

const isWarning = ({ level }: { level: string }): boolean => level === "warn"

test("a scheduled clear outlives a compaction and serves the request after it", async () => {
  const instance = startInstance(roomy)
  await instance.prune("ses_a")
  await instance.compacting("ses_a")
  assert.deepEqual(await request(instance, "ses_a"), [])
  await instance.params("ses_a", "compaction")
  assert.deepEqual(await request(instance, "ses_a"), ["old.ts"])
  assert.deepEqual(instance.outcomes(), ["native-compaction", "forced"])
})

test("a scheduled clear serves one request of its session", async () => {
  const instance = startInstance(roomy)
  await instance.prune("ses_a")
  assert.deepEqual(await request(instance, "ses_b"), [])
  assert.deepEqual(await request(instance, "ses_a"), ["old.ts"])
  assert.deepEqual(await request(instance, "ses_a"), [])
  assert.deepEqual(instance.outcomes(), ["projected", "forced", "projected"])
})

test("asking twice before a request is asking once", async () => {
  const instance = startInstance(roomy)
  await instance.prune("ses_a")
  await instance.prune("ses_a")
  assert.deepEqual(await request(instance, "ses_a"), ["old.ts"])
  assert.deepEqual(await request(instance, "ses_a"), [])
})

test("a scheduled clear is spent by a request that finds nothing to clear", async () => {
  const instance = startInstance(roomy)
  await instance.prune("ses_a")
  assert.deepEqual(await request(instance, "ses_a", longHistory("ses_a").slice(2)), [])
  assert.deepEqual(await request(instance, "ses_a"), [])
})

test("a scheduled clear is not spent on content of unknown size, though earlier clears are carried through it", async () => {
  const instance = startInstance()
  const drafts = [
    user("go"),
    ...["a", "b", "c", "d"].map((name) => step(read(`${name}.ts`, tokens(1_000, name)))),
    step(bash("ls", "recent")),
  ]
  const unknown = session(...drafts, userParts({ type: "hologram" }))
  await instance.prune("ses_1")
  const carried = await request(instance, "ses_1", unknown)
  assert.ok(carried.length > 0 && carried.length < 4, "something was carried, not everything")
  assert.equal(instance.controls.hasPendingClear("ses_1"), true)
  assert.deepEqual(await request(instance, "ses_1", session(...drafts)), ["a.ts", "b.ts", "c.ts", "d.ts"])
  assert.equal(instance.outcomes().at(-1), "forced")
  assert.equal(instance.controls.hasPendingClear("ses_1"), false)
})

const withoutModel = (sessionID: string): Message[] =>
  longHistory(sessionID).map(({ info, parts }) => ({ info: { ...info, model: undefined }, parts }))
const leftAlone: [why: string, messages: (sessionID: string) => unknown, outcome: string][] = [
  ["content of unknown size", withUnknownContent, "unknown-content"],
  ["no model", withoutModel, "unknown-model"],
  ["a malformed message", (sessionID) => [...longHistory(sessionID), {}], "malformed-message"],
  ["a frozen array", (sessionID) => Object.freeze(longHistory(sessionID)), "not-plain-data"],
  ["no message", () => [], "empty-history"],
]
for (const [why, messages, outcome] of leftAlone)
  test(`a scheduled clear is not spent by a request that is left alone: ${why}`, async () => {
    const instance = startInstance(roomy)
    await instance.prune("ses_a")
    await instance.transform(messages("ses_a"))
    assert.deepEqual(await request(instance, "ses_a"), ["old.ts"])
    assert.deepEqual(instance.outcomes(), [outcome, "forced"])
  })

test("a scheduled clear is not spent by a failed lookup, nor by a request that changed during one", async () => {
  const late = answersLate()
  const instance = startInstance({ providers: late.endpoint })
  await instance.prune("ses_a")
  const failed = request(instance, "ses_a")
  late.refuse()
  await failed
  const messages = longHistory("ses_a")
  const changed = request(instance, "ses_a", messages)
  messages.length = 0
  late.answer(catalogWith(ROOMY))
  await changed
  assert.deepEqual(await request(instance, "ses_a"), ["old.ts"])
  assert.deepEqual(instance.outcomes(), ["unavailable-budget", "request-changed", "forced"])
})

test("of two requests that wait at the same time one is forced", async () => {
  const late = answersLate()
  const instance = startInstance({ providers: late.endpoint })
  await instance.prune("ses_a")
  const requests = [request(instance, "ses_a"), request(instance, "ses_a")]
  late.answer(catalogWith(ROOMY))
  late.answer(catalogWith(ROOMY))
  await Promise.all(requests)
  assert.deepEqual(instance.outcomes(), ["forced", "projected"])
})

test("two sessions interleaved keep their own guards and clears", async () => {
  const instance = startInstance(roomy)
  await instance.prune("ses_a")
  await instance.compacting("ses_b")
  await instance.prune("ses_b")
  await instance.compacting("ses_a")
  const cleared: string[][] = []
  for (const sessionID of ["ses_b", "ses_a", "ses_b", "ses_b", "ses_a", "ses_a"])
    cleared.push(await request(instance, sessionID))
  assert.deepEqual(cleared, [[], [], ["old.ts"], [], ["old.ts"], []])
})

test("a deleted session is forgotten, the others are not", async () => {
  const instance = startInstance(roomy)
  for (const sessionID of ["ses_a", "ses_b"]) {
    await instance.prune(sessionID)
    await instance.compacting(sessionID)
  }
  await instance.deleted("ses_a")
  await instance.call("event", { event: { type: "session.updated", properties: { info: { id: "ses_b" } } } })
  assert.deepEqual(await request(instance, "ses_a"), [])
  assert.deepEqual(await request(instance, "ses_b"), [])
  assert.deepEqual(await request(instance, "ses_b"), ["old.ts"])
  assert.deepEqual(instance.outcomes(), ["projected", "native-compaction", "forced"])
})

test("dispose forgets every session", async () => {
  const instance = startInstance(roomy)
  for (const sessionID of ["ses_a", "ses_b"]) {
    await instance.prune(sessionID)
    await instance.compacting(sessionID)
  }
  await instance.call("dispose")
  for (const sessionID of ["ses_a", "ses_b"]) assert.deepEqual(await request(instance, sessionID), [])
  assert.deepEqual(instance.outcomes(), ["projected", "projected"])
})
