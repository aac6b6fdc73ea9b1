import { conversationText, PLACEHOLDER, type ModelRequest } from "./model-request.ts"
import { findToolParts, type StoredMessage, type ToolPart } from "./stored.ts"
import { assertWire } from "./wire-assertions.ts"

/** What the host leaves of an output in a summary's transcript. */
const OUTPUT_CUT = 2_000

/**
 * The native summary saw the session and nothing of ours: each result in its transcript is a stored one, below its call,
 * in full or with the host's own cut. Gives back the calls whose results it saw.
 */
export function assertFaithfulSummary(summary: ModelRequest, stored: readonly StoredMessage[]): string[] {
  const transcript = conversationText(summary)
  assertWire(summary, !transcript.includes(PLACEHOLDER), "the summary is given no placeholder")
  const seen: string[] = []
  let position = 0
  for (const part of findToolParts(stored)) {
    const block = describeForSummary(part)
    const found = block === undefined ? -1 : transcript.indexOf(block, position)
    if (block === undefined || found < 0) continue
    position = found + block.length
    seen.push(part.callID)
  }
  const shown = transcript.match(/\n\[Tool (?:result|error)\]: /g)?.length ?? 0
  assertWire(summary, shown === seen.length, `${shown} results in the summary, ${seen.length} of them stored so`)
  return seen
}

/** Faithful, and these calls are among what it saw. */
export function assertSummarySaw(
  summary: ModelRequest,
  stored: readonly StoredMessage[],
  callIDs: readonly string[],
): void {
  const seen = assertFaithfulSummary(summary, stored)
  for (const callID of callIDs) assertWire(summary, seen.includes(callID), `the summary is given ${callID}`)
}

function describeForSummary({ state, tool }: ToolPart): string | undefined {
  const call = `[Assistant tool call]: ${tool}(${JSON.stringify(state.input)})`
  if (state.status === "error") return `${call}\n[Tool error]: ${state.error}\n`
  if (state.status !== "completed") return undefined
  const { output } = state
  return `${call}\n[Tool result]: ${output.length > OUTPUT_CUT ? `${output.slice(0, OUTPUT_CUT)}\n[truncated]` : output}\n`
}
