import type { Diagnostic, DiagnosticKind } from "./types.ts"

/** A diagnostic before it knows its file. */
export type Problem = Omit<Diagnostic, "file">

export function problemOf(kind: DiagnosticKind, what: string, expected: string): Problem {
  return { kind, message: what ? `${what}, expected ${expected}` : `expected ${expected}`, expected }
}

/** One line that says where, what, and what would be right: `dcp.jsonc:3:5 dtc.targetRatio: expected a number above 0 up to 1`. */
export function describeDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, key, message } = diagnostic
  const place = [file, line, column].filter((piece) => piece !== undefined).join(":")
  return key === undefined ? `${place}: ${message}` : `${place} ${key}: ${message}`
}
