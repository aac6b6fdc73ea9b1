import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { format } from "prettier"
import { compareVersions } from "./host-binary.ts"

const RESULTS = new URL("results/matrix.json", import.meta.url)
const MANIFEST = new URL("../../package.json", import.meta.url)

export const PASSED = "ok"

export interface HostResult {
  version: string
  /** Every scenario passed. */
  works: boolean
  /** By scenario: `ok`, or in one line why not. Empty when the version could not be had. */
  scenarios: Record<string, string>
  /** Why npm did not deliver it; nothing is known about the version then. */
  unavailable?: string
}

export const readResults = (): HostResult[] =>
  existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, "utf8")) as HostResult[]) : []

export const writeResults = (results: readonly HostResult[]): void =>
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)

export const readClaimedRange = (): string =>
  (JSON.parse(readFileSync(MANIFEST, "utf8")) as { engines: { opencode: string } }).engines.opencode

/** `>=A <B`, the one form in which this package states a range. */
export function isInRange(version: string, range: string): boolean {
  const [, from, before] = /^>=(\S+) <(\S+)$/.exec(range) ?? []
  if (from === undefined || before === undefined) throw new Error(`not a range of the form ">=A <B": ${range}`)
  return compareVersions(version, from) >= 0 && compareVersions(version, before) < 0
}

/** The range covers every version that works and no other; versions that could not be had say nothing. */
export function findFalseClaims(results: readonly HostResult[], range: string): string[] {
  return results.flatMap(({ version, works, unavailable }) => {
    if (unavailable !== undefined || works === isInRange(version, range)) return []
    return [works ? `${version} works and is not in ${range}` : `${version} is in ${range} and does not work`]
  })
}

export const oldestFirst = (results: readonly HostResult[]): HostResult[] =>
  results.toSorted((left, right) => compareVersions(left.version, right.version))

/** Oldest and newest of the versions that work. */
export function findProvenBounds(results: readonly HostResult[]): { oldest: string; newest: string } {
  const working = oldestFirst(results).filter(({ works }) => works)
  const [oldest, newest] = [working[0]?.version, working.at(-1)?.version]
  if (oldest === undefined || newest === undefined) throw new Error("no version is proven to work")
  return { oldest, newest }
}

/** The README's section. */
export async function describeResults(results: readonly HostResult[], range: string): Promise<string> {
  const rows = oldestFirst(results).map((result) => `| ${result.version} | ${describeResult(result)} |`)
  const scenarios = [...new Set(results.flatMap((result) => Object.keys(result.scenarios)))]
  const text = [
    `OpenCode \`${range}\`. \`npm run test:host:matrix\` drives released hosts on Linux and writes this table; a version works`,
    `when all of this holds on it: ${scenarios.join("; ")}.`,
    "",
    "| OpenCode | works |",
    "| --- | --- |",
    ...rows,
    "",
    "Versions between these are covered by the range and not proven one by one. The engine by itself needs Node 20.",
  ].join("\n")
  return (await format(text, { parser: "markdown", printWidth: 120, proseWrap: "always" })).trim()
}

function describeResult({ works, scenarios, unavailable }: HostResult): string {
  if (unavailable !== undefined) return `not available: ${unavailable}`
  if (works) return "yes"
  const [name, reason] = Object.entries(scenarios).find(([, outcome]) => outcome !== PASSED) ?? []
  return `no: ${name}: ${reason}`.replaceAll("|", "\\|")
}
