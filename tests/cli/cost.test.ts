import assert from "node:assert/strict"
import test from "node:test"
import { measurePolicy } from "../../bench/replay/measure.ts"
import { enginePolicy } from "../../bench/replay/engine-policies.ts"
import { followRequests } from "../../lib/cli/follow.ts"
import { traceRequests } from "../../lib/cli/trace.ts"
import { inputCost, measureCosts } from "../../lib/cli/cost.ts"
import { NONE } from "../../bench/replay/policy.ts"
import { readEngineSettings } from "../../bench/replay/settings.ts"
import { generateSessions } from "../../bench/replay/synthetic.ts"
import { finalTokens, readWindows } from "../../bench/replay/window.ts"
import { readHistory } from "../../lib/dtc/wire.ts"
import { bash, read, session, step, tokens, user } from "../helpers/history.ts"

const messages = session(
  user("go"),
  step(read("a", tokens(1_000, "a"))),
  step(read("b", tokens(1_000, "b")), bash("ls", tokens(500))),
  step(read("c", tokens(1_000, "c"))),
)
const history = readHistory(messages)
assert.ok(history)
const [first, second, third] = history.outputs
assert.ok(first && second && third)
const parallelTokens = second.textTokens + third.textTokens
const sizes = history.segments.map(({ tokens: size }) => size)
const [question = 0, one = 0, two = 0, three = 0] = sizes
const none = new Set<typeof first>()

test("without clearing each request reads what the previous one sent and writes the rest", () => {
  const costs = measureCosts(
    history,
    [1, 2, 3, 4].map((segmentEnd) => ({ segmentEnd, cleared: none })),
  )
  assert.deepEqual(costs, [
    { cachedTokens: 0, writtenTokens: question, breaksPrefix: false },
    { cachedTokens: question, writtenTokens: one, breaksPrefix: false },
    { cachedTokens: question + one, writtenTokens: two, breaksPrefix: false },
    { cachedTokens: question + one + two, writtenTokens: three, breaksPrefix: false },
  ])
  const written = question + one + two + three
  const cached = 3 * question + 2 * one + two
  assert.ok(Math.abs(inputCost(costs) - (1.25 * written + 0.1 * cached)) < 1e-6)
})

test("a change is cached up to the first changed output; its step's calls stand before it", () => {
  const cleared = new Set([second])
  const [, , broken, unbroken] = measureCosts(history, [
    { segmentEnd: 1, cleared: none },
    { segmentEnd: 3, cleared: none },
    { segmentEnd: 4, cleared },
    { segmentEnd: 4, cleared },
  ])
  const callTokens = two - parallelTokens
  assert.equal(broken?.breaksPrefix, true)
  assert.equal(broken.cachedTokens, question + one + callTokens)
  assert.equal(broken.cachedTokens + broken.writtenTokens, question + one + two + three - second.savingsTokens)
  assert.deepEqual([unbroken?.breaksPrefix, unbroken?.writtenTokens], [false, 0])
})

test("earlier clears count before the change, and taking one back is a change too", () => {
  const costs = measureCosts(history, [
    { segmentEnd: 4, cleared: new Set([first]) },
    { segmentEnd: 4, cleared: new Set([first, second]) },
    { segmentEnd: 4, cleared: new Set([second]) },
  ])
  assert.deepEqual(
    costs.map(({ breaksPrefix }) => breaksPrefix),
    [false, true, true],
  )
  assert.equal(costs[1]?.cachedTokens, question + one - first.savingsTokens + (two - parallelTokens))
  assert.equal(costs[2]?.cachedTokens, question + (one - first.textTokens))
})

test("an output that is cleared before it was ever sent breaks nothing", () => {
  const costs = measureCosts(history, [
    { segmentEnd: 1, cleared: none },
    { segmentEnd: 2, cleared: new Set([first]) },
  ])
  assert.equal(costs[1]?.breaksPrefix, false)
})

test("the benchmark's replay, which projects every request by itself, finds the same costs", () => {
  const settings = readEngineSettings()
  const policy = { ...settings.base, ...settings.stablePrefix }
  const engine = enginePolicy("ours", "", settings.stablePrefix)
  for (const window of generateSessions()
    .slice(0, 2)
    .flatMap((session_) => readWindows(session_, settings.base))) {
    const targetTokens = Math.floor(finalTokens(window) * 0.5)
    const budgetTokens = Math.ceil(targetTokens / policy.targetRatio)
    const limits = { targetTokens, budgetTokens }
    const replayed = readHistory(window.messages, { estimateMedia: policy.estimateMedia })
    assert.ok(replayed)
    const sent = followRequests(
      replayed,
      traceRequests(window.messages, replayed, { policy, inputBudget: budgetTokens }),
      true,
    )
    const plain = sent.map(({ segmentEnd, hostCleared: cleared }) => ({ segmentEnd, cleared }))
    for (const [requests, expected] of [
      [sent, measurePolicy(window, engine, limits, policy)],
      [plain, measurePolicy(window, NONE, limits, policy)],
    ] as const) {
      const costs = measureCosts(replayed, requests)
      const sum = (field: "cachedTokens" | "writtenTokens"): number => costs.reduce((all, cost) => all + cost[field], 0)
      assert.ok(Math.abs(sum("cachedTokens") - expected.cachedTokens) < 1)
      assert.ok(Math.abs(sum("writtenTokens") - expected.writtenTokens) < 1)
      assert.equal(costs.filter(({ breaksPrefix }) => breaksPrefix).length, expected.prefixBreaks)
    }
  }
})

test("of parallel outputs the first one in their message is where a change begins", () => {
  const costs = measureCosts(history, [
    { segmentEnd: 4, cleared: none },
    { segmentEnd: 4, cleared: new Set([third, second]) },
    { segmentEnd: 4, cleared: new Set([second]) },
  ])
  const callTokens = two - parallelTokens
  assert.equal(costs[1]?.cachedTokens, question + one + callTokens)
  assert.equal(costs[2]?.cachedTokens, question + one + callTokens + second.textTokens - second.savingsTokens)
})

test("before a stored mark is in force, its output counts in full", () => {
  const marked = readHistory(
    session(user("go"), step(read("a", tokens(1_000, "a"), { time: { start: 1, end: 2, compacted: 99_000 } }))),
  )
  assert.ok(marked)
  const [hidden] = marked.outputs
  assert.ok(hidden)
  const costs = measureCosts(marked, [
    { segmentEnd: 2, cleared: none },
    { segmentEnd: 2, cleared: new Set([hidden]) },
  ])
  assert.equal(costs[0]?.writtenTokens, question + one)
  assert.equal((costs[1]?.cachedTokens ?? 0) + (costs[1]?.writtenTokens ?? 0), question + one - hidden.savingsTokens)
})
