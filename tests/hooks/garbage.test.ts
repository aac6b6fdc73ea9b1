import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { isRecord } from "../../lib/dtc/plain.ts"
import type { Message, Part } from "../../lib/dtc/types.ts"
import { answersLate, catalogWith } from "../helpers/client.ts"
import { histories } from "../helpers/arbitraries.ts"
import { toolParts } from "../helpers/history.ts"
import { createSnapshots, HOOK_NAMES, longHistory, NARROW, startInstance } from "./instance.ts"

const RUNS = { numRuns: 300 }

const anything = fc.oneof(
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true }),
  fc.anything({ withSparseArray: true, withTypedArray: true, withObjectString: true, withBoxedValues: true }),
  fc.constantFrom("ses_1", "compaction", "session.deleted", "lab", Symbol("odd")),
)
const inputs = fc.oneof(
  anything,
  fc.record({ sessionID: anything, agent: anything }, { requiredKeys: [] }),
  fc.record({ event: fc.record({ type: anything, properties: fc.record({ info: fc.record({ id: anything }) }) }) }),
)

/** A history with one place, however deep, replaced by something else. */
const spoiled = fc
  .tuple(fc.oneof(histories, fc.constant(longHistory())), fc.array(fc.nat(), { maxLength: 6 }), anything)
  .map(([messages, path, value]) => spoil(structuredClone(messages), path, value))

function spoil(container: unknown, [step, ...rest]: readonly number[], value: unknown): unknown {
  if (typeof container !== "object" || container === null || step === undefined) return value
  const keys = Object.keys(container)
  const key = keys[step % keys.length]
  if (key === undefined) return value
  Reflect.set(container, key, spoil(Reflect.get(container, key), rest, value))
  return container
}

test("no argument makes a hook reject, or changes anything unless the request was projected", async () => {
  const outputs = fc.oneof(
    anything,
    fc.record({ messages: anything }),
    spoiled.map((messages) => ({ messages })),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...HOOK_NAMES), inputs, outputs, async (hook, input, output) => {
      const instance = startInstance()
      const snapshot = createSnapshots()
      const held = [input, output]
      const original = listedIn(output)
      const before = snapshot(held)
      await instance.call(hook, input, output)
      const outcomes = instance.outcomes()
      assert.equal(outcomes.length, hook === "experimental.chat.messages.transform" ? 1 : 0)
      if (outcomes[0] !== "projected") assert.deepStrictEqual(snapshot(held), before)
      else assertOnlyMarked(original, (output as { messages: Message[] }).messages)
      instance.fake.assertNothingWritten()
    }),
    RUNS,
  )
})

function listedIn(output: unknown): Message[] {
  const messages = typeof output === "object" && output !== null ? Reflect.get(output, "messages") : undefined
  return Array.isArray(messages) ? Array.from<Message>(messages) : []
}

/** Message by message the same, but for marks that the original, which nobody wrote into, lacks. */
function assertOnlyMarked(original: Message[], projected: Message[]): void {
  const restored = structuredClone(projected)
  for (const [index, part] of toolParts(restored).entries()) {
    const [marked, time] = [timeOf(part), timeOf(toolParts(original)[index])]
    if (marked && time && !("compacted" in time)) delete marked["compacted"]
  }
  // The clone of an object without prototype has one.
  assert.deepEqual(restored, structuredClone(original))
}

function timeOf(part: Part | undefined): Record<string, unknown> | undefined {
  const state = part?.["state"]
  return isRecord(state) && isRecord(state["time"]) ? state["time"] : undefined
}

test("a catalog may answer anything", async () => {
  const answer = fc.oneof(
    anything,
    fc
      .tuple(fc.array(fc.nat(), { maxLength: 7 }), anything)
      .map(([path, value]) => spoil(structuredClone(catalogWith(NARROW)), path, value)),
  )
  await fc.assert(
    fc.asyncProperty(answer, async (value) => {
      const instance = startInstance({ providers: () => Promise.resolve(value) })
      const messages = longHistory()
      await instance.transform(messages)
      const [outcome] = instance.outcomes()
      assert.ok(outcome === "projected" || outcome === "unavailable-budget", outcome)
      if (outcome !== "projected") assert.deepStrictEqual(messages, longHistory())
    }),
    RUNS,
  )
})

test("whatever happens to the history during the lookup, it is projected whole or left as it is", async () => {
  await fc.assert(
    fc.asyncProperty(histories, spoiled, fc.boolean(), async (messages, later, replace) => {
      const late = answersLate()
      const instance = startInstance({ providers: late.endpoint })
      const output: { messages: unknown } = { messages }
      const request = instance.call("experimental.chat.messages.transform", {}, output)
      if (replace) output.messages = later
      else if (Array.isArray(later)) messages.splice(0, messages.length, ...(later as Message[]))
      const snapshot = createSnapshots()
      const before = snapshot(output)
      if (instance.fake.countOf("config.providers") > 0) late.answer(catalogWith(NARROW))
      await request
      assert.equal(instance.outcomes().length, 1)
      if (instance.outcomes()[0] !== "projected") assert.deepStrictEqual(snapshot(output), before)
    }),
    RUNS,
  )
})
