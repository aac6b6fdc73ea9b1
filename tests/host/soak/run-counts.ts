import type { LogRecord } from "./record-types.ts"
import { isMemoryRun, type RunSpec, type SoakScope } from "./runs.ts"
import type { Progress } from "./progress.ts"

/** What really happened in a run. */
export interface RunCounts {
  stages: number
  /** Rounds that a stage began and did not end. */
  lostRounds: number
  requests: number
  summaryRequests: number
  sessions: number
  forks: number
  turns: number
  kills: number
  aborts: number
  summaries: number
  interruptedSummaries: number
  switches: number
  queued: number
  prunes: number
  calls: number
  interruptedCalls: number
  equalToEvent: number
  equalToWire: number
  cleared: number
  placeholders: number
  log: Pick<LogRecord, "projected" | "skipped" | "warnings">
}

export function countRun({ progress }: { progress: Progress }): RunCounts {
  const { turns, acts, rounds, traces, checked } = progress
  const outcomes = [...turns.values()].map(({ outcome }) => outcome)
  const actKeys = (pattern: RegExp): number => [...acts.keys()].filter((key) => pattern.test(key)).length
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  return {
    stages: progress.stages,
    lostRounds: progress.begun.size - rounds.length,
    requests: sum(traces.map(({ requests }) => requests["main"] ?? 0)),
    summaryRequests: sum(traces.map(({ requests }) => requests["compaction"] ?? 0)),
    sessions: checked?.sessions ?? 0,
    forks: checked?.forks ?? 0,
    turns: turns.size,
    kills: sum(rounds.map(({ kills }) => kills)),
    aborts: outcomes.filter((outcome) => outcome === "error MessageAbortedError").length,
    summaries: actKeys(/ summarize finish /),
    interruptedSummaries: actKeys(/ summarize (?:abort|kill) /),
    switches: sum(traces.map(({ switches }) => switches)),
    queued: actKeys(/ queue$/),
    prunes: checked?.right["dcp_prune"] ?? 0,
    calls: checked?.calls ?? 0,
    interruptedCalls: checked?.interrupted ?? 0,
    equalToEvent: checked?.equalToEvent ?? 0,
    equalToWire: checked?.equalToWire ?? 0,
    cleared: checked?.cleared ?? 0,
    placeholders: sum(traces.map(({ placeholders }) => placeholders)),
    log: addLogs(traces.flatMap(({ logs }) => logs)),
  }
}

function addLogs(logs: readonly LogRecord[]): RunCounts["log"] {
  const skipped: Record<string, number> = {}
  for (const log of logs)
    for (const [reason, count] of Object.entries(log.skipped)) skipped[reason] = (skipped[reason] ?? 0) + count
  return {
    projected: logs.reduce((total, log) => total + log.projected, 0),
    skipped,
    warnings: [...new Set(logs.flatMap(({ warnings }) => warnings))],
  }
}

/** So that nothing is proven by what never happened: at least so many for each thousand steps. */
const FLOORS: readonly { count: keyof RunCounts; least: number; where?: "faults" | "on" }[] = [
  { count: "requests", least: 1_000 },
  { count: "calls", least: 1_000 },
  { count: "equalToEvent", least: 1_000 },
  { count: "equalToWire", least: 1_000 },
  { count: "kills", least: 8, where: "faults" },
  { count: "aborts", least: 8 },
  { count: "summaries", least: 8 },
  { count: "interruptedSummaries", least: 3 },
  { count: "forks", least: 6 },
  { count: "switches", least: 60 },
  { count: "queued", least: 4 },
  { count: "prunes", least: 10, where: "on" },
  { count: "cleared", least: 300, where: "on" },
]

export function findShortfalls(spec: RunSpec, { steps, sessions }: SoakScope, counts: RunCounts): string[] {
  const missing = FLOORS.flatMap(({ count, least, where }) => {
    const applies = where === undefined || (where === "on" ? spec.plugin === "on" : !isMemoryRun(spec))
    const wanted = Math.floor((least * steps) / 1_000)
    const value = counts[count]
    return applies && typeof value === "number" && value < wanted
      ? [`${value} ${count}, at least ${wanted} wanted`]
      : []
  })
  if (counts.sessions - counts.forks < sessions)
    missing.push(`${counts.sessions - counts.forks} sessions of ${sessions}`)
  if (counts.lostRounds > 0) missing.push(`${counts.lostRounds} rounds were begun and never ended`)
  // A host that is started again would begin with less memory.
  if (isMemoryRun(spec) && counts.stages !== 1) missing.push(`played in ${counts.stages} stages, not in one`)
  return missing
}
