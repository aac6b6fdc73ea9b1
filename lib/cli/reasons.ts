import type { OutputRow } from "./types.ts"

/** Why an output is cleared or kept, in words that need no manual. */
export const REASONS: Readonly<Record<OutputRow["reason"], string>> = {
  redundant: "an identical copy came later",
  aged: "over target, oldest first",
  forced: "asked for with dcp_prune",
  recent: "in the newest steps",
  waiting: "not needed so far",
  "already-cleared": "cleared by the host itself",
  attachments: "has attachments",
  error: "an error stands beside it",
  "failed-exit": "the command failed",
  "instruction-file": "an instruction file",
  "loaded-instructions": "it loaded instruction files",
  "no-path": "reads no named file",
  "no-text": "is not text",
  "not-completed": "did not complete",
  "not-sent": "is not sent to the model",
  "odd-mark": "carries an unusual mark",
  "other-tool": "another tool's output",
  "protected-tool": "a protected tool",
  "provider-executed": "run by the provider",
  small: "too small to matter",
  unmarkable: "has no place for a mark",
  "unproven-exit": "its exit code is unknown",
}
