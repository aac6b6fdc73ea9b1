/** The core scenarios on released hosts: `npm run test:host:matrix [VERSIONS…]`. */
import { readSection, writeSection } from "../../bench/readme.ts"
import type { Home } from "./home.ts"
import { findLatestVersion, findPlatformPackage, Unavailable, withHostBinary } from "./matrix-package.ts"
import { findConfigRefusal } from "./matrix-refusal.ts"
import {
  describeResults,
  findFalseClaims,
  oldestFirst,
  PASSED,
  readClaimedRange,
  readResults,
  writeResults,
  type HostResult,
} from "./matrix-results.ts"
import { MATRIX_SCENARIOS, MATRIX_SETUP } from "./matrix-scenarios.ts"
import { playScenario, type Scenario } from "./scenario.ts"

/** The newest of the lines that npm delivers, and one that is too old: it shows where the range begins. */
const VERSIONS = ["1.3.2", "1.14.34", "1.15.13", "1.17.18", "1.18.10", "1.18.33"]

const chosen = process.argv.slice(2)
const packageName = await findPlatformPackage()
const fresh: HostResult[] = []
for (const version of chosen.length > 0 ? chosen : await listDefaultVersions()) {
  const result = await tryVersion(packageName, version)
  console.log(describeForTerminal(result))
  fresh.push(result)
}

const range = readClaimedRange()
const results = oldestFirst([...keepOthers(fresh), ...fresh])
writeResults(results)
writeSection("hosts", await describeResults(results, range))
console.log(`\n${readSection("hosts")}\n`)

const falseClaims = findFalseClaims(results, range)
for (const claim of falseClaims) console.error(claim)
if (falseClaims.length > 0 || fresh.every(({ unavailable }) => unavailable !== undefined)) process.exitCode = 1

async function listDefaultVersions(): Promise<string[]> {
  const latest = await findLatestVersion()
  if (latest === undefined) console.log("npm does not say which version is the latest")
  return latest === undefined || VERSIONS.includes(latest) ? VERSIONS : [...VERSIONS, latest]
}

/** A run of chosen versions leaves what is known of the others. */
function keepOthers(played: readonly HostResult[]): HostResult[] {
  if (chosen.length === 0) return []
  return readResults().filter(({ version }) => played.every((one) => one.version !== version))
}

async function tryVersion(name: string, version: string): Promise<HostResult> {
  try {
    const scenarios = await withHostBinary(name, version, async (file) => playAll(version, file))
    return { version, works: Object.values(scenarios).every((outcome) => outcome === PASSED), scenarios }
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    return { version, works: false, scenarios: {}, unavailable: error.message }
  }
}

/** Goes on after a failure; a host that does not start fails what it did not come to. */
async function playAll(version: string, file: string): Promise<Record<string, string>> {
  const names = Object.keys(MATRIX_SCENARIOS)
  const outcomes = new Map<string, string>()
  const binary = { file, supported: { from: version, before: "999.0.0" } }
  try {
    await playScenario({ ...MATRIX_SETUP, binary }, async (scenario) => {
      for (const [name, play] of Object.entries(MATRIX_SCENARIOS)) {
        scenario.model.clearScript("main")
        outcomes.set(name, await findOutcome(scenario, play))
      }
    })
  } catch (error) {
    const reason = (await findConfigRefusal(file, version)) ?? describeReason(error)
    for (const name of names) if (!outcomes.has(name)) outcomes.set(name, reason)
  }
  return Object.fromEntries(outcomes)
}

async function findOutcome(scenario: Scenario, play: (scenario: Scenario) => Promise<void>): Promise<string> {
  try {
    await play(scenario)
    return PASSED
  } catch (error) {
    return describeReason(error, scenario.home)
  }
}

/** One line that is the same on every machine and in every run. */
function describeReason(error: unknown, home?: Home): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n")
  return line
    .replaceAll(home?.root ?? "\0", "HOME")
    .replaceAll(/\/\S*opencode-dcp-\S*/g, "HOME")
    .replaceAll(/https?:\/\/\S+/g, "URL")
    .replaceAll(/\bses_\w+/g, "SESSION")
    .replace(/^request \d+: /, "")
    .slice(0, 200)
}

function describeForTerminal({ version, scenarios, works, unavailable }: HostResult): string {
  const lines = Object.entries(scenarios).map(
    ([name, outcome]) => `  ${outcome === PASSED ? "✔" : "✖"} ${name}${outcome === PASSED ? "" : `: ${outcome}`}`,
  )
  return [
    `${version} ${unavailable === undefined ? (works ? "works" : "does not work") : `not available: ${unavailable}`}`,
    ...lines,
  ].join("\n")
}
