/**
 * What OpenCode 1.x sends: this room and its `wire-*` neighbours are the only ones that know the host. Read from the
 * 1.18.33 binary and confirmed on the wire (docs/decisions/2026-11-30-wire-table.md).
 */
import { isName, isRecord, readName } from "./plain.ts"
import { FRAME_TOKENS } from "./tokens.ts"
import { describeOrigin } from "./wire-origins.ts"
import { readOutput, type OutputPlace } from "./wire-outputs.ts"
import { renderPart, renderResult, type MessageContext } from "./wire-parts.ts"
import { readReport } from "./wire-reports.ts"
import { PRUNE_TOOL, REMINDER_START, type Rendered } from "./wire-texts.ts"
import type {
  Message,
  MessageInfo,
  Model,
  Origin,
  Part,
  ReadOptions,
  Segment,
  ToolOutput,
  TracedHistory,
} from "./types.ts"

/**
 * Reads plain messages into neutral terms. `undefined`: a message is malformed, so that nothing can be said about what
 * the host would send. `model` absent: the one that the latest ordinary user message asks for.
 */
export function readHistory(messages: readonly Message[], options: ReadOptions = {}): TracedHistory | undefined {
  if (!messages.every(isMessage)) return undefined
  const rules: ReadOptions = { ...options, model: options.model ?? findRequestedModel(messages) }
  const windowStart = findWindowStart(messages)
  const segments: Segment[] = []
  const outputs: ToolOutput[] = []
  const origins: Origin[] = []
  for (const [messageIndex, message] of messages.entries()) {
    const reading: MessageReading = { messageIndex, firstSegment: segments.length, windowStart, rules }
    for (const step of readSteps(message, reading)) {
      segments.push(step.segment)
      origins.push(step.origin)
      for (const output of step.outputs) outputs.push(output)
    }
  }
  return { segments, outputs, origins }
}

/**
 * The model that the next request goes to: the explicit one of the latest ordinary user message, by creation time, then
 * id; never by array position, since a retained tail stands behind newer messages. Compaction-only users do not count.
 */
export function findRequestedModel(messages: readonly Message[]): Model | undefined {
  const model = findLatestUser(messages.filter((message) => isMessage(message) && isOrdinaryUser(message)))?.info[
    "model"
  ]
  if (!isRecord(model)) return undefined
  const { providerID, modelID } = model
  return isName(providerID) && isName(modelID) ? { providerID, modelID } : undefined
}

/** The one that the host answers: by creation time, then id. */
export function findLatestUser(messages: readonly Message[]): Message | undefined {
  let latest: Message | undefined
  for (const message of messages)
    if (message.info.role === "user" && (!latest || byCreation(message, latest) > 0)) latest = message
  return latest
}

/** The largest time in the history, in milliseconds; at least 1. */
export function findLatestTime(messages: readonly Message[]): number {
  return messages
    .filter(isMessage)
    .flatMap(({ info, parts }) => [info, ...parts, ...parts.map(({ state }) => state)])
    .flatMap((holder) => (isRecord(holder) && isRecord(holder["time"]) ? Object.values(holder["time"]) : []))
    .reduce<number>(laterTime, 1)
}

interface MessageReading {
  messageIndex: number
  /** Index of the message's first segment. */
  firstSegment: number
  /** Milliseconds: what is older started no request of this window. */
  windowStart: number
  rules: ReadOptions
}

interface StepReading {
  segment: Segment
  outputs: ToolOutput[]
  origin: Origin
}

/** What the steps of one message have in common. */
interface MessageFacts {
  message: Message
  context: MessageContext
  /** It reaches the model. */
  sent: boolean
  /** So do its tool outputs: in a message of another role nobody knows what becomes of them. */
  sendsOutputs: boolean
  /** Its steps were requests of this window, … */
  starts: boolean
  /** … and of the request's own model. */
  reports: boolean
}

function readSteps(message: Message, reading: MessageReading): StepReading[] {
  const { messageIndex, firstSegment } = reading
  const facts = describeMessage(message, reading)
  const steps = splitSteps(message)
  let partIndex = 0
  return steps.map((parts, step) => {
    const start = { messageIndex, partIndex, messageID: message.info.id, segment: firstSegment + step }
    partIndex += parts.length
    return readStep(parts, start, facts, { step, isLast: step === steps.length - 1 })
  })
}

function describeMessage(message: Message, { windowStart, rules }: MessageReading): MessageFacts {
  const { info } = message
  const context = describeContext(message, rules)
  const starts = startsRequests(info, windowStart)
  const reports = starts && rules.model !== undefined && context.sameModel
  const sent = isSent(message)
  return { message, context, sent, sendsOutputs: sent && info.role === "assistant", starts, reports }
}

