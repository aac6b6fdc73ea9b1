import assert from "node:assert/strict"
import test from "node:test"
import { readSection } from "../bench/readme.ts"
import {
  describeResults,
  findFalseClaims,
  findProvenBounds,
  isInRange,
  PASSED,
  readClaimedRange,
  readResults,
  type HostResult,
} from "./host/matrix-results.ts"

const results = readResults()
const range = readClaimedRange()

test("the README's table of hosts is what the matrix found", async () => {
  assert.equal(readSection("hosts"), await describeResults(results, range))
})

test("`engines.opencode` covers exactly the versions that work, from the oldest of them on", () => {
  assert.ok(results.length > 0)
  assert.deepEqual(findFalseClaims(results, range), [])
  assert.ok(range.startsWith(`>=${findProvenBounds(results).oldest} `), range)
})

test("a version works when each of its scenarios passed, and every version was put to the same ones", () => {
  const played = results.filter(({ unavailable }) => unavailable === undefined)
  const names = Object.keys(played[0]?.scenarios ?? {})
  assert.ok(names.length > 0)
  for (const { version, works, scenarios } of played) {
    assert.deepEqual(Object.keys(scenarios), names, version)
    assert.equal(
      works,
      Object.values(scenarios).every((outcome) => outcome === PASSED),
      version,
    )
  }
})

test("the results name no folder, address or session of the machine that made them", () => {
  assert.doesNotMatch(JSON.stringify(results), /\/(?:tmp|home|work|root|Users)\/|https?:|\bses_\w/)
})

test("a range is read as semver reads it", () => {
  for (const [version, covered] of [
    ["1.14.33", false],
    ["1.14.34", true],
    ["1.14.100", true],
    ["1.15.0", true],
    ["1.9.99", false],
    ["2.0.0", false],
    ["10.0.0", false],
  ] as const)
    assert.equal(isInRange(version, ">=1.14.34 <2"), covered, version)
  assert.throws(() => isInRange("1.14.34", "^1.14.34"), /not a range/)
})

test("a claim is false when a version in the range fails or one outside of it works", () => {
  const host = (version: string, works: boolean): HostResult => ({ version, works, scenarios: {} })
  assert.deepEqual(findFalseClaims([host("1.14.0", false), host("1.15.0", true)], ">=1.15.0 <2"), [])
  assert.equal(findFalseClaims([host("1.14.0", true)], ">=1.15.0 <2").length, 1)
  assert.equal(findFalseClaims([host("1.16.0", false)], ">=1.15.0 <2").length, 1)
  assert.deepEqual(findFalseClaims([{ ...host("1.16.0", false), unavailable: "gone" }], ">=1.15.0 <2"), [])
})
