import assert from "node:assert/strict"
import test from "node:test"
import { RecentSteps } from "../../lib/dtc/steps.ts"
import { DEFAULT_POLICY } from "../helpers/history.ts"

const STEP = {
  kind: "step",
  tokens: 0,
  unknownSize: false,
  sendsTool: true,
  writtenTokens: 0,
  reminderTokens: 0,
  asksToClear: false,
} as const

function recentAfter(protectRecentSteps: number, protectRecentTokens: number, sizes: readonly number[]): RecentSteps {
  const recent = new RecentSteps({ ...DEFAULT_POLICY, protectRecentSteps, protectRecentTokens })
  for (const tokens of sizes) recent.append(STEP, tokens)
  return recent
}

const rows: [name: string, steps: number, tokens: number, sizes: number[], fromSegment: number][] = [
  ["just so many steps", 2, 0, [500, 500, 500, 500], 2],
  ["just so many tokens", 1, 1_000, [500, 500, 500, 500], 2],
  ["a token more takes a whole step more", 1, 1_001, [500, 500, 500, 500], 1],
  ["everything, where that is less", 9, 9_000, [500, 500], 0],
  ["nothing yet", 1, 0, [], 0],
]
for (const [name, steps, tokens, sizes, fromSegment] of rows)
  test(`recent: ${name}`, () => {
    const recent = recentAfter(steps, tokens, sizes)
    assert.deepEqual([recent.fromSegment, recent.toolSteps], [fromSegment, sizes.length - fromSegment])
  })

test("what a step sends less, older steps make up for, as long as there are some", () => {
  const recent = recentAfter(1, 1_000, [500, 500, 500, 500])
  recent.shrink(0, 400)
  assert.equal(recent.fromSegment, 2, "an old step is not counted")
  recent.shrink(3, 1)
  assert.deepEqual([recent.fromSegment, recent.toolSteps], [1, 3])
  recent.shrink(2, 499)
  assert.equal(recent.fromSegment, 1, "500, 1 and 499 are enough")
  recent.shrink(1, 500)
  assert.deepEqual([recent.fromSegment, recent.toolSteps], [0, 4])
})