function readStep(
  parts: readonly Part[],
  start: OutputPlace,
  facts: MessageFacts,
  { step, isLast }: { step: number; isLast: boolean },
): StepReading {
  const { message, context, sent, sendsOutputs, starts, reports } = facts
  const { info } = message
  const outputs: ToolOutput[] = []
  const rendered: Rendered[] = []
  const segment = emptySegment(info.role)
  let saidTokens = 0
  let { partIndex } = start
  for (const part of parts) {
    const output = part.type === "tool" ? readOutput(part, { ...start, partIndex }, sendsOutputs) : undefined
    partIndex++
    if (output) outputs.push(output)
    const own = sent ? renderPart(info.role, part, context) : "nothing"
    rendered.push(own)
    saidTokens += addPart(segment, part, own)
    if (sent && output) addContent(segment, renderResult(part, context, output))
  }
  segment.asksToClear = outputs.some(isPruneRequest)
  if (starts) segment.requestedAt = createdAt(info)
  const report = reports && readReport(parts, isLast ? info : undefined, sent ? saidTokens : undefined)
  if (report) segment.report = report
  const { messageIndex } = start
  const origin = describeOrigin({ message, messageIndex, step, parts, rendered, outputs, sent, context })
  return { segment, outputs, origin }
}

function emptySegment(role: string): Segment {
  const kind = role === "assistant" ? "step" : "user"
  return {
    kind,
    tokens: 0,
    writtenTokens: 0,
    unknownSize: false,
    sendsTool: false,
    reminderTokens: 0,
    asksToClear: false,
  }
}

/** Answers what a text or a call costs: the response's output tokens cover at least that. */
function addPart(segment: Segment, part: Part, rendered: Rendered): number {
  if (rendered === "nothing") return 0
  const before = segment.tokens
  if (before === 0) segment.tokens = FRAME_TOKENS.message
  segment.tokens += FRAME_TOKENS.part
  addContent(segment, rendered)
  if (part.type === "tool") segment.sendsTool = true
  if (segment.kind === "step") segment.writtenTokens += segment.tokens - before
  else if (isReminder(part) && rendered !== "unknown") segment.reminderTokens += FRAME_TOKENS.part + rendered
  return part.type === "reasoning" || rendered === "unknown" ? 0 : rendered
}

function addContent(segment: Segment, rendered: Rendered): void {
  if (rendered === "unknown") segment.unknownSize = true
  else if (rendered !== "nothing") segment.tokens += rendered
}

/** A failed response is not sent, except an aborted one that had produced more than reasoning. */
function isSent({ info, parts }: Message): boolean {
  const { error } = info
  if (info.role !== "assistant" || !error) return true
  if (!isRecord(error) || error["name"] !== "MessageAbortedError") return false
  return parts.some(({ type }) => type !== "step-start" && type !== "reasoning")
}

/** Parts from one `step-start` to the next; the whole message where there is no marker or the role has no steps. */
function splitSteps({ info, parts }: Message): (readonly Part[])[] {
  const steps: (readonly Part[])[] = []
  let start = 0
  for (let index = 1; index < parts.length; index++) {
    if (info.role !== "assistant" || parts[index]!.type !== "step-start") continue
    steps.push(parts.slice(start, index))
    start = index
  }
  steps.push(start === 0 ? parts : parts.slice(start))
  return steps
}

/** Each step of a non-summary assistant message was one model call, and so was a message that failed before any step. */
function startsRequests(info: MessageInfo, windowStart: number): boolean {
  return info.role === "assistant" && info["summary"] !== true && createdAt(info) >= windowStart
}

/** When the newest completed compaction was summarised; a retained tail is older, wherever it stands in the array. */
function findWindowStart(messages: readonly Message[]): number {
  const summaries = messages.filter(({ info }) => info["summary"] === true && info["finish"] && !info["error"])
  return summaries.reduce((latest, { info }) => Math.max(latest, createdAt(info)), 0)
}

function describeContext({ info, parts }: Message, { model, estimateMedia = false }: ReadOptions): MessageContext {
  const sameModel = !model || (info["providerID"] === model.providerID && info["modelID"] === model.modelID)
  return { model, estimateMedia, sameModel, isSigned: () => parts.some(isSignedReasoning) }
}

/** The host adds reminders in memory and drops them later. */
function isReminder({ synthetic, text }: Part): boolean {
  return synthetic === true && typeof text === "string" && text.startsWith(REMINDER_START)
}

function isPruneRequest({ tool, facts }: ToolOutput): boolean {
  return tool === PRUNE_TOOL && facts.sent && facts.outcome === "completed"
}

function isSignedReasoning({ type, metadata }: Part): boolean {
  if (type !== "reasoning" || !isRecord(metadata) || !isRecord(metadata["anthropic"])) return false
  return (metadata["anthropic"]["signature"] ?? undefined) !== undefined
}

/** The least that every reading needs: an `info` object and a list of typed parts. */
export function isMessage(message: unknown): message is Message {
  if (!isRecord(message) || !isRecord(message["info"]) || !Array.isArray(message["parts"])) return false
  return message["parts"].every((part) => isRecord(part) && typeof part["type"] === "string")
}

function isOrdinaryUser({ info, parts }: Message): boolean {
  return info.role === "user" && !(parts.length > 0 && parts.every(({ type }) => type === "compaction"))
}

function byCreation(left: Message, right: Message): number {
  return createdAt(left.info) - createdAt(right.info) || (readName(left.info.id) < readName(right.info.id) ? -1 : 1)
}

/** Milliseconds; 0 when the message has no usable time. */
function createdAt({ time }: MessageInfo): number {
  return isRecord(time) && typeof time["created"] === "number" && time["created"] > 0 ? time["created"] : 0
}

function laterTime(latest: number, time: unknown): number {
  return typeof time === "number" && Number.isSafeInteger(time) && time > latest ? time : latest
}
