/**
 * `npm run soak -- [--seed S] [--minutes M]` goes on with the first run of that seed that is not finished, and with the next
 * ones while there is time; `--summary` tells the verdict of all of them and ends with 1 when something is violated.
 */
import { randomInt } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { defaultStateFolder, Journal } from "./journal.ts"
import { readProgress } from "./progress.ts"
import { isMemoryRun, nameRun, RUNS, type RunSpec, type SoakScope } from "./runs.ts"
import { describeVerdict } from "./report.ts"
import { writeResult } from "./result-page.ts"
import { playStage } from "./stage.ts"
import { judge, type PlayedRun } from "./verdict.ts"

const USAGE =
  "usage: npm run soak -- [--seed S] [--steps N] [--sessions N] [--minutes M] [--run NAME] [--plugin on|off] [--state DIR]\n" +
  "       npm run soak -- --seed S --summary [--write]"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    steps: { type: "string" },
    sessions: { type: "string" },
    minutes: { type: "string", default: "8" },
    run: { type: "string" },
    plugin: { type: "string" },
    state: { type: "string", default: defaultStateFolder(process.env) },
    summary: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
})

const startedMs = performance.now()
process.exitCode = await main()

async function main(): Promise<number> {
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
  const minutes = Number(values.minutes)
  if (!Number.isSafeInteger(seed) || !(minutes > 0) || (values.summary && values.seed === undefined))
    return explainUsage()
  console.log(`seed ${seed}`)
  const folder = join(values.state, String(seed))
  const scope = settleScope(folder, seed)
  if (scope === undefined) return explainUsage()
  return values.summary ? summarize(folder, scope) : play(folder, scope, minutes * 60_000)
}

/** As the first stage of the seed fixed it. */
function settleScope(folder: string, seed: number): SoakScope | undefined {
  const file = join(folder, "scope.json")
  const known: SoakScope | undefined = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined
  const asked = (value: string | undefined, fallback: number): number =>
    value === undefined ? fallback : Number(value)
  const scope = {
    seed,
    steps: asked(values.steps, known?.steps ?? 1_000),
    sessions: asked(values.sessions, known?.sessions ?? 20),
  }
  const isWhole = [scope.steps, scope.sessions].every((value) => Number.isSafeInteger(value) && value > 0)
  if (!isWhole || (known && JSON.stringify(known) !== JSON.stringify(scope))) return undefined
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, JSON.stringify(scope))
  return scope
}

async function play(folder: string, scope: SoakScope, durationMs: number): Promise<number> {
  const elapsedMs = (): number => performance.now() - startedMs
  let longestMs = durationMs / 2
  for (const spec of RUNS.filter(isAskedFor)) {
    const runFolder = join(folder, nameRun(spec))
    if (isFinished(runFolder)) continue
    // One host process has to serve the whole of a memory run: it begins only when there is time, and then goes to its end.
    if (isMemoryRun(spec)) {
      if (elapsedMs() + longestMs > durationMs) break
      rmSync(runFolder, { recursive: true, force: true })
    }
    console.log(`${nameRun(spec)}, from ${Math.round(elapsedMs() / 1_000)} s on`)
    const hasTime = (): boolean => isMemoryRun(spec) || elapsedMs() < durationMs
    const beganMs = elapsedMs()
    if (!(await playStage({ spec, scope, folder: runFolder, hasTime }))) break
    if (isMemoryRun(spec)) longestMs = Math.max(longestMs, elapsedMs() - beganMs)
  }
  const left = RUNS.filter((spec) => isAskedFor(spec) && !isFinished(join(folder, nameRun(spec)))).map(nameRun)
  const next = left.length > 0 ? `left: ${left.join(", ")}; the same command goes on` : "all played; --summary judges"
  console.log(`${Math.round(elapsedMs() / 1_000)} s; ${next}`)
  return 0
}

function isAskedFor({ kind, plugin }: RunSpec): boolean {
  return (values.run ?? kind) === kind && (values.plugin ?? plugin) === plugin
}

function isFinished(folder: string): boolean {
  return existsSync(folder) && readProgress(new Journal(folder).readLines()).checked !== undefined
}

function summarize(folder: string, scope: SoakScope): number {
  const wanted = RUNS.filter(isAskedFor)
  const runs = wanted.flatMap((spec): PlayedRun[] => {
    const runFolder = join(folder, nameRun(spec))
    if (!existsSync(runFolder)) return []
    const journal = new Journal(runFolder)
    return [{ spec, progress: readProgress(journal.readLines()), samples: journal.readSamples() }]
  })
  const verdict = judge(scope, runs, wanted)
  console.log(describeVerdict(verdict).join("\n"))
  if (values.write) writeResult(verdict)
  return verdict.violations.length === 0 ? 0 : 1
}

function explainUsage(): number {
  console.error(USAGE)
  return 2
}
