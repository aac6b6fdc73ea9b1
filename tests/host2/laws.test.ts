import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { DEFAULT_POLICY, tokens } from "../helpers/history.ts"
import { policies } from "../helpers/arbitraries.ts"
import { MODEL } from "./host.ts"
import { checkLowered, project } from "./laws.ts"
import { HostMessage, lowerRows } from "./lowering.ts"
import { read, stories, toRows, type Story } from "./stories.ts"

/** fast-check prints the seed and the shrunk counterexample of a failure; `FUZZ_SEED` runs it again. */
const parameters = { numRuns: 800, ...(process.env["FUZZ_SEED"] && { seed: Number(process.env["FUZZ_SEED"]) }) }

const lower = (story: Story): HostMessage[] => lowerRows(toRows(story), MODEL, "2.x")
const budgets = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 9_000 }) },
  { weight: 1, arbitrary: fc.constant(1e9) },
)

test("the laws hold for lowered messages", () => {
  const seen = { cleared: 0, redundant: 0, untouched: 0 }
  fc.assert(
    fc.property(stories, policies, budgets, fc.boolean(), (story, policy, inputBudget, force) => {
      const { cleared } = checkLowered(lower(story), { inputBudget, policy, force })
      seen.cleared += Math.min(1, cleared.length)
      seen.redundant += cleared.some(({ reason }) => reason === "redundant") ? 1 : 0
      seen.untouched += cleared.length === 0 ? 1 : 0
    }),
    parameters,
  )
  for (const [kind, count] of Object.entries(seen))
    assert.ok(count > 20, `the generator hardly reaches: ${kind} (${count})`)
})

test("law 7: from request to request of a growing session nothing is un-cleared", () => {
  let grown = 0
  fc.assert(
    fc.property(stories, policies, budgets, (story, policy, inputBudget) => {
      const options = { inputBudget, policy: { ...policy, stablePrefix: true } }
      let carried: string[] = []
      for (const end of requestEnds(story)) {
        const cleared = project(lower(story.slice(0, end)), options).cleared.map(({ callID }) => callID)
        assert.deepEqual(cleared.slice(0, carried.length), carried)
        grown += carried.length > 0 && cleared.length > carried.length ? 1 : 0
        carried = cleared
      }
    }),
    parameters,
  )
  assert.ok(grown > 20, `hardly a session clears twice: ${grown}`)
})

test("several results of one message are cleared together", () => {
  const policy = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0 }
  const calls = ["a.ts", "b.ts", "c.ts"].map((path) => read(path, tokens(600, path)))
  const [user, step, first, second, third, ...rest] = lower([{ user: "go" }, { calls }, { calls: [read("d.ts", "d")] }])
  assert.ok(user && step && first && second && third)
  const content = [first, second, third].flatMap((message) => message.content)
  const { messages } = checkLowered([user, step, new HostMessage({ role: "tool", content }), ...rest], {
    inputBudget: 1_000,
    policy,
  })
  assert.equal(JSON.stringify(messages[2]).split("content cleared").length, 4)
})

/** A request is made before each response, and one after the last turn. */
function requestEnds(story: Story): number[] {
  return [...story.flatMap((turn, index) => ("calls" in turn ? [index] : [])), story.length]
}

test("law 4: protection outlasts force, and a calm request stays as it is", () => {
  const policy = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0 }
  const story: Story = [
    { user: "go" },
    { calls: [read("a.ts", tokens(600, "a"))] },
    { calls: [read("b.ts", tokens(600, "b"))] },
  ]
  const calm = checkLowered(lower(story), { inputBudget: 100_000, policy })
  assert.deepEqual(calm.cleared, [])
  const forced = checkLowered(lower(story), { inputBudget: 100_000, policy, force: true })
  assert.deepEqual(
    forced.cleared.map(({ callID, reason, requestIndex }) => [callID, reason, requestIndex]),
    [["call_1_0", "forced", 2]],
  )
})
