import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import test from "node:test"
import { describeBundling } from "./stryker.ts"
import { readVerdicts } from "./verdicts.ts"

/** As Stryker instruments it: one mutant is active at most, the others count that their code ran. */
const ENGINE = `
  const own = (globalThis.__stryker__ ??= {})
  own.activeMutant ??= process.env.__STRYKER_ACTIVE_MUTANT__
  function isActive(id) {
    if (own.activeMutant === id) {
      if (++own.hitCount > own.hitLimit) throw new Error("Hit count limit reached")
      return true
    }
    const { static: atLoading, perTest } = (own.mutantCoverage ??= { static: {}, perTest: {} })
    const counts = own.currentTestId ? (perTest[own.currentTestId] ??= {}) : atLoading
    counts[id] = (counts[id] ?? 0) + 1
    return false
  }
  export const START = isActive("loading") ? 1 : 0
  export function sum(numbers) {
    let total = START
    for (let index = 0; index < numbers.length; isActive("endless") ? index : index++)
      total = isActive("wrong") ? total - numbers[index] : isActive("equivalent") ? numbers[index] + total : total + numbers[index]
    return total
  }
  export const unmet = () => isActive("unmet")`
const TESTS = `
  import assert from "node:assert/strict"
  import test from "node:test"
  import { sum } from "../../lib/dtc/sum.ts"
  test("the sum of nothing", () => assert.equal(sum([]), 0))
  test("the sum of two", async () => assert.equal(sum([1, 2]), process.env.BROKEN ? 4 : 3))`

test("each mutant meets the tests: wrong and endless ones are found, equivalent and unmet ones survive", (t) => {
  const root = mkdtempSync(path.join(tmpdir(), "dcp-trial-"))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ["tests/dtc", "lib/dtc"]) mkdirSync(path.join(root, folder), { recursive: true })
  cpSync(import.meta.dirname, path.join(root, "tests/mutants"), { recursive: true })
  writeFileSync(path.join(root, "lib/dtc/sum.ts"), ENGINE)
  writeFileSync(path.join(root, "tests/dtc/sum.test.ts"), TESTS)
  const [esbuild = "", ...bundling] = describeBundling()
  const bundled = spawnSync(esbuild, bundling, { cwd: root, encoding: "utf8" })
  assert.equal(bundled.status, 0, bundled.stderr)
  const run = (mutant?: string, more = {}): number | null => {
    const env = { ...process.env, ...more, MUTANTS_ROOM: root, MUTANTS_FILE: "sum", __STRYKER_ACTIVE_MUTANT__: mutant }
    return spawnSync(process.execPath, ["trial.cjs"], { cwd: root, env }).status
  }
  assert.equal(run(undefined, { BROKEN: "yes" }), 1, "without a mutant every test has to pass")
  assert.equal(run(), 0, "without a mutant every test passes")
  const expected: [mutant: string, status: number, outcome: string, test?: string][] = [
    ["wrong", 1, "killed", "sum: the sum of two"],
    ["endless", 1, "timeout", "sum: the sum of two"],
    ["loading", 1, "killed", "sum: the sum of two"],
    ["equivalent", 0, "survived"],
    ["unmet", 0, "survived"],
  ]
  for (const [mutant, status, outcome, failing] of expected) {
    assert.equal(run(mutant), status, mutant)
    const verdict = readVerdicts(path.join(root, "verdicts.jsonl")).get(mutant)
    assert.deepEqual([verdict?.outcome, verdict?.test], [outcome, failing])
  }
  writeFileSync(path.join(root, "tests.json"), "")
  assert.equal(run("wrong"), 1, "a verdict stands")
  assert.equal(run("equivalent"), 0, "a verdict stands")
  assert.equal(readFileSync(path.join(root, "verdicts.jsonl"), "utf8").split("\n").length, expected.length + 1)
})
