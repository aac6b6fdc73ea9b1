/**
 * `npm run bench:upstream`: what a plugin adds to the steps of the real host, beside the upstream plugin from npm and beside
 * none. Each plugin runs with its own defaults, inside a wrapper that times its hooks, against the same scripted model.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { chooseHostBinary } from "../tests/host/host-binary.ts"
import { Home } from "../tests/host/home.ts"
import { median, round } from "./project/figures.ts"
import { CONTESTANTS, installContestants } from "./upstream/contestants.ts"
import { measureExisting } from "./upstream/existing.ts"
import { describeCost, medianBetween, type Measurements, type UpstreamFigures } from "./upstream/figures.ts"
import { measureSteps, STEPS } from "./upstream/steps.ts"
import { describeUpstream } from "./upstream/table.ts"

const ROUNDS = Number(process.argv[2] ?? 3)
const EXISTING_MESSAGES = [530, 2_120]
const AIM_MS = 5
const RESULT_FILE = new URL("results/upstream.json", import.meta.url)

const home = await Home.create()
const binary = await chooseHostBinary(home).finally(() => home.remove())
const installed = await installContestants(binary.version)
const measurements: Measurements = { steps: { none: [], ours: [], upstream: [] }, existing: {} }
for (const messages of EXISTING_MESSAGES) {
  measurements.existing[messages] = await measureExisting(messages, ROUNDS, { binary, installed })
}
for (let turn = 1; turn <= ROUNDS; turn++)
  for (const contestant of CONTESTANTS) {
    const times = await measureSteps({ binary, contestant, installed })
    measurements.steps[contestant].push(times)
    const [hooks, between] = [times.hooksMs, times.betweenMs].map((values) => round(median(values)))
    console.log(`round ${turn}, ${contestant}: ${between} ms between reply and request, ${hooks} ms in hooks`)
  }

const result: UpstreamFigures = {
  aimMs: AIM_MS,
  host: binary.version,
  versions: installed.versions,
  steps: STEPS,
  rounds: ROUNDS,
  stepMedianMs: round(median(medianBetween(measurements.steps.none))),
  cost: { ours: describeCost("ours", measurements), upstream: describeCost("upstream", measurements) },
}
mkdirSync(new URL(".", RESULT_FILE), { recursive: true })
writeFileSync(RESULT_FILE, `${JSON.stringify(result, undefined, 2)}\n`)
console.log(`\n${describeUpstream(result).join("\n")}`)
