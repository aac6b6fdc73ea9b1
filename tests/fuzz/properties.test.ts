import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { PROPERTIES, type Seen } from "./properties.ts"

/** A few thousand cases in all; `npm run fuzz` goes on. */
const RUNS: Readonly<Record<string, number>> = {
  histories: 400,
  "full-histories": 25,
  "growing-histories": 300,
  "hostile-histories": 600,
  configurations: 200,
  catalogs: 600,
}
const SEED = process.env["FUZZ_SEED"]

for (const { name, isHistory, create } of PROPERTIES)
  test(`${name}: what must hold holds over ${RUNS[name]} generated cases`, async () => {
    const seen: Seen = { messages: 0, parts: 0, cleared: 0, unknown: 0 }
    await fc.assert(create(seen), { numRuns: RUNS[name] ?? 0, ...(SEED && { seed: Number(SEED) }) })
    if (isHistory) assert.ok(seen.messages > 300, `${seen.messages} messages`)
    if (name === "hostile-histories") assert.equal(seen.cleared, 0)
    else if (isHistory) assert.ok(seen.cleared > 5, `${seen.cleared} histories with a clear`)
    if (name === "histories") assert.ok(seen.unknown > 10, `${seen.unknown} of unknown size`)
  })

test("the shares are whole, and a tenth of the histories is generated at full size", () => {
  const sum = (counted: (property: (typeof PROPERTIES)[number]) => boolean): number =>
    PROPERTIES.filter(counted).reduce((total, { share }) => total + share, 0)
  assert.ok(Math.abs(sum(() => true) - 1) < 1e-9)
  assert.ok(sum(({ isFull }) => isFull) >= 0.1 * sum(({ isHistory }) => isHistory))
  assert.deepEqual(PROPERTIES.map(({ name }) => name).toSorted(), Object.keys(RUNS).toSorted())
})
