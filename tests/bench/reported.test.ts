import assert from "node:assert/strict"
import test from "node:test"
import { describeErrors, quantile } from "../../bench/estimate/errors.ts"
import { METHODS } from "../../bench/estimate/methods.ts"
import { ENGINE, predictReports } from "../../bench/estimate/reported.ts"
import { renderFirsts, renderMethods } from "../../bench/estimate/table.ts"
import { DEFAULT_POLICY, MODEL, read, tokens, user } from "../helpers/history.ts"
import { playCourse, type Response } from "../helpers/provider.ts"

const reads = (count: number): Response[] =>
  Array.from({ length: count }, (_, index) => ({ parts: [read(`${index}.ts`, tokens(900 + 40 * index, `f${index}`))] }))

/** A session whose provider counts 1.5 tokens for one of the base estimate, and 10,000 beside the history. */
const { messages } = playCourse({
  drafts: [user("go"), ...reads(20)],
  options: { inputBudget: 1e6, policy: DEFAULT_POLICY, model: MODEL },
  overheadTokens: 10_000,
  realSlope: 1.5,
})
const predictions = predictReports([{ name: "played", messages }])
const errorsOf = (method: string) =>
  describeErrors(predictions.filter(({ isFirst }) => !isFirst)).find((one) => one.method === method)!

test("every reported request is predicted once, the first of a window from its history alone", () => {
  assert.equal(predictions.length, 20)
  const [first, second] = predictions
  assert.equal(first?.isFirst, true)
  assert.equal(predictions.filter(({ isFirst }) => isFirst).length, 1)
  assert.deepEqual(Object.keys(first?.predicted ?? {}).toSorted(), [ENGINE, "history"])
  assert.equal(Object.keys(second?.predicted ?? {}).length, METHODS.length + 1)
})

test("the engine meets an honest provider, the history alone does not", () => {
  const engine = errorsOf(ENGINE)
  assert.equal(engine.requests, 19)
  assert.ok(engine.medianShare < 0.005 && engine.p90Share < 0.03, JSON.stringify(engine))
  assert.ok(errorsOf("history").medianShare > 0.3)
  assert.ok(errorsOf("last").medianShare > engine.medianShare)
})

test("a session without reports predicts nothing", () => {
  const silent = messages.map(({ info, parts }) => ({
    info,
    parts: parts.map((part) => (part.type === "step-finish" ? { ...part, tokens: undefined } : part)),
  }))
  assert.deepEqual(predictReports([{ name: "silent", messages: silent }]), [])
})

test("quantiles are values that occur", () => {
  assert.deepEqual([quantile([3, 1, 2], 0.5), quantile([3, 1, 2], 0.9), quantile([], 0.5)], [2, 3, 0])
})

test("tables name every method and every first request", () => {
  const table = renderMethods("played", describeErrors(predictions))
  for (const { name } of METHODS) assert.ok(table.includes(`\n${name} `), name)
  assert.match(renderFirsts([{ session: "a", reportedTokens: 7, historyTokens: undefined }]), /a +7 +unknown/)
})
