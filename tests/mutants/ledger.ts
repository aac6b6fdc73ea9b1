import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import path from "node:path"
import { STRYKER } from "./stryker.ts"
import { readVerdicts, type Verdict } from "./verdicts.ts"

/** One mutant with what became of it. */
export interface MutantResult {
  file: string
  /** Both from 1. */
  line: number
  column: number
  mutator: string
  original: string
  replacement: string
  outcome: Verdict["outcome"]
}

/** What this room needs of Stryker's report. */
interface Report {
  files: Record<string, { source: string; mutants: ReportedMutant[] }>
}

interface ReportedMutant {
  id: string
  mutatorName: string
  replacement?: string
  status: string
  location: Record<"start" | "end", { line: number; column: number }>
}

const OUTCOMES: Readonly<Record<string, Verdict["outcome"]>> = {
  Killed: "killed",
  Timeout: "timeout",
  Survived: "survived",
}

/** Outside any repository, so that results add up over checkouts. */
export function defaultLedger(env: Readonly<Record<string, string | undefined>>): string {
  const stated = env["XDG_STATE_HOME"] ?? ""
  const state = path.isAbsolute(stated) ? stated : path.join(homedir(), ".local", "state")
  return path.join(state, "opencode-dcp", "mutants")
}

/** Every file of the engine that holds code, from the root. */
export function findEngineFiles(root: string): string[] {
  return readdirSync(path.join(root, "lib/dtc"))
    .filter((name) => name.endsWith(".ts") && name !== "types.ts")
    .toSorted()
    .map((name) => `lib/dtc/${name}`)
}

/** The folder of one file's results; another content has another one. */
export function findRoom(ledger: string, root: string, file: string): string {
  const content = readFileSync(path.join(root, file))
  const hash = createHash("sha256").update(STRYKER).update(content).digest("hex").slice(0, 12)
  return path.join(ledger, `${path.basename(file, ".ts")}-${hash}`)
}

/** `undefined`: not every mutant has been tried. */
export function readResults(room: string): MutantResult[] | undefined {
  const reportFile = path.join(room, "report.json")
  if (!existsSync(reportFile)) return undefined
  const report: Report = JSON.parse(readFileSync(reportFile, "utf8"))
  const verdicts = readVerdicts(path.join(room, "verdicts.jsonl"))
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({
      file,
      ...mutant.location.start,
      mutator: mutant.mutatorName,
      original: textAt(source, mutant.location),
      replacement: mutant.replacement ?? "",
      outcome: verdicts.get(mutant.id)?.outcome ?? outcomeOf(mutant),
    })),
  )
}

/** The mutants that survived are tried again, against tests that came later. */
export function forgetSurvivors(room: string): void {
  const verdictsFile = path.join(room, "verdicts.jsonl")
  const dead = [...readVerdicts(verdictsFile).values()].filter(({ outcome }) => outcome !== "survived")
  if (existsSync(verdictsFile))
    writeFileSync(verdictsFile, dead.map((verdict) => `${JSON.stringify(verdict)}\n`).join(""))
  rmSync(path.join(room, "report.json"), { force: true })
}

function outcomeOf({ status }: ReportedMutant): Verdict["outcome"] {
  const outcome = OUTCOMES[status]
  if (!outcome) throw new Error(`A mutant is ${status}`)
  return outcome
}

function textAt(source: string, { start, end }: ReportedMutant["location"]): string {
  const lines = source.split("\n").slice(start.line - 1, end.line)
  const last = lines.length - 1
  return lines
    .map((line, index) =>
      line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined).trim(),
    )
    .join(" ")
}
