import { readFileSync, writeFileSync } from "node:fs"
import { writeSection } from "../../bench/readme.ts"
import { KINDS, type Kind } from "./explained.ts"
import { addScores, countUnexplained, scorePercent, type FileScore } from "./summary.ts"

const RESULTS = new URL("results.json", import.meta.url)
export const PAGE = new URL("../../docs/decisions/2026-12-01-mutation-testing.md", import.meta.url)

export function readScores(): FileScore[] {
  return JSON.parse(readFileSync(RESULTS, "utf8"))
}

/** Keeps the figures, and puts them into the page. */
export function writeScores(scores: readonly FileScore[]): void {
  writeFileSync(RESULTS, `${JSON.stringify(scores, undefined, 2)}\n`)
  writeSection("mutants", describeTable(scores), PAGE)
  writeSection("survivors", describeKinds(scores), PAGE)
}

export function describeTable(scores: readonly FileScore[]): string {
  const rows = [...scores, addScores(scores)].map((score) => [
    score.file.replace("lib/dtc/", ""),
    score.mutants,
    score.killed,
    score.timedOut,
    score.survived,
    scorePercent(score).toFixed(1),
  ])
  const head = ["file", "mutants", "killed", "endless", "survived", "found, %"]
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")
}

export function describeKinds(scores: readonly FileScore[]): string {
  const all = addScores(scores)
  const kinds = (Object.keys(KINDS) as Kind[]).map((kind) => [kind, all.explained[kind] ?? 0, KINDS[kind]])
  const rows = [...kinds, ["unexplained", countUnexplained(all), "A test could find it, or nobody has looked at it"]]
  const head = ["kind", "mutants", "why no test finds them"]
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")
}
