/**
 * `npm run bench`: what one projection costs in time and memory as the history grows, beside `structuredClone`,
 * `JSON.stringify` and a floor: the bytes of the same texts summed once, and the structure copied once. Under Node and under
 * Bun, on which the host runs. Ratios within one process count; the times themselves depend on the machine.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { AIMS, describeRow, type ProjectFigures, type ProjectRow, type Runs } from "./project/figures.ts"
import type { Mode } from "./project/measure.ts"
import { findRuntimes, type Runtime } from "./project/runtimes.ts"
import { describeProject } from "./project/table.ts"

const MESSAGES = [530, 5_300, 21_200]
const RESULT_FILE = new URL("results/project.json", import.meta.url)

const rows = findRuntimes().flatMap((runtime) => MESSAGES.map((messages) => measureRow(runtime, messages)))
const result: ProjectFigures = { aims: AIMS, rows }
mkdirSync(new URL(".", RESULT_FILE), { recursive: true })
writeFileSync(RESULT_FILE, `${JSON.stringify(result, undefined, 2)}\n`)
console.log(`\n${describeProject(result).join("\n")}`)

/** Each mode in a process of its own: what one has allocated is not in the way of the next. */
function measureRow(runtime: Runtime, messages: number): ProjectRow {
  const runs = Object.fromEntries(
    runtime.modes.map((mode) => [mode, announce(runtime, messages, mode)]),
  ) as unknown as Runs
  return describeRow(runtime.name, messages, runs)
}

function announce(runtime: Runtime, messages: number, mode: Mode) {
  const start = performance.now()
  const run = runtime.run(messages, mode)
  const seconds = Math.round((performance.now() - start) / 1_000)
  console.log(`${runtime.name}, ${messages} messages, ${mode}: ${seconds} s`)
  return run
}
