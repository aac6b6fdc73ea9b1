import { isRecord, readName } from "./plain.ts"
import { textTokens } from "./tokens.ts"
import { PLACEHOLDER_TOKENS } from "./wire-texts.ts"
import type { OutputFacts, Part, ToolOutput } from "./types.ts"

export type OutputPlace = Pick<ToolOutput, "messageIndex" | "partIndex" | "messageID" | "segment">

const OUTCOMES: ReadonlyMap<unknown, OutputFacts["outcome"]> = new Map([
  ["completed", "completed"],
  ["error", "failed"],
  ["pending", "unfinished"],
  ["running", "unfinished"],
])

/** What a stored tool part proves about its output. Fields that are missing or of an odd shape prove nothing. */
export function readOutput(part: Part, place: OutputPlace, sent: boolean): ToolOutput {
  const state = isRecord(part["state"]) ? part["state"] : {}
  const outcome = OUTCOMES.get(state["status"]) ?? "unknown"
  const mark = readMark(state)
  const text = typeof state["output"] === "string" ? state["output"] : undefined
  const tokens = sent && outcome === "completed" && text !== undefined ? textTokens(text) : 0
  const output: ToolOutput = {
    messageIndex: place.messageIndex,
    partIndex: place.partIndex,
    messageID: readName(place.messageID),
    segment: place.segment,
    partID: readName(part.id),
    callID: readName(part["callID"]),
    tool: readName(part["tool"]),
    input: state["input"],
    text,
    textTokens: tokens,
    savingsTokens: Math.max(0, tokens - PLACEHOLDER_TOKENS),
    facts: {
      sent,
      outcome,
      mark,
      error: "error" in state || "error" in part,
      attachments: hasAttachments(part, state),
      providerExecuted: isProviderExecuted(part["metadata"]) || isProviderExecuted(state["metadata"]),
      exitCode: readExitCode(state["metadata"]),
      path: readPath(state["input"]),
      loadedInstructions: hasLoadedInstructions(state["metadata"]),
    },
  }
  if (mark === "placeholder") output.markedAt = readMarkTime(state)
  return output
}

/** The host renders its placeholder for any truthy mark. */
export function isCleared(state: Record<string, unknown>): boolean {
  return isRecord(state["time"]) && Boolean(state["time"]["compacted"])
}

function readMark(state: Record<string, unknown>): OutputFacts["mark"] {
  if (!isRecord(state["time"])) return "unmarkable"
  if (!("compacted" in state["time"])) return "none"
  return isCleared(state) ? "placeholder" : "odd"
}

/** A mark without a usable time has always been in force. */
function readMarkTime({ time }: Record<string, unknown>): number {
  return isRecord(time) && typeof time["compacted"] === "number" ? time["compacted"] : 0
}

function readExitCode(metadata: unknown): OutputFacts["exitCode"] {
  if (metadata === undefined) return "absent"
  if (!isRecord(metadata)) return "odd"
  if (!("exit" in metadata)) return "absent"
  return typeof metadata["exit"] === "number" ? metadata["exit"] : "odd"
}

function hasLoadedInstructions(metadata: unknown): boolean {
  return metadata !== undefined && !(isRecord(metadata) && isAbsentOrEmpty(metadata["loaded"]))
}

function hasAttachments(part: Part, state: Record<string, unknown>): boolean {
  return attaches(part) || attaches(state) || attaches(part["metadata"]) || attaches(state["metadata"])
}

function attaches(holder: unknown): boolean {
  return isRecord(holder) && !isAbsentOrEmpty(holder["attachments"])
}

function isProviderExecuted(metadata: unknown): boolean {
  return isRecord(metadata) && Boolean(metadata["providerExecuted"])
}

function readPath(input: unknown): string | undefined {
  const path = isRecord(input) ? input["filePath"] : undefined
  return typeof path === "string" && path !== "" ? path : undefined
}

function isAbsentOrEmpty(list: unknown): boolean {
  return list === undefined || (Array.isArray(list) && list.length === 0)
}
