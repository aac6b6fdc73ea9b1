import assert from "node:assert/strict"
import test from "node:test"
import { projectMessages } from "../../lib/dtc/engine.ts"
import type { Policy, ProjectOptions } from "../../lib/dtc/types.ts"
import { DEFAULT_POLICY, session, user } from "../helpers/history.ts"

const invalid: Record<keyof Policy, unknown[]> = {
  protectRecentSteps: [0, -1, 1.5, Number.NaN, "4", undefined, null, 2 ** 53],
  protectRecentTokens: [-1, 0.5, Number.POSITIVE_INFINITY, "0", undefined],
  targetRatio: [0, -0.1, 1.01, Number.NaN, "0.7", undefined],
  minimumSavingsTokens: [0, -5, 1.5, undefined],
  protectedTools: [undefined, "bash", [1], null],
  stablePrefix: ["yes", 1, null],
  clearAtLeastRatio: [-0.1, 1, Number.NaN, "0.3", null],
  estimateMedia: ["yes", 0, null],
  calibrate: ["yes", 0, null],
}
/** What the message asks for. */
const expected: Record<keyof Policy, string> = {
  protectRecentSteps: "an integer from 1",
  protectRecentTokens: "an integer from 0",
  targetRatio: "a number above 0, at most 1",
  minimumSavingsTokens: "an integer from 1",
  protectedTools: "a list of tool names",
  stablePrefix: "true or false",
  clearAtLeastRatio: "a number from 0, below 1",
  estimateMedia: "true or false",
  calibrate: "true or false",
}
const valid: Record<keyof Policy, unknown[]> = {
  protectRecentSteps: [1, 1_000],
  protectRecentTokens: [0, 1e9],
  targetRatio: [Number.MIN_VALUE, 1],
  minimumSavingsTokens: [1, 1e9],
  protectedTools: [[], ["a", "a"]],
  stablePrefix: [true, false, undefined],
  clearAtLeastRatio: [0, 0.99, undefined],
  estimateMedia: [true, false, undefined],
  calibrate: [true, false, undefined],
}

const run = (options: Partial<ProjectOptions>) =>
  projectMessages(session(user("x")), { inputBudget: 1_000, policy: DEFAULT_POLICY, ...options })

for (const [field, values] of Object.entries(invalid))
  for (const value of values)
    test(`invalid ${field}: ${JSON.stringify(value)} is named in a TypeError`, () => {
      const message = `Expected \`policy.${field}\` to be ${expected[field as keyof Policy]}`
      assert.throws(() => run({ policy: { ...DEFAULT_POLICY, [field]: value } }), { name: "TypeError", message })
    })

for (const [field, values] of Object.entries(valid))
  for (const value of values)
    test(`valid ${field}: ${JSON.stringify(value)}`, () => {
      assert.equal(run({ policy: { ...DEFAULT_POLICY, [field]: value } }).stats.skipped, undefined)
    })

for (const now of [0, -1, 1.5, Number.NaN, 2 ** 53, "1"])
  test(`invalid now: ${now}`, () => {
    assert.throws(() => run({ now: now as number }), {
      name: "TypeError",
      message: "Expected `now` to be a positive safe integer",
    })
  })

test("missing options and a missing policy are named", () => {
  const refused = (options: unknown, message: string) =>
    assert.throws(() => projectMessages([], options as never), { name: "TypeError", message })
  refused(undefined, "Expected `options` to be an object")
  refused({ inputBudget: 1 }, "Expected `policy` to be an object")
})

test("the engine has no defaults: an incomplete policy is refused", () => {
  assert.throws(() => run({ policy: {} as Policy }), TypeError)
})
