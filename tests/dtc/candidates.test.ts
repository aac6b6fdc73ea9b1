import assert from "node:assert/strict"
import test from "node:test"
import { Candidates } from "../../lib/dtc/candidates.ts"
import { readHistory } from "../../lib/dtc/wire.ts"
import { bash, DEFAULT_POLICY, read, session, step, tokens, user } from "../helpers/history.ts"

const SAVED_TOKENS = 1_000 - "[Old tool result content cleared]".length / 4

/** Five reads in the segments 1 to 5, the third of them too small to be cleared. */
function fiveReads() {
  const sizes = [1_000, 1_000, 10, 1_000, 1_000]
  const steps = sizes.map((size, index) => step(read(`${index}`, tokens(size, `${index}`))))
  const outputs = readHistory(session(user("go"), ...steps))?.outputs ?? []
  const candidates = new Candidates(outputs, DEFAULT_POLICY)
  for (const output of outputs) candidates.add(output)
  return { candidates, outputs }
}

function named(candidates: Candidates): string {
  return candidates
    .describe("aged")
    .map(({ output }) => output.segment)
    .join(" ")
}

test("the edge of the recent steps decides, forwards and back, and the order stays", () => {
  const { candidates } = fiveReads()
  const moves: [edge: number, expected: string][] = [
    [0, ""],
    [2, "1"],
    [5, "1 2 4"],
    [6, "1 2 4 5"],
    [2, "1"],
    [1, ""],
    [6, "1 2 4 5"],
    [3, "1 2"],
    [5, "1 2 4"],
  ]
  for (const [edge, expected] of moves) {
    candidates.followEdge(edge)
    assert.equal(named(candidates), expected, `edge ${edge}`)
    assert.equal(candidates.tokens, expected.split(" ").filter(Boolean).length * SAVED_TOKENS)
  }
})

test("what is cleared or hidden is no candidate any more, wherever the edge goes", () => {
  const { candidates, outputs } = fiveReads()
  const [first, second, , , last] = outputs
  assert.ok(first && second && last)
  candidates.followEdge(5)
  candidates.remove(first)
  candidates.remove(first)
  assert.deepEqual([named(candidates), candidates.tokens], ["2 4", 2 * SAVED_TOKENS])
  candidates.hide(second)
  candidates.hide(last)
  assert.deepEqual([named(candidates), candidates.tokens], ["4", SAVED_TOKENS])
  candidates.followEdge(0)
  candidates.followEdge(6)
  assert.deepEqual([named(candidates), candidates.tokens], ["4", SAVED_TOKENS])
})

test("the witness is the latest copy that no mark hides; what has none is told by the given reason", () => {
  const copies = ["same", "same", "same", "same"].map((name) => step(read(name, tokens(1_000, name))))
  const outputs = readHistory(session(user("go"), ...copies, step(bash("ls", "x"))))?.outputs ?? []
  const candidates = new Candidates(outputs, DEFAULT_POLICY)
  for (const output of outputs) candidates.add(output)
  candidates.followEdge(5)
  const witnesses = () => candidates.describe("forced").map(({ witness }) => witness?.segment)
  assert.deepEqual(witnesses(), [4, 4, 4, undefined])
  for (const hidden of outputs.slice(2, 4)) candidates.hide(hidden)
  assert.deepEqual(witnesses(), [2, undefined])
  assert.deepEqual(
    candidates.describe("forced").map(({ reason }) => reason),
    ["redundant", "forced"],
  )
})
