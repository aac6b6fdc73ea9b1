import assert from "node:assert/strict"
import test from "node:test"
import type { Message } from "../../lib/dtc/types.ts"
import { DEFAULT_POLICY, read, reportedStep, session, step, text, tokens, user } from "../helpers/history.ts"
import { checkProjection } from "../helpers/laws.ts"

/** Plain data that throws when it is turned into a text or a number. */
const nameless: [what: string, value: unknown][] = [
  ["an object without a prototype", Object.create(null)],
  ["an object whose conversion is no function", { toString: 1, valueOf: 1 }],
  ["a list of such objects", [{ toString: 1, valueOf: 1 }]],
]

const POLICY = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0 }

const places: [where: string, put: (messages: Message[], value: unknown) => void][] = [
  ["a call's id", (messages, value) => Object.assign(messages[1]?.parts[1] ?? {}, { callID: value })],
  ["a part's id", (messages, value) => Object.assign(messages[1]?.parts[1] ?? {}, { id: value })],
  ["a message's id", (messages, value) => messages.map(({ info }) => Object.assign(info, { id: value }))],
  ["a user message's id", (messages, value) => Object.assign(messages[0]?.info ?? {}, { id: value })],
]

for (const [what, value] of nameless) {
  for (const [where, put] of places)
    test(`${what} as ${where} is no name and no obstacle`, () => {
      const messages = session(user("go"), step(read("a.ts", tokens(3_000))), user("next"), step(text("done")))
      const [, , next] = messages
      if (next) next.info["time"] = { created: 1_000 }
      put(messages, value)
      const { cleared } = checkProjection(messages, { inputBudget: 10, policy: POLICY, force: true })
      assert.equal(cleared.length, 0, "the only step with a tool is protected")
      const later = [...messages, ...session(step(read("b.ts", "x")))]
      const [first] = checkProjection(later, { inputBudget: 10, policy: POLICY, force: true }).cleared
      assert.equal(typeof first?.callID, "string")
      assert.equal(typeof first?.partID, "string")
      assert.equal(typeof first?.messageID, "string")
    })

  test(`${what} as a role is of unknown size`, () => {
    const messages = session(user("go"), { role: "odd", parts: [text("x")], info: { role: value } })
    const { stats } = checkProjection(messages, { inputBudget: 10, policy: POLICY, force: true })
    assert.equal(stats.skipped, "unknown-content")
  })

  test(`${what} as a tool's name is no tool that may be cleared`, () => {
    const messages = session(user("go"), step(read("a.ts", tokens(3_000))), step(read("b.ts", "x")))
    Object.assign(messages[1]?.parts[1] ?? {}, { tool: value })
    const { cleared, stats } = checkProjection(messages, { inputBudget: 10, policy: POLICY, force: true })
    assert.deepEqual(cleared, [])
    assert.ok((stats.estimatedBefore ?? 0) > 3_000)
  })
}

for (const [what, counts] of [
  ["a sum without end", { output: Number.MAX_VALUE, cache: { write: Number.MAX_VALUE } }],
  ["more than any model reads", { input: 1e9 + 1 }],
  ["a total without end", { input: 0, total: Number.MAX_VALUE }],
] as const)
  test(`a report that states ${what} is no report, whatever the budget`, () => {
    const messages = session(
      user("go"),
      reportedStep(counts, text("a")),
      reportedStep({ input: 200, output: 0 }, text("b")),
    )
    const policy = { ...POLICY, calibrate: true }
    const { stats } = checkProjection(messages.slice(0, 2), { inputBudget: Number.MAX_VALUE, policy })
    assert.equal(stats.estimateMethod, "base")
    const later = checkProjection(messages, { inputBudget: Number.MAX_VALUE, policy })
    assert.equal(later.stats.estimateMethod, "calibrated")
    assert.ok((later.stats.estimatedAfter ?? Infinity) < 1_000)
  })

test("the largest count is one", () => {
  const messages = session(user("go"), reportedStep({ input: 1e9, output: 1e9 }, text("a")))
  const { stats } = checkProjection(messages, { inputBudget: 1e9, policy: { ...POLICY, calibrate: true } })
  assert.equal(stats.estimateMethod, "calibrated")
})

test("an output in a message of another role is kept, also where a report covers its unknown size", () => {
  for (const role of ["openai", "user"]) {
    const odd = { role, parts: [read("a.ts", tokens(3_000))], info: {} }
    const messages = session(
      user("go"),
      odd,
      reportedStep({ input: 1_900, output: 9 }, read("b.ts", "x")),
      step(read("c.ts", "y")),
    )
    const { cleared } = checkProjection(messages, {
      inputBudget: 1_000,
      force: true,
      policy: { ...POLICY, calibrate: true, stablePrefix: true },
    })
    assert.deepEqual(cleared, [], role)
  }
})
