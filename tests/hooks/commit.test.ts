import assert from "node:assert/strict"
import { setImmediate } from "node:timers/promises"
import test from "node:test"
import type { Message } from "../../lib/dtc/types.ts"
import {
  answers,
  catalog,
  catalogWith,
  createClient,
  entry,
  neverAnswers,
  provider,
  rejects,
} from "../helpers/client.ts"
import { bash, clearedTargets, read, session, step, tokens, user } from "../helpers/history.ts"
import { createSnapshots, longHistory, NARROW, ROOMY, startInstance } from "./instance.ts"

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value
  for (const field of Object.values(value)) deepFreeze(field)
  return Object.freeze(value)
}

test("the host's own array is written, in the slots of cleared outputs only, and no message object is", async () => {
  const instance = startInstance()
  const original = longHistory().map(deepFreeze)
  const messages = [...original]
  const output = { messages }
  await instance.call("experimental.chat.messages.transform", {}, output)
  assert.equal(output.messages, messages)
  assert.deepEqual(
    messages.map((message, index) => message === original[index]),
    [true, false, true, true],
  )
  assert.deepEqual(clearedTargets(messages), ["old.ts"])
  assert.deepEqual(clearedTargets(original), [])
})

test("the written message differs by the mark alone", async () => {
  const instance = startInstance()
  const messages = longHistory()
  const expected = longHistory()
  await instance.transform(messages)
  const state = expected[1]?.parts[1]?.["state"] as { time: Record<string, number> }
  state.time["compacted"] = 1_800_000_000_000
  assert.deepStrictEqual(messages, expected)
})

test("a request within its target is not written at all", async () => {
  const instance = startInstance({ providers: answers(catalogWith(ROOMY)) })
  const messages = longHistory()
  const snapshot = createSnapshots()
  const before = snapshot(messages)
  await instance.transform(messages)
  assert.deepStrictEqual(snapshot(messages), before)
  assert.deepEqual(instance.outcomes(), ["projected"])
})

test("two outputs of one message go together, other messages keep their objects", async () => {
  const instance = startInstance()
  const both = step(read("a.ts", tokens(2_000, "a")), read("b.ts", tokens(2_000, "b")))
  const messages = session(user("go"), both, user("next"), step(bash("ls", "x")))
  const original = [...messages]
  await instance.transform(messages)
  assert.deepEqual(clearedTargets(messages), ["a.ts", "b.ts"])
  assert.deepEqual(
    messages.map((message, index) => message === original[index]),
    [true, false, true, true],
  )
})

test("with a remembered entry the request is written before the hook returns", async () => {
  const instance = startInstance()
  await instance.transform(longHistory())
  const messages = longHistory()
  const request = instance.transform(messages)
  assert.deepEqual(clearedTargets(messages), ["old.ts"])
  await request
  assert.equal(instance.fake.countOf("config.providers"), 1)
})

test("an entry is remembered for less than five seconds", async () => {
  const instance = startInstance()
  await instance.transform(longHistory())
  instance.advance(4_999)
  await instance.transform(longHistory())
  assert.equal(instance.fake.countOf("config.providers"), 1)
  instance.advance(1)
  const messages = longHistory()
  const request = instance.transform(messages)
  assert.deepEqual(clearedTargets(messages), [], "asked again, so not written yet")
  await request
  assert.equal(instance.fake.countOf("config.providers"), 2)
})

test("using a remembered entry does not keep it fresh", async () => {
  const instance = startInstance()
  for (let request = 0; request < 4; request++) {
    await instance.transform(longHistory())
    instance.advance(2_500)
  }
  assert.equal(instance.fake.countOf("config.providers"), 2)
})

test("a new answer counts once the old one is no longer fresh", async () => {
  const limits = [NARROW, ROOMY]
  const instance = startInstance({ providers: () => Promise.resolve(catalogWith(limits.shift())) })
  for (const wait of [1, 5_000, 0]) {
    await instance.transform(longHistory())
    instance.advance(wait)
  }
  assert.deepEqual(instance.budgets(), [2_500, 2_500, 168_000])
})

test("no failure is remembered: a rejection, an unknown model, invalid limits", async () => {
  const answersInTurn = [Promise.reject(new Error("busy")), { data: {} }, catalogWith({ context: 0, output: 0 })]
  const instance = startInstance({ providers: () => answersInTurn.shift() ?? catalogWith(NARROW) })
  for (let request = 0; request < 4; request++) await instance.transform(longHistory())
  assert.deepEqual(instance.outcomes(), ["unavailable-budget", "unavailable-budget", "unavailable-budget", "projected"])
  assert.equal(instance.fake.countOf("config.providers"), 4)
})

