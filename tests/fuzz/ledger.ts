import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import path from "node:path"

/** One run, one line. */
export interface LedgerEntry {
  startedAt: string
  seconds: number
  /** Of the run's first round; each further round counts one up. */
  seed: number
  /** Cases by property. */
  cases: Record<string, number>
  histories: number
  fullHistories: number
  /** Sums over all generated histories. */
  messages: number
  parts: number
  result: "passed" | "failed"
  /** How to see it again. */
  failure?: string
}

/** Outside any repository, so that runs add up over checkouts. */
export function defaultLedger(env: Readonly<Record<string, string | undefined>>): string {
  const stated = env["XDG_STATE_HOME"] ?? ""
  const state = path.isAbsolute(stated) ? stated : path.join(homedir(), ".local", "state")
  return path.join(state, "opencode-dcp", "fuzz.jsonl")
}

export function appendEntry(file: string, entry: LedgerEntry): void {
  mkdirSync(path.dirname(file), { recursive: true })
  appendFileSync(file, `${JSON.stringify(entry)}\n`)
}

/** Totals of all runs in the ledger, as lines to read. Histories of runs that failed count for nothing. */
export function summarize(file: string): string[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : []
  const entries = lines.filter(Boolean).map((line): LedgerEntry => JSON.parse(line))
  const passed = entries.filter(({ result }) => result === "passed")
  const total = (key: "histories" | "fullHistories" | "messages" | "parts" | "seconds"): number =>
    passed.reduce((sum, entry) => sum + entry[key], 0)
  const names = [...new Set(passed.flatMap(({ cases }) => Object.keys(cases)))]
  return [
    `runs: ${entries.length}, without a violation: ${passed.length}`,
    `histories: ${total("histories")}, of them at full generator size: ${total("fullHistories")}`,
    `messages: ${total("messages")}, parts: ${total("parts")}`,
    ...names.map((name) => `${name}: ${passed.reduce((sum, { cases }) => sum + (cases[name] ?? 0), 0)}`),
    `minutes: ${(total("seconds") / 60).toFixed(1)}`,
    ...entries.flatMap(({ failure, startedAt }) => (failure === undefined ? [] : [`failed ${startedAt}: ${failure}`])),
  ]
}
