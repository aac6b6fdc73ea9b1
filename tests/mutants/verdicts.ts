import { appendFileSync, existsSync, readFileSync } from "node:fs"

/** What the tests said about one mutant. */
export interface Verdict {
  /** Stryker's number of it, the same in every run over the same content. */
  mutant: string
  outcome: "killed" | "timeout" | "survived"
  /** The one that failed or hung. */
  test?: string
}

export function appendVerdict(file: string, verdict: Verdict): void {
  appendFileSync(file, `${JSON.stringify(verdict)}\n`)
}

/** The latest verdict on each mutant. A last line that was cut off says nothing. */
export function readVerdicts(file: string): Map<string, Verdict> {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
  return new Map(
    lines.map((line): [string, Verdict] => {
      const verdict: Verdict = JSON.parse(line)
      return [verdict.mutant, verdict]
    }),
  )
}