test("an invalid entry is not remembered even where the configuration gives limits", async () => {
  const models = { "lab/lab-1": { limit: NARROW } }
  const instance = startInstance({ providers: answers(catalogWith({ context: 0, output: 0 })) }, { models })
  await instance.transform(longHistory())
  await instance.transform(longHistory())
  assert.equal(instance.fake.countOf("config.providers"), 2)
})

test("each model is asked for on its own, and instances share nothing", async () => {
  const instance = startInstance()
  await instance.transform(longHistory())
  const other = longHistory()
  for (const { info } of other) if (info["model"]) info["model"] = { providerID: "lab", modelID: "lab-2" }
  await instance.transform(other)
  assert.deepEqual(instance.outcomes(), ["projected", "unavailable-budget"])
  const second = startInstance({ providers: answers(catalogWith(ROOMY)) })
  await second.transform(longHistory())
  assert.deepEqual(second.budgets(), [168_000])
})

test("several models are remembered side by side", async () => {
  const models = { "lab-1": entry(NARROW), "lab-2": entry(ROOMY, { id: "lab-2" }) }
  const instance = startInstance({ providers: answers(catalog(provider(models))) })
  for (const modelID of ["lab-1", "lab-2", "lab-1", "lab-2"]) {
    const messages = longHistory()
    for (const { info } of messages) if (info["model"]) info["model"] = { providerID: "lab", modelID }
    await instance.transform(messages)
  }
  assert.deepEqual(instance.budgets(), [2_500, 168_000, 2_500, 168_000])
  assert.equal(instance.fake.countOf("config.providers"), 2)
})

const lookalikes = [
  [
    { providerID: "lab", modelID: "lab-1" },
    { providerID: "la", modelID: "blab-1" },
  ],
  [
    { providerID: "lab", modelID: "x/lab-1" },
    { providerID: "lab/x", modelID: "lab-1" },
  ],
  [
    { providerID: "lab", modelID: "lab-1" },
    { providerID: "acme", modelID: "lab-1" },
  ],
] as const
for (const [known, other] of lookalikes)
  test(`an entry for ${JSON.stringify(known)} is none for ${JSON.stringify(other)}`, async () => {
    const models = { [known.modelID]: entry(NARROW, { id: known.modelID }) }
    const instance = startInstance({ providers: answers(catalog(provider(models))) })
    for (const model of [known, other]) {
      const messages = longHistory()
      for (const { info } of messages) if (info["model"]) info["model"] = model
      await instance.transform(messages)
    }
    assert.deepEqual(instance.outcomes(), ["projected", "unavailable-budget"])
  })

test("after two seconds the lookup is aborted and the request goes on as it was", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  let signal: AbortSignal | undefined
  const instance = startInstance({
    providers: (options) => {
      signal = options.signal
      return neverAnswers(options)
    },
  })
  const messages = longHistory()
  const request = instance.transform(messages)
  t.mock.timers.tick(1_999)
  await setImmediate()
  assert.equal(signal?.aborted, false)
  assert.deepEqual(instance.outcomes(), [])
  t.mock.timers.tick(1)
  await request
  assert.equal(signal?.aborted, true)
  assert.deepEqual(instance.outcomes(), ["unavailable-budget"])
  assert.deepEqual(messages, longHistory())
})

test("an answer in time leaves no timer and does not abort", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  let signal: AbortSignal | undefined
  const instance = startInstance({
    providers: (options) => {
      signal = options.signal
      return Promise.resolve(catalogWith(NARROW))
    },
  })
  await instance.transform(longHistory())
  t.mock.timers.tick(10_000)
  assert.equal(signal?.aborted, false)
})

test("requests that wait at the same time are each projected once, in whatever order the answers come", async () => {
  const waiting: ((answer: unknown) => void)[] = []
  const instance = startInstance({ providers: () => new Promise((resolve) => waiting.push(resolve)) })
  const histories: Message[][] = [longHistory("ses_a"), longHistory("ses_b"), longHistory("ses_a")]
  const requests = histories.map(instance.transform)
  for (const resolve of waiting.toReversed()) resolve(catalogWith(NARROW))
  await Promise.all(requests)
  assert.deepEqual(histories.map(clearedTargets), [["old.ts"], ["old.ts"], ["old.ts"]])
  assert.deepEqual(instance.outcomes(), ["projected", "projected", "projected"])
})

test("the fake client itself tells on a writing endpoint", async () => {
  const fake = createClient({ providers: rejects })
  const { session: sessions } = fake.client as unknown as { session: { abort: (options: object) => Promise<unknown> } }
  await sessions.abort({ path: { id: "ses_1" } })
  assert.throws(() => fake.assertNothingWritten(), /session\.abort/)
})
