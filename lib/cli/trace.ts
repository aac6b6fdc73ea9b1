import { projectMessages, type ClearedOutput, type Message, type History, type ProjectOptions } from "../dtc/engine.ts"
import { readHistory } from "../dtc/wire.ts"

/** What the engine decides for one request of a window, the plugin having been there from its start. */
export interface RequestTrace {
  /** Counted from 0 within the window. */
  index: number
  /** When it was made, in milliseconds. */
  requestedAt: number
  /** The message that answered it, as an index into the window's messages. */
  messageIndex: number
  /** Tokens with nothing cleared but what the host had; `undefined` when something cannot be sized. */
  beforeTokens: number | undefined
  afterTokens: number | undefined
  /** What the provider said that the request as it was really sent held. */
  reportedTokens?: number
  targetTokens: number
  /** What this request is the first to be sent without; all that it is sent without where the prefix is not stable. */
  chosen: readonly ClearedOutput[]
  skipped?: "invalid-budget" | "unknown-content"
}

/** Each past request of one window, in order. The next one, which nothing has answered yet, is not among them. */
export function traceRequests(messages: readonly Message[], options: ProjectOptions): RequestTrace[] {
  const { model, policy } = options
  const history = readHistory(messages, { model, estimateMedia: policy.estimateMedia })
  if (!history) return []
  const requests = findRequests(history, messages)
  const chosen = policy.stablePrefix ? chooseOnce(messages, options) : chooseAnew(messages, options, requests)
  const { targetTokens } = projectMessages([], options).stats
  const savingsOf = new Map(history.outputs.map((output) => [placeOf(output), output.savingsTokens]))
  let saved = 0
  return requests.map(({ segmentEnd, messageIndex, requestedAt }, index) => {
    const own = chosen(index)
    const savings = own.reduce((sum, output) => sum + (savingsOf.get(placeOf(output)) ?? 0), 0)
    saved = policy.stablePrefix ? saved + savings : savings
    const tokens = estimateSent(history, segmentEnd, requestedAt)
    return {
      index,
      requestedAt,
      messageIndex,
      beforeTokens: tokens === undefined ? undefined : Math.ceil(tokens),
      afterTokens: tokens === undefined ? undefined : Math.ceil(tokens - saved),
      targetTokens,
      chosen: own,
      ...(tokens === undefined && { skipped: "unknown-content" as const }),
    }
  })
}

interface PastRequest {
  segmentEnd: number
  messageIndex: number
  /** It sends the messages before `messageIndex`, and this many parts of that one. */
  partEnd: number
  requestedAt: number
}

function findRequests({ segments }: History, messages: readonly Message[]): PastRequest[] {
  const places = messages.flatMap(({ info, parts }, messageIndex) =>
    [0, ...parts.flatMap(({ type }, index) => (type === "step-start" && index > 0 ? [index] : []))]
      .slice(0, info.role === "assistant" ? undefined : 1)
      .map((partEnd) => ({ messageIndex, partEnd })),
  )
  return segments.flatMap(({ requestedAt }, segmentEnd) => {
    const place = places[segmentEnd]
    return requestedAt === undefined || !place ? [] : [{ ...place, segmentEnd, requestedAt }]
  })
}

type FindChosen = (index: number) => readonly ClearedOutput[]

/** With a stable prefix the last projection still knows which request chose what. */
function chooseOnce(messages: readonly Message[], options: ProjectOptions): FindChosen {
  const { cleared } = projectMessages(messages, options)
  return (index) => cleared.filter(({ requestIndex }) => requestIndex === index)
}

/** Without one, each request is a projection of its own. */
function chooseAnew(
  messages: readonly Message[],
  options: ProjectOptions,
  requests: readonly PastRequest[],
): FindChosen {
  const chosen = requests.map(({ messageIndex, partEnd }) => {
    const prefix = messages.slice(0, messageIndex)
    const cut = messages[messageIndex]
    if (cut && partEnd > 0) prefix.push({ info: cut.info, parts: cut.parts.slice(0, partEnd) })
    return projectMessages(prefix, options).cleared
  })
  return (index) => chosen[index] ?? []
}

function estimateSent(history: History, segmentEnd: number, requestedAt: number): number | undefined {
  const sent = history.segments.slice(0, segmentEnd)
  if (sent.some(({ unknownSize }) => unknownSize)) return undefined
  return sent.reduce((sum, { tokens }) => sum + tokens, 0) + findHidden(history, segmentEnd, requestedAt)
}

/** What stored marks of a later time did not hide yet. */
function findHidden({ outputs }: History, segmentEnd: number, requestedAt: number): number {
  const seen = outputs.filter(({ segment, markedAt }) => segment < segmentEnd && (markedAt ?? 0) > requestedAt)
  return seen.reduce((sum, { savingsTokens }) => sum + savingsTokens, 0)
}

/** Names one output of a window: ids of parts alone may repeat in a foreign export. */
export function placeOf({ messageIndex, partID }: { messageIndex: number; partID: string }): string {
  return `${messageIndex} ${partID}`
}
