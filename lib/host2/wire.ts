/**
 * What OpenCode 2.x sends, in the engine's neutral terms: the second host's wire table. Messages come lowered, so that
 * everything in them reaches the model, and there are no times, no marks and no reports.
 */
import { isRecord } from "../dtc/plain.ts"
import { FRAME_TOKENS, jsonTokens, textTokens } from "../dtc/tokens.ts"
import type { History, Segment, ToolOutput } from "../dtc/types.ts"
import { addRendered, type Rendered } from "../dtc/wire-texts.ts"
import { describeOutput, type ResultPlace } from "./facts.ts"
import { readResult, type ResultReading } from "./results.ts"
import type { LoweredKind, LoweredMessage, LoweredPart, LoweredRole } from "./types.ts"

/** `result` is the part's own reading, where it is a result. */
type Renderer = (part: LoweredPart, result?: ResultReading) => Rendered

const unfamiliar: Renderer = () => "unknown"

/** A picture's bytes, or the address of one that is not materialised yet. */
const unsized: Renderer = () => "unknown"

const TEXT_ONLY: Readonly<Record<LoweredKind, Renderer>> = {
  text: renderText,
  media: unfamiliar,
  reasoning: unfamiliar,
  "tool-call": unfamiliar,
  "tool-result": unfamiliar,
}

const PARTS: Readonly<Record<LoweredRole, Readonly<Record<LoweredKind, Renderer>>>> = {
  system: TEXT_ONLY,
  user: { ...TEXT_ONLY, media: unsized },
  assistant: { ...TEXT_ONLY, reasoning: renderReasoning, "tool-call": renderCall, "tool-result": renderResult },
  tool: { ...TEXT_ONLY, text: unfamiliar, "tool-result": renderResult },
}

/** The step that tool messages answer. */
interface OpenStep {
  segment: Segment
  segmentIndex: number
  messageID: string
  /** Its calls without an answer so far, by id; no call where two share one. */
  calls: Map<unknown, LoweredPart | undefined>
}

/**
 * Reads copied messages. An assistant message and the tool messages behind it are one step, and each step started a
 * request: nothing in them says when, so that its place in the history stands for its time.
 */
export function readLowered(messages: readonly LoweredMessage[]): History {
  const segments: Segment[] = []
  const outputs: ToolOutput[] = []
  let open: OpenStep | undefined
  for (const [messageIndex, message] of messages.entries()) {
    if (message.role !== "tool" || !open) {
      const requestedAt = isStep(messages, messageIndex) ? messageIndex : undefined
      open = openSegment(message, segments.length, requestedAt)
      segments.push(open.segment)
    }
    for (const [partIndex, part] of message.parts.entries()) {
      const result = part.type === "tool-result" ? readResult(part) : undefined
      addPart(open.segment, part, renderPart(message.role, part, result))
      if (part.type === "tool-call") openCall(open, part)
      const place = { messageIndex, partIndex, inAssistant: message.role === "assistant" }
      if (result) outputs.push(answerCall(open, part, place, result))
    }
  }
  return { segments, outputs }
}

function openSegment({ id = "" }: LoweredMessage, segmentIndex: number, requestedAt: number | undefined): OpenStep {
  const segment: Segment = {
    kind: requestedAt === undefined ? "user" : "step",
    tokens: 0,
    writtenTokens: 0,
    unknownSize: false,
    sendsTool: false,
    reminderTokens: 0,
    ...(requestedAt !== undefined && { requestedAt }),
    asksToClear: false,
  }
  return { segment, segmentIndex, messageID: id, calls: new Map() }
}

/** The host ends a request with a text of its own when the agent's steps are used up; no model call wrote that one. */
function isStep(messages: readonly LoweredMessage[], messageIndex: number): boolean {
  const message = messages[messageIndex]
  return message?.role === "assistant" && !(message.id === undefined && messageIndex === messages.length - 1)
}

function addPart(segment: Segment, { type }: LoweredPart, rendered: Rendered): void {
  if (rendered === "nothing") return
  if (segment.tokens === 0) segment.tokens = FRAME_TOKENS.message
  if (type !== "tool-result") segment.tokens += FRAME_TOKENS.part
  if (rendered === "unknown") segment.unknownSize = true
  else segment.tokens += rendered
  if (type === "tool-call" || type === "tool-result") segment.sendsTool = true
}

function openCall({ calls }: OpenStep, call: LoweredPart): void {
  const { id } = call
  calls.set(id, calls.has(id) ? undefined : call)
}

/** A result that answers nothing in its step stays unproven. */
function answerCall(
  { calls, segmentIndex, messageID }: OpenStep,
  part: LoweredPart,
  place: Pick<ResultPlace, "inAssistant" | "messageIndex" | "partIndex">,
  result: ResultReading,
): ToolOutput {
  const candidate = calls.get(part["id"])
  const call = candidate?.["name"] === part["name"] ? candidate : undefined
  calls.delete(part["id"])
  return describeOutput(part, { ...place, segment: segmentIndex, messageID, call }, result)
}

/** What one part costs; `unknown` also for kinds that the host does not have. */
export function renderPart(role: LoweredRole, part: LoweredPart, result?: ResultReading): Rendered {
  return isKind(part.type) ? PARTS[role][part.type](part, result) : "unknown"
}

function renderText(part: LoweredPart): Rendered {
  const { text } = part
  if (typeof text !== "string") return "unknown"
  return text === "" ? renderMetadata(part) : addRendered(textTokens(text), renderMetadata(part))
}

/** Signatures and encrypted reasoning are payload; the host leaves them only where the model can use them. */
function renderReasoning(part: LoweredPart): Rendered {
  const { text, encrypted } = part
  if (typeof text !== "string") return "unknown"
  const sealed = typeof encrypted === "string" ? textTokens(encrypted) : "nothing"
  return addRendered(addRendered(textTokens(text), sealed), renderMetadata(part))
}

function renderCall(part: LoweredPart): Rendered {
  const call = FRAME_TOKENS.toolCall + textTokens(String(part["name"])) + jsonTokens(part["input"])
  return addRendered(call, renderMetadata(part))
}

function renderResult(part: LoweredPart, result = readResult(part)): Rendered {
  return result.unknownSize ? "unknown" : addRendered(result.tokens, renderMetadata(part))
}

function renderMetadata({ providerMetadata }: LoweredPart): Rendered {
  return isRecord(providerMetadata) ? jsonTokens(providerMetadata) : "nothing"
}

function isKind(type: string): type is LoweredKind {
  return Object.hasOwn(TEXT_ONLY, type)
}
