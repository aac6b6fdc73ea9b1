import { describeChange, findKind, KINDS, type Kind } from "./explained.ts"
import type { MutantResult } from "./ledger.ts"

/** Of every 100 mutants so many are found by a test. */
export const LEAST_SCORE_PERCENT = 90

export interface FileScore {
  file: string
  mutants: number
  killed: number
  /** A test hung: found too. */
  timedOut: number
  survived: number
  /** Survivors by why no test finds them. */
  explained: Partial<Record<Kind, number>>
}

export function countOutcomes(file: string, results: readonly MutantResult[]): FileScore {
  const count = (outcome: MutantResult["outcome"]): number =>
    results.filter((mutant) => mutant.outcome === outcome).length
  return {
    file,
    mutants: results.length,
    killed: count("killed"),
    timedOut: count("timeout"),
    survived: count("survived"),
    explained: countKinds(results.filter(({ outcome }) => outcome === "survived")),
  }
}

function countKinds(survivors: readonly MutantResult[]): FileScore["explained"] {
  const counts: FileScore["explained"] = {}
  for (const kind of survivors.map(findKind)) if (kind) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

export function addScores(scores: readonly FileScore[]): FileScore {
  const sum = (key: "mutants" | "killed" | "timedOut" | "survived"): number =>
    scores.reduce((total, score) => total + score[key], 0)
  return {
    file: "all",
    mutants: sum("mutants"),
    killed: sum("killed"),
    timedOut: sum("timedOut"),
    survived: sum("survived"),
    explained: sumKinds(scores.map(({ explained }) => explained)),
  }
}

function sumKinds(counts: readonly FileScore["explained"][]): FileScore["explained"] {
  const kinds = Object.keys(KINDS) as Kind[]
  const sums = kinds.map((kind): [Kind, number] => [kind, counts.reduce((sum, count) => sum + (count[kind] ?? 0), 0)])
  return Object.fromEntries(sums.filter(([, sum]) => sum > 0))
}

/** Survivors that nobody has looked at, or that a test could find. */
export function countUnexplained({ survived, explained }: FileScore): number {
  return Object.values(explained).reduce((rest, count) => rest - count, survived)
}

/** Without a mutant there is nothing to find. */
export function scorePercent({ mutants, survived }: FileScore): number {
  return mutants === 0 ? 100 : ((mutants - survived) / mutants) * 100
}

export function describeScores(scores: readonly FileScore[]): string[] {
  const rows = [...scores, addScores(scores)].map((score) => [
    score.file,
    String(score.mutants),
    String(score.killed),
    String(score.timedOut),
    String(score.survived),
    String(countUnexplained(score)),
    `${scorePercent(score).toFixed(1)} %`,
  ])
  const table = [["file", "mutants", "killed", "timeout", "survived", "unexplained", "score"], ...rows]
  return table.map(([file = "", ...figures]) => file.padEnd(28) + figures.map((figure) => figure.padStart(13)).join(""))
}

export function describeMutant(mutant: MutantResult): string {
  const { file, line, column, mutator } = mutant
  return `${file}:${line}:${column} ${mutator}: ${describeChange(mutant)} [${findKind(mutant) ?? "unexplained"}]`
}
