import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { findKeptReason, isEligible } from "../../lib/dtc/eligibility.ts"
import { projectMessages } from "../../lib/dtc/engine.ts"
import type { History, Policy } from "../../lib/dtc/types.ts"
import { readHistory } from "../../lib/dtc/wire.ts"
import { copyMessages } from "../../lib/host2/lowered.ts"
import { readLowered } from "../../lib/host2/wire.ts"
import { policies } from "../helpers/arbitraries.ts"
import { DEFAULT_POLICY, MODEL as FIRST_MODEL, tokens } from "../helpers/history.ts"
import { MODEL } from "./host.ts"
import { project } from "./laws.ts"
import { lowerRows, type HostMessage } from "./lowering.ts"
import {
  bash,
  grep,
  isProvable,
  provableStories,
  read,
  stories,
  toMessages,
  toRows,
  type Call,
  type Story,
} from "./stories.ts"

const parameters = { numRuns: 600, ...(process.env["FUZZ_SEED"] && { seed: Number(process.env["FUZZ_SEED"]) }) }
const budgets = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 9_000 }) },
  { weight: 1, arbitrary: fc.constant(1e9) },
)

const lower = (story: Story): HostMessage[] => lowerRows(toRows(story), MODEL, "2.x")
const readFirst = (story: Story): History => readHistory(toMessages(story), { model: FIRST_MODEL }) as History
const readSecond = (story: Story): History => readLowered(copyMessages(lower(story)) ?? [])

interface Choice {
  callID: string
  reason: string
  witnessCallID?: string | undefined
  requestIndex: number
}

interface Chosen {
  first: Choice[]
  second: Choice[]
}

/** What each host's adapter clears of the same story. */
function chooseOnBoth(story: Story, policy: Policy, inputBudget: number, force: boolean): Chosen {
  const describe = ({ callID, reason, witnessCallID, requestIndex }: Choice): Choice => ({
    callID,
    reason,
    witnessCallID,
    requestIndex,
  })
  const first = projectMessages(toMessages(story), { inputBudget, policy, force, model: FIRST_MODEL })
  return {
    first: first.cleared.map(describe),
    second: project(lower(story), { inputBudget, policy, force }).cleared.map(describe),
  }
}

test("where everything can be proven, both hosts see the same sizes and clear the same for the same reasons", () => {
  let cleared = 0
  fc.assert(
    fc.property(provableStories, policies, budgets, fc.boolean(), (story, policy, inputBudget, force) => {
      const sizesOf = ({ segments }: History): unknown =>
        segments.map(({ kind, tokens: size, sendsTool }) => [kind, size.toFixed(6), sendsTool])
      assert.deepEqual(sizesOf(readSecond(story)), sizesOf(readFirst(story)))
      const { first, second } = chooseOnBoth(story, policy, inputBudget, force)
      assert.deepEqual(second, first)
      cleared += Math.min(1, second.length)
    }),
    parameters,
  )
  assert.ok(cleared > 100, `hardly anything is cleared: ${cleared}`)
})

/**
 * A target is met by what may be cleared: where 2.x must keep an output, it takes another one instead. So the subset is
 * that of what may be cleared, and of what a request clears that takes everything it may.
 */
test("whatever the story, 2.x may clear a subset of what 1.x may", () => {
  const seen = { fewer: 0, cleared: 0 }
  fc.assert(
    fc.property(stories, policies, budgets, (story, anyPolicy, inputBudget) => {
      const policy = { ...anyPolicy, protectRecentTokens: 0 }
      const eligibleIn = ({ outputs }: History): Set<string> =>
        new Set(outputs.filter((output) => isEligible(output, policy)).map(({ callID }) => callID))
      const [first, second] = [eligibleIn(readFirst(story)), eligibleIn(readSecond(story))]
      for (const callID of second) assert.ok(first.has(callID), `only 2.x may clear ${callID}`)
      for (const [callID, call] of callsOf(story))
        if (isProvable(call)) assert.equal(second.has(callID), first.has(callID), `only 1.x may clear ${callID}`)

      // A request whose size is unknown clears nothing more, forced or not.
      if (callsOf(story).some(([, { picture }]) => picture)) return
      const chosen = chooseOnBoth(story, policy, inputBudget, true)
      const clearedFirst = new Set(chosen.first.map(({ callID }) => callID))
      for (const { callID } of chosen.second) assert.ok(clearedFirst.has(callID), `only 2.x clears ${callID}`)
      seen.fewer += second.size < first.size ? 1 : 0
      seen.cleared += Math.min(1, chosen.second.length)
    }),
    parameters,
  )
  for (const [kind, count] of Object.entries(seen))
    assert.ok(count > 30, `the stories hardly reach: ${kind} (${count})`)
})

function callsOf(story: Story): [string, Call][] {
  return story.flatMap((turn, index) =>
    "calls" in turn ? turn.calls.map((call, position): [string, Call] => [`call_${index}_${position}`, call]) : [],
  )
}

const big = tokens(900)
const kept: readonly [what: string, call: Call, first: string | undefined, second: string | undefined][] = [
  ["a file's text", read("a.ts", big), undefined, undefined],
  ["a page that the host cut to its limits", read("a.ts", big, { form: "cut" }), undefined, "loaded-instructions"],
  [
    "a page that brought instructions",
    read("a.ts", big, { loaded: ["/r/AGENTS.md"] }),
    "loaded-instructions",
    "loaded-instructions",
  ],
  ["an instruction file", read("docs/AGENTS.md", big), "instruction-file", "instruction-file"],
  ["matches", grep("a", big), undefined, undefined],
  ["a command that succeeded", bash("ls", big), undefined, undefined],
  ["a command that failed", bash("ls", big, { exit: 2 }), "failed-exit", "failed-exit"],
  ["a success that the host cut to its limits", bash("ls", big, { form: "cut" }), undefined, "unproven-exit"],
  ["a failed call", grep("a", big, { outcome: "failed" }), "not-completed", "not-completed"],
  ["a picture", read("a.png", big, { picture: true }), "attachments", "attachments"],
  ["the provider's own result", grep("a", big, { byProvider: true }), "provider-executed", "provider-executed"],
  ["another tool", { tool: "edit", input: {}, said: big }, "other-tool", "other-tool"],
]
for (const [what, call, first, second] of kept)
  test(`${what}: ${first ?? "may be cleared"} on 1.x, ${second ?? "may be cleared"} on 2.x`, () => {
    const reasonIn = ({ outputs: [output] }: History): string | undefined =>
      output && findKeptReason(output, DEFAULT_POLICY)
    assert.equal(reasonIn(readFirst([{ calls: [call] }])), first)
    assert.equal(reasonIn(readSecond([{ calls: [call] }])), second)
  })

test("a running call has a result on 1.x only", () => {
  const story: Story = [{ calls: [bash("ls", "", { outcome: "running" })] }]
  assert.equal(readFirst(story).outputs.length, 1)
  assert.deepEqual(readSecond(story).outputs, [])
})
