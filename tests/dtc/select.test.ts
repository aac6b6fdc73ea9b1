import assert from "node:assert/strict"
import test from "node:test"
import { mayFree, planBatch, type Pressure, type Selection } from "../../lib/dtc/select.ts"
import type { ToolOutput } from "../../lib/dtc/types.ts"

/** `r` is redundant, `a` aged; the number is what it saves. */
const candidate = (name: string): Selection => ({
  output: { savingsTokens: Number(name.slice(1)), partID: name } as ToolOutput,
  reason: name.startsWith("r") ? "redundant" : "aged",
})

/** Each at the figure where the answer turns; excess, overflow and least in tokens. */
const rows: [name: string, candidates: string, pressure: [number, number, number], chosen: string][] = [
  ["redundant ones that just suffice go alone", "a100 r100 a200", [100, -1, 60], "r100"],
  ["one token short of that, a batch takes others too", "a100 r100 a200", [101, -1, 60], "r100 a100"],
  ["a sixth of the least is worth a first change alone", "r100 a900", [100, -1, 600], "r100"],
  ["less than a sixth is not", "r100 a900", [100, -1, 606], "r100 a900"],
  ["a first change by redundant ones is no deeper than it has to be", "r100 r100 r100", [100, -1, 60], "r100"],
  ["a batch that just frees the least", "a200", [100, -1, 200], "a200"],
  ["a batch that frees less waits", "a199", [100, -1, 200], ""],
  ["what fills the budget to the last token is inside it, so the batch waits", "a100", [50, 0, 200], ""],
  ["a batch that just brings the request inside the budget", "a100", [150, 100, 200], "a100"],
  ["one that leaves a token outside", "a100", [150, 101, 200], ""],
  ["nothing more once the target is reached", "a100 a100", [100, -1, 0], "a100"],
  ["one more for one token", "a100 a100 a100", [101, -1, 0], "a100 a100"],
  ["half the least again below the target", "a100 a100 a100 a100", [100, -1, 100], "a100 a100 a100"],
  ["nothing to choose from", "", [100, 100, 0], ""],
]
for (const [name, candidates, [excessTokens, overflowTokens, leastTokens], chosen] of rows)
  test(`a batch: ${name}`, () => {
    assert.equal(planned(candidates, { excessTokens, overflowTokens, leastTokens, isFirst: true }), chosen)
  })

/** After the first clear of a window. */
const laterRows: typeof rows = [
  ["redundant ones that free the least go alone", "r100 a900", [50, -1, 100], "r100"],
  ["one token short of the least, a batch takes others too", "r100 a900", [50, -1, 101], "r100 a900"],
  ["redundant ones go as deep as any batch", "r100 r100 r100 r100", [100, -1, 100], "r100 r100 r100"],
  ["redundant ones that free less wait with the others", "r100 a50", [50, -1, 160], ""],
]
for (const [name, candidates, [excessTokens, overflowTokens, leastTokens], chosen] of laterRows)
  test(`a later batch: ${name}`, () => {
    assert.equal(planned(candidates, { excessTokens, overflowTokens, leastTokens, isFirst: false }), chosen)
  })

function planned(candidates: string, pressure: Pressure): string {
  const batch = planBatch(candidates.split(" ").filter(Boolean).map(candidate), pressure)
  return batch.map(({ output }) => output.partID).join(" ")
}

/** Each at the figure where the answer turns; all candidates' tokens, then excess, overflow and least, and whether it is the first. */
const possible: [name: string, tokens: number, pressure: [number, number, number], may: boolean, isFirst?: boolean][] =
  [
    ["what would do as a first change", 100, [100, -1, 600], false, false],
    ["the least, later", 600, [100, -1, 600], true, false],
    ["what just suffices, were it redundant", 100, [100, -1, 600], true],
    ["what a token is missing to", 99, [100, -1, 600], false],
    ["what suffices, but is not worth a change even if redundant", 100, [100, -1, 606], false],
    ["the least of a batch", 200, [900, -1, 200], true],
    ["less than that", 199, [900, -1, 200], false],
    ["what just brings the request inside the budget", 100, [900, 100, 200], true],
    ["what leaves a token outside", 100, [900, 101, 200], false],
    ["little, with the budget filled to the last token", 100, [900, 0, 200], false],
  ]
for (const [name, tokens, [excessTokens, overflowTokens, leastTokens], may, isFirst = true] of possible)
  test(`${may ? "may" : "cannot"} make a batch: ${name}`, () => {
    assert.equal(mayFree(tokens, { excessTokens, overflowTokens, leastTokens, isFirst }), may)
  })
