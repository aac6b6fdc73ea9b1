import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { projectMessages } from "../../lib/dtc/engine.ts"
import { histories, projectOptions } from "../helpers/arbitraries.ts"
import { DEFAULT_POLICY } from "../helpers/history.ts"
import { checkProjection } from "../helpers/laws.ts"

/** fast-check prints the seed and the shrunk counterexample of a failure; `FUZZ_SEED` runs it again. */
const { FUZZ_SEED: seed, LAW_RUNS: numRuns = 1_500 } = process.env
const parameters = { numRuns: Number(numRuns), ...(seed && { seed: Number(seed) }) }

test("the laws hold over generated histories", () => {
  const seen = { cleared: 0, redundant: 0, unknown: 0, untouched: 0, clearedBesideMedia: 0 }
  fc.assert(
    fc.property(histories, projectOptions, (messages, options) => {
      const { stats } = checkProjection(messages, options)
      seen.cleared += Math.min(1, stats.foldedTools)
      seen.redundant += Math.min(1, stats.redundantTools)
      seen.unknown += stats.skipped === "unknown-content" ? 1 : 0
      seen.untouched += stats.foldedTools === 0 ? 1 : 0
      const hasMedia = JSON.stringify(messages).includes(";base64,")
      seen.clearedBesideMedia += hasMedia && stats.foldedTools > 0 ? 1 : 0
    }),
    parameters,
  )
  for (const [kind, count] of Object.entries(seen))
    assert.ok(count > parameters.numRuns / 75, `the generator hardly reaches: ${kind} (${count})`)
})

test("any JSON in place of the history: no throw, nothing cleared without reason", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (value) => {
      const { messages } = projectMessages(value as never, { inputBudget: 1, policy: DEFAULT_POLICY, force: true })
      assert.deepStrictEqual(messages, value)
    }),
    parameters,
  )
})
