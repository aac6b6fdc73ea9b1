import assert from "node:assert/strict"
import test from "node:test"
import { enginePolicy } from "../../bench/replay/engine-policies.ts"
import { replayPolicy } from "../../bench/replay/measure.ts"
import * as others from "../../bench/replay/others.ts"
import type { ClearingPolicy, Limits } from "../../bench/replay/policy.ts"
import { sketchPolicy } from "../../bench/replay/sketch.ts"
import { readWindow } from "../../bench/replay/window.ts"
import type { Policy } from "../../lib/dtc/types.ts"
import { bash, DEFAULT_POLICY, glob, read, session, step, text, tokens, tool, user } from "../helpers/history.ts"

type Draft = ReturnType<typeof user>

/** One protected step and no token minimum, so that small histories can be read at a glance. */
const SMALL: Policy = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0, minimumSavingsTokens: 100 }

/** What each request leaves out, as `0,1`; requests in order. */
function replay(policy: ClearingPolicy, drafts: Draft[], targetTokens: number, budgetTokens = 1e9): string[] {
  const window = readWindow("s", 0, session(user("go"), ...drafts), SMALL)
  const limits: Limits = { targetTokens, budgetTokens }
  return replayPolicy(window, policy, limits, SMALL).map((cleared) => [...cleared].toSorted((a, b) => a - b).join())
}

/** `count` steps that read a file of 1,000 tokens each, all different, and a last answer. */
const reads = (count: number, size = 1_000): Draft[] => [
  ...Array.from({ length: count }, (_step, index) => step(read(`/f${index}`, tokens(size, `f${index}`)))),
  step(text("done")),
]

const sketch = (clearAtLeastRatio: number, depthRatio: number, redundantReliefRatio = 0): ClearingPolicy =>
  sketchPolicy({ clearAtLeastRatio, depthRatio, redundantReliefRatio })

test("re-select clears the oldest of each request until the target is met", () => {
  const budgetTokens = 3_500 / SMALL.targetRatio
  const policy = enginePolicy("re-select", "", {})
  assert.deepEqual(replay(policy, reads(5), 3_500, budgetTokens), ["", "", "", "", "0", "0,1"])
})

test("the sketch goes to the watermark, carries on, and waits for a batch", () => {
  assert.deepEqual(replay(sketch(0.25, 0.25), reads(7), 4_000), ["", "", "", "", "0,1", "0,1", "0,1,2,3", "0,1,2,3"])
  assert.deepEqual(replay(sketch(0.5, 0.5), reads(5), 3_000), ["", "", "", "0,1", "0,1", "0,1,2,3"])
  assert.deepEqual(replay(sketch(0.9, 0.9), reads(4), 2_500), ["", "", "", "", "0,1,2"])
})

test("the sketch clears everything eligible when its depth says so", () => {
  const seen = replay(sketch(0.25, 1), reads(8), 4_000)
  assert.deepEqual(seen, ["", "", "", "", "0,1,2", "0,1,2", "0,1,2", "0,1,2,3,4,5", "0,1,2,3,4,5"])
})

test("a batch that would free too little is made only to come back inside the budget", () => {
  assert.deepEqual(replay(sketch(0.9, 1), reads(3), 2_500), ["", "", "", ""])
  assert.deepEqual(replay(sketch(0.9, 1), reads(3), 2_500, 2_900), ["", "", "", "0,1"])
  assert.deepEqual(replay(sketch(0.9, 1), reads(3), 1_200, 1_050), ["", "", "", "0,1"])
  assert.deepEqual(replay(sketch(0.9, 1), reads(3), 1_200, 1_100), ["", "", "0", "0,1"])
})

test("a rescue may have to free a minimum, and a cold prefix makes any batch", () => {
  const base = { clearAtLeastRatio: 0.9, depthRatio: 1, redundantReliefRatio: 0 }
  const careful = sketchPolicy({ ...base, rescueAtLeastRatio: 0.8 })
  assert.deepEqual(replay(careful, reads(3), 2_500, 2_900), ["", "", "", ""])
  assert.deepEqual(replay(sketchPolicy({ ...base, rescueAtLeastRatio: 0.7 }), reads(3), 2_500, 2_900).at(-1), "0,1")
  const pause = step(text("late"))
  const late = [...reads(3).slice(0, 3), { ...pause, info: { time: { created: 1_000_000 } } }]
  assert.deepEqual(replay(sketchPolicy({ ...base, coldTargetRatio: 0.5 }), late, 4_000), ["", "", "", "0,1"])
  assert.deepEqual(replay(sketchPolicy({ ...base, coldTargetRatio: 1 }), late, 4_000), ["", "", "", ""])
})

