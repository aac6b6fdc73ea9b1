import { isRecord, readName } from "./plain.ts"
import { FRAME_TOKENS, jsonTokens, textTokens } from "./tokens.ts"
import { renderAttachments, renderFile, type MediaContext } from "./wire-media.ts"
import { isCleared } from "./wire-outputs.ts"
import * as texts from "./wire-texts.ts"
import { addRendered, type Rendered } from "./wire-texts.ts"
import type { Part, ToolOutput } from "./types.ts"

/** Every part kind of the host's schema; `tests/host-types.test.ts` fails to compile when the host adds one. */
export type PartKind =
  | "agent"
  | "compaction"
  | "file"
  | "patch"
  | "reasoning"
  | "retry"
  | "snapshot"
  | "step-finish"
  | "step-start"
  | "subtask"
  | "text"
  | "tool"

type Role = "assistant" | "user"
type ToolStatus = "completed" | "error" | "pending" | "running"

/** What a part's rendering depends on beside the part. */
export interface MessageContext extends MediaContext {
  /** The request's model wrote the message. True when no model is known: the larger cost counts. */
  sameModel: boolean
  /** Some reasoning of the message carries an Anthropic signature. */
  isSigned: () => boolean
}

type Renderer = (part: Part, context: MessageContext) => Rendered

const nothing: Renderer = () => "nothing"
const unfamiliar: Renderer = () => "unknown"
const fixed =
  (text: string): Renderer =>
  () =>
    textTokens(text)

const PARTS: Readonly<Record<Role, Readonly<Record<PartKind, Renderer>>>> = {
  user: {
    text: (part) => (part["ignored"] || part["text"] === "" ? "nothing" : renderText(part["text"])),
    file: renderFile,
    agent: nothing,
    compaction: fixed(texts.COMPACTION_TEXT),
    subtask: fixed(texts.SUBTASK_TEXT),
    patch: unfamiliar,
    reasoning: unfamiliar,
    retry: unfamiliar,
    snapshot: unfamiliar,
    "step-finish": unfamiliar,
    "step-start": unfamiliar,
    tool: unfamiliar,
  },
  assistant: {
    text: renderAssistantText,
    reasoning: renderReasoning,
    tool: renderCall,
    "step-start": nothing,
    "step-finish": nothing,
    agent: nothing,
    file: nothing,
    patch: nothing,
    retry: nothing,
    snapshot: nothing,
    compaction: unfamiliar,
    subtask: unfamiliar,
  },
}

type ResultRenderer = (state: Record<string, unknown>, context: MessageContext, output: ToolOutput) => Rendered

/** The result that stands beside a call, by the call's state. A mark changes only a completed one. */
const RESULTS: Readonly<Record<ToolStatus, ResultRenderer>> = {
  pending: () => textTokens(texts.INTERRUPTED_TEXT),
  running: () => textTokens(texts.INTERRUPTED_TEXT),
  completed: renderCompleted,
  error: (state) => renderText(findInterruptedOutput(state) ?? state["error"]),
}

/** What the host sends for one part, a call's result apart; `unknown` also for kinds and roles that it does not have. */
export function renderPart(role: unknown, part: Part, context: MessageContext): Rendered {
  if (!isRole(role) || !isPartKind(part.type)) return "unknown"
  return PARTS[role][part.type](part, context)
}

/** What the host sends as the result of a call; `output` is the part's own reading. */
export function renderResult(part: Part, context: MessageContext, output: ToolOutput): Rendered {
  const state = part["state"]
  return isRecord(state) && isToolStatus(state["status"]) ? RESULTS[state["status"]](state, context, output) : "unknown"
}

/** Whether the host has a row for the part in that role; a tool part needs a state that it knows. */
export function isFamiliar(role: string, part: Part): boolean {
  if (!isRole(role) || !isPartKind(part.type) || PARTS[role][part.type] === unfamiliar) return false
  return part.type !== "tool" || (isRecord(part["state"]) && isToolStatus(part["state"]["status"]))
}

function renderText(text: unknown): Rendered {
  return typeof text === "string" ? textTokens(text) : "unknown"
}

/** Beside a signed reasoning part the host turns an empty text into one space; otherwise its metadata alone keeps it. */
function renderAssistantText(part: Part, context: MessageContext): Rendered {
  const metadata = renderMetadata(part, context)
  if (part["text"] !== "") return addRendered(renderText(part["text"]), metadata)
  return context.isSigned() ? addRendered(textTokens(" "), metadata) : metadata
}

/** Signatures and encrypted reasoning are payload for the model that wrote them; others get the bare text, unless blank. */
function renderReasoning(part: Part, context: MessageContext): Rendered {
  const text = part["text"]
  if (context.sameModel) return addRendered(renderText(text), renderMetadata(part, context))
  return typeof text === "string" && text.trim() === "" ? "nothing" : renderText(text)
}

/** The input is sent in full whatever became of the call. */
function renderCall(part: Part, context: MessageContext): Rendered {
  const state = part["state"]
  if (!isRecord(state)) return "unknown"
  const call = FRAME_TOKENS.toolCall + textTokens(readName(part["tool"])) + jsonTokens(state["input"])
  return addRendered(call, renderMetadata(part, context))
}

function renderCompleted(state: Record<string, unknown>, context: MessageContext, output: ToolOutput): Rendered {
  if (isCleared(state)) return texts.PLACEHOLDER_TOKENS
  if (output.text === undefined) return "unknown"
  return addRendered(output.textTokens, renderAttachments(state["attachments"], context))
}

/** Provider options go back only to the model that they came from. */
function renderMetadata({ metadata }: Part, { sameModel }: MessageContext): Rendered {
  return sameModel && isRecord(metadata) ? jsonTokens(metadata) : "nothing"
}

/** The text that an interrupted tool had produced; the host sends it as an ordinary result. */
function findInterruptedOutput({ metadata }: Record<string, unknown>): string | undefined {
  if (!isRecord(metadata) || metadata["interrupted"] !== true) return undefined
  return typeof metadata["output"] === "string" ? metadata["output"] : undefined
}

function isRole(role: unknown): role is Role {
  return typeof role === "string" && Object.hasOwn(PARTS, role)
}

function isPartKind(type: string): type is PartKind {
  return Object.hasOwn(PARTS.assistant, type)
}

function isToolStatus(status: unknown): status is ToolStatus {
  return typeof status === "string" && Object.hasOwn(RESULTS, status)
}
