import { fieldOf, isName, isRecord } from "./plain.ts"
import { movesMedia } from "./wire-media.ts"
import { isCleared } from "./wire-outputs.ts"
import { isFamiliar, type MessageContext } from "./wire-parts.ts"
import type { Rendered } from "./wire-texts.ts"
import type { Message, Model, Origin, Part, ToolOutput } from "./types.ts"

/** One step of a message, or a whole user message, as `readHistory` has read it. */
export interface StepParts {
  message: Message
  messageIndex: number
  step: number
  parts: readonly Part[]
  /** What each part costs, in the order of the parts. */
  rendered: readonly Rendered[]
  /** Of the tool parts, in their order. */
  outputs: readonly ToolOutput[]
  /** The message reaches the model. */
  sent: boolean
  context: MessageContext
}

/** Which messages of the AI SDK the host makes of one step. What renders as nothing sends nothing. */
export function describeOrigin(reading: StepParts): Origin {
  const { message, messageIndex, step, parts, sent, context } = reading
  const { info } = message
  const kind = findKind(message)
  const { answers, answersInside } = sent ? findAnswers(reading) : NO_ANSWERS
  const origin: Origin = {
    kind,
    messageIndex,
    messageID: info.id,
    sends: sent && sendsMessage(reading),
    movesMedia: sent && findCertainty(parts, (part) => movesPartMedia(part, context.model)),
    answers,
    answersInside,
    isUnfinished: info.role === "assistant" && !info["error"] && !isCompleted(info["time"]),
  }
  if (info.role === "assistant") origin.step = step
  if (kind === "checkpoint") origin.summarizedBefore = findRetainedStart(message)
  if (kind === "summary" && typeof info["parentID"] === "string") origin.checkpointID = info["parentID"]
  return origin
}

function findKind({ info, parts }: Message): Origin["kind"] {
  if (info.role === "assistant") return info["summary"] === true ? "summary" : "step"
  if (parts.some(({ type }) => type === "compaction")) return "checkpoint"
  return parts.length > 0 && parts.every(isAddedText) ? "added" : "prompt"
}

/** The host marks what it writes into a user message; a text that is not sent was written by nobody. */
function isAddedText({ type, synthetic, ignored, text }: Part): boolean {
  return type === "text" && (synthetic === true || Boolean(ignored) || text === "")
}

/** Without a retained tail the summary stands for everything before its own request. */
function findRetainedStart({ info, parts }: Message): string {
  const tail = parts.find(({ type }) => type === "compaction")?.["tail_start_id"]
  return typeof tail === "string" ? tail : info.id
}

function isCompleted(time: unknown): boolean {
  return typeof fieldOf(time, "completed") === "number"
}

/** `undefined`: it cannot be told. */
type Certainty = boolean | undefined

function sendsMessage({ message, parts, rendered, context }: StepParts): Certainty {
  const { role } = message.info
  if (parts.some((part) => part.type === "tool" && !isNamedCall(role, part))) return undefined
  return findCertainty(parts, (part, index) => {
    if (rendered[index] === "nothing" && !isEmptyText(role, part)) return false
    if (!isFamiliar(role, part)) return undefined
    return role === "user" || holdsPlace(part, context)
  })
}

/** Whether it holds for some part: true for one that is certain, else uncertain for one that is. */
function findCertainty(parts: readonly Part[], holds: (part: Part, index: number) => Certainty): Certainty {
  let certainty: Certainty = false
  for (let index = 0; index < parts.length; index++) {
    const found = holds(parts[index]!, index)
    if (found) return true
    if (found === undefined) certainty = undefined
  }
  return certainty
}

function isNamedCall(role: string, part: Part): boolean {
  return isFamiliar(role, part) && isName(part["callID"])
}

function isEmptyText(role: string, { type, text }: Part): boolean {
  return role === "assistant" && type === "text" && text === ""
}

interface EmptyRule {
  /** Whether reasoning of the request's own model stays. */
  keepsReasoning: (part: Part, model: Model) => boolean
}

/**
 * For which AI SDK packages the host drops an empty text, and reasoning that the rule does not keep, and a message that holds
 * nothing else. With the others such a message is sent empty. From the 1.18.33 binary.
 */
const DROPS_EMPTY: Readonly<Record<string, EmptyRule>> = {
  "@ai-sdk/anthropic": {
    keepsReasoning: ({ text, metadata }) =>
      !isBlank(text) || hasAny(fieldOf(metadata, "anthropic"), ["signature", "redactedData"]),
  },
  "@ai-sdk/amazon-bedrock": {
    keepsReasoning: ({ metadata }, { providerID }) => {
      const options = fieldOf(metadata, providerID) ?? fieldOf(metadata, "bedrock")
      return hasAny(options, ["signature", "redactedContent", "redactedData"])
    },
  },
}

/** Whether the part keeps its step's message from being empty, or an empty message is sent. */
function holdsPlace(part: Part, { model, sameModel, isSigned }: MessageContext): Certainty {
  if (part.type === "text") return part["text"] !== "" || isSigned() || sendsEmpty(model)
  if (part.type !== "reasoning" || !sameModel) return true
  const rule = findEmptyRule(model)
  return rule && model ? rule.keepsReasoning(part, model) : !isBlank(part["text"]) || sendsEmpty(model)
}

/** `undefined` when the provider family is unknown. */
function sendsEmpty(model: Model | undefined): Certainty {
  return model?.npm === undefined ? undefined : findEmptyRule(model) === undefined
}

function findEmptyRule(model: Model | undefined): EmptyRule | undefined {
  const npm = model?.npm ?? ""
  return Object.hasOwn(DROPS_EMPTY, npm) ? DROPS_EMPTY[npm] : undefined
}

function isBlank(text: unknown): boolean {
  return typeof text === "string" && text.trim() === ""
}

function hasAny(options: unknown, fields: readonly string[]): boolean {
  return fields.some((field) => (fieldOf(options, field) ?? undefined) !== undefined)
}

type Answers = Pick<Origin, "answers" | "answersInside">

const NO_ANSWERS: Answers = { answers: [], answersInside: [] }

/** The result of a tool that the provider ran stands beside its call. */
function findAnswers({ parts, outputs }: StepParts): Answers {
  if (outputs.length === 0) return NO_ANSWERS
  if (!parts.some(isProviderExecuted)) return { answers: outputs, answersInside: [] }
  const tools = parts.filter(({ type }) => type === "tool")
  const isInside = (_output: ToolOutput, index: number): boolean => isProviderExecuted(tools[index])
  return {
    answers: outputs.filter((output, index) => !isInside(output, index)),
    answersInside: outputs.filter(isInside),
  }
}

function isProviderExecuted(part: Part | undefined): boolean {
  return Boolean(fieldOf(part?.["metadata"], "providerExecuted"))
}

function movesPartMedia({ type, state }: Part, model: Model | undefined): Certainty {
  if (type !== "tool" || !isRecord(state) || state["status"] !== "completed" || isCleared(state)) return false
  return movesMedia(state["attachments"], model)
}
