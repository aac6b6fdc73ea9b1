import { textTokens } from "./tokens.ts"

/** Fixed texts of OpenCode 1.18.33, as they stand in its binary. */
export const PLACEHOLDER_TEXT = "[Old tool result content cleared]"
export const INTERRUPTED_TEXT = "[Tool execution was interrupted]"
export const COMPACTION_TEXT = "What did we do so far?"
export const SUBTASK_TEXT = "The following tool was executed by the user"
export const MEDIA_NOTE_TEXT = "Attached media from tool result:"

/** How reminders begin that the host adds to a request's last user message, in memory. */
export const REMINDER_START = "<system-reminder>"

/** The plugin's own tool by which the model asks for a forced clear. */
export const PRUNE_TOOL = "dcp_prune"

/** What a cleared output still costs. */
export const PLACEHOLDER_TOKENS: number = textTokens(PLACEHOLDER_TEXT)

/** What the model reads in place of a file whose modality it does not accept. */
export function describeUnsupportedFile(filename: unknown, modality: string): string {
  const name = typeof filename === "string" && filename ? `"${filename}"` : modality
  return `ERROR: Cannot read ${name} (this model does not support ${modality} input). Inform the user.`
}

/** Tokens on the wire, or that nothing is sent, or that something is sent whose size cannot be known. */
export type Rendered = number | "nothing" | "unknown"

export function addRendered(left: Rendered, right: Rendered): Rendered {
  if (left === "unknown" || right === "unknown") return "unknown"
  if (left === "nothing") return right
  return right === "nothing" ? left : left + right
}
