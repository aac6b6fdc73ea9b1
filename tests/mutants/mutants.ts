/**
 * `npm run mutants -- [FILES...] [--minutes N] [--again] [--concurrency N]` tries every mutant of the engine's files, or of
 * those named, that has not been tried; `--summary [--write]` and `--survivors` read what came of it.
 */
import { setPriority } from "node:os"
import path from "node:path"
import { parseArgs } from "node:util"
import { defaultLedger, findEngineFiles, findRoom, forgetSurvivors, readResults } from "./ledger.ts"
import { writeScores } from "./page.ts"
import { runStryker } from "./stryker.ts"
import {
  addScores,
  countOutcomes,
  describeMutant,
  describeScores,
  LEAST_SCORE_PERCENT,
  scorePercent,
} from "./summary.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "600" },
    concurrency: { type: "string", default: "1" },
    again: { type: "boolean", default: false },
    summary: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    survivors: { type: "boolean", default: false },
    ledger: { type: "string", default: defaultLedger(process.env) },
  },
})
const root = path.join(import.meta.dirname, "../..")
const files = findEngineFiles(root).filter(
  (file) => positionals.length === 0 || positionals.some((name) => isCalled(file, name)),
)

const minutes = Number(values.minutes)
const concurrency = Number(values.concurrency)

if (!(minutes > 0) || !(concurrency >= 1) || files.length === 0) {
  console.error("Expected --minutes above 0, --concurrency from 1, and names of files of lib/dtc")
  process.exitCode = 2
} else if (values.survivors) printSurvivors()
else if (values.summary) printSummary()
else await run()

async function run(): Promise<void> {
  setPriority(10)
  const endMs = performance.now() + minutes * 60_000
  for (const file of files) {
    const room = findRoom(values.ledger, root, file)
    if (values.again) forgetSurvivors(room)
    if (readResults(room)) continue
    const limitMs = endMs - performance.now()
    const isDone = limitMs > 0 && (await runStryker({ root, file, room, concurrency, limitMs }))
    if (!isDone) {
      console.error(`${file}: not every mutant has been tried; npm run mutants goes on there`)
      process.exitCode = 1
      return
    }
    console.log(describeScores([countOutcomes(file, readResults(room) ?? [])])[1])
  }
}

function printSurvivors(): void {
  for (const file of files)
    for (const mutant of readResults(findRoom(values.ledger, root, file)) ?? [])
      if (mutant.outcome === "survived") console.log(describeMutant(mutant))
}

function printSummary(): void {
  const read = files.map((file) => ({ file, results: readResults(findRoom(values.ledger, root, file)) }))
  const scores = read.flatMap(({ file, results }) => (results ? [countOutcomes(file, results)] : []))
  const untried = read.filter(({ results }) => !results).map(({ file }) => file)
  console.log(describeScores(scores).join("\n"))
  if (untried.length > 0) console.log(`not tried to the end: ${untried.join(", ")}`)
  if (untried.length > 0 || scorePercent(addScores(scores)) < LEAST_SCORE_PERCENT) process.exitCode = 1
  if (!values.write) return
  if (untried.length === 0 && positionals.length === 0) writeScores(scores)
  else console.error("Nothing is written: the figures are those of all files, tried to the end")
}

function isCalled(file: string, name: string): boolean {
  return [file, path.basename(file), path.basename(file, ".ts")].includes(name)
}
