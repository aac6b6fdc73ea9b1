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
  }
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
  }
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
    `${scorePercent(score).toFixed(1)} %`,
  ])
  const table = [["file", "mutants", "killed", "timeout", "survived", "score"], ...rows]
  return table.map(([file = "", ...figures]) => file.padEnd(28) + figures.map((figure) => figure.padStart(10)).join(""))
}

export function describeMutant({ file, line, column, mutator, original, replacement }: MutantResult): string {
  return `${file}:${line}:${column} ${mutator}: ${clip(original)} -> ${clip(replacement)}`
}

function clip(code: string): string {
  const line = code.replaceAll(/\s+/g, " ")
  return line.length > 90 ? `${line.slice(0, 88)} …` : line
}