const repeated = [
  step(read("/u", tokens(1_000, "u"))),
  step(glob("*", tokens(1_000, "g"))),
  step(glob("*", tokens(1_000, "g"))),
  step(bash("ls", "x")),
  step(text("done")),
]

test("redundant outputs alone are enough when they reach the target and free enough", () => {
  assert.deepEqual(replay(sketch(0.1, 1), repeated, 2_500).at(-1), "1")
  assert.deepEqual(replay(sketch(0.1, 1, 0.5), repeated, 2_500).at(-1), "0,1")
  assert.deepEqual(replay(sketch(0.9, 1, 0.5), repeated, 2_500), ["", "", "", "", "0,1,2"])
})

test("unknown content adds nothing to the carried set and drops nothing", () => {
  const picture = user("look", {}, { type: "file", mime: "image/png", url: "https://example.com/a.png" })
  const drafts = [...reads(4).slice(0, 4), step(text("a")), picture, ...reads(3)]
  assert.deepEqual(replay(sketch(0, 0), drafts, 3_500), ["", "", "", "", "0", "0", "0", "0", "0"])
})

const results = (count: number): Draft[] => [
  ...Array.from({ length: count }, (_step, index) => step(tool("web", { index }, tokens(1_000, `w${index}`)))),
  step(text("done")),
]

test("clear_tool_uses keeps the newest three of any tool, looks at the whole history, and may want a minimum", () => {
  const seen = replay(others.clearToolUses(0), results(6), 4_500)
  assert.deepEqual(seen, ["", "", "", "", "", "0,1", "0,1,2"])
  assert.deepEqual(replay(others.clearToolUses(0.5), results(6), 4_500), ["", "", "", "", "", "", "0,1,2"])
})

test("carried, clear_tool_uses looks at what is left", () => {
  const seen = replay(others.clearToolUsesCarried(0), results(8), 4_500)
  assert.deepEqual(seen, ["", "", "", "", "", "0,1", "0,1", "0,1,2,3", "0,1,2,3"])
  assert.equal(replay(others.clearToolUsesCarried(0.9), results(8), 4_500).at(-1), "0,1,2,3,4")
})

test("the last observations: every request without polling, in lots with it", () => {
  assert.deepEqual(replay(others.lastObservations(2, 1), results(4), 1), ["", "", "", "0", "0,1"])
  const polled = replay(others.lastObservations(2, 3), results(7), 1)
  assert.deepEqual(polled, ["", "", "", "0", "0", "0", "0,1,2,3", "0,1,2,3"])
})

test("the last results over target stay cleared", () => {
  assert.deepEqual(replay(others.lastResultsOverTarget(2), results(5), 3_500), ["", "", "", "", "0,1", "0,1"])
})

test("beyond the newest 50,000 tool tokens in lots of 30,000", () => {
  const drafts = Array.from({ length: 10 }, (_step, index) => step(bash(`ls ${index}`, tokens(10_000, String(index)))))
  const seen = replay(others.LOTS_BEYOND_NEWEST, [...drafts, step(text("done"))], 1)
  assert.deepEqual(seen.slice(8), ["", "", "0,1,2,3"])
})

test("OpenCode's prune runs when a turn has ended, keeps two turns and 40,000 tokens", () => {
  const turns = [
    step(bash("ls 1", tokens(25_000, "1"))),
    step(bash("ls 2", tokens(35_000, "2")), tool("skill", {}, tokens(9_000))),
    step(text("a")),
    user("more"),
    step(text("b")),
    user("and more"),
    step(text("c")),
    user("again"),
    step(text("d")),
  ]
  assert.deepEqual(replay(others.NATIVE_PRUNE, turns, 1), ["", "", "", "", "", "0"])
})
