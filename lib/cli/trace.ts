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
  const places = findAnswers(messages)
  const { cleared, stats } = projectMessages(messages, options)
  let before = 0
  let saved = 0
  let unknown = 0
  const traces: RequestTrace[] = []
  for (const [position, segment] of history.segments.entries()) {
    if (segment.requestedAt !== undefined) {
      const index = traces.length
      const chosen = cleared.filter(({ requestIndex }) => requestIndex === index)
      saved += chosen.reduce((sum, { savedTokens }) => sum + savedTokens, 0)
      const sent = before + findHidden(history, position, segment.requestedAt)
      traces.push({
        index,
        requestedAt: segment.requestedAt,
        messageIndex: places[position] ?? 0,
        beforeTokens: unknown > 0 ? undefined : Math.ceil(sent),
        afterTokens: unknown > 0 ? undefined : Math.ceil(sent - saved),
        targetTokens: stats.targetTokens,
        chosen,
        ...(unknown > 0 && { skipped: "unknown-content" as const }),
      })
    }
    before += segment.tokens
    if (segment.unknownSize) unknown++
  }
  return traces
}

/** What stored marks of a later time did not hide yet. */
function findHidden({ outputs }: History, segmentEnd: number, requestedAt: number): number {
  const seen = outputs.filter(({ segment, markedAt }) => segment < segmentEnd && (markedAt ?? 0) > requestedAt)
  return seen.reduce((sum, { savingsTokens }) => sum + savingsTokens, 0)
}

/** The message of each segment: one per message, and one more per later step of an assistant message. */
function findAnswers(messages: readonly Message[]): number[] {
  return messages.flatMap(({ info, parts }, index) => {
    const later = parts.filter(({ type }, position) => type === "step-start" && position > 0)
    return info.role === "assistant" ? [index, ...later.map(() => index)] : [index]
  })
}
