import { projectMessages } from "../dtc/engine.ts"
import { replayRequests, type ReplayedRequest } from "../dtc/replay.ts"
import type { ClearReason, History, Message, ProjectOptions, ToolOutput } from "../dtc/types.ts"

/** What the engine decides for one request of a window, the plugin having been there from its start. */
export interface RequestTrace {
  /** Index into `History.segments`: the request sends everything before it, and its answer is that one. */
  segmentEnd: number
  /** When it was made, in milliseconds. */
  requestedAt: number
  /** The message that answered it, as an index into the window's messages, and which of its steps. */
  messageIndex: number
  step: number
  /** Tokens with nothing cleared but what the host had; `undefined` when something cannot be sized. */
  beforeTokens: number | undefined
  afterTokens: number | undefined
  /** What the provider said that the request as it was really sent held. */
  reportedTokens: number | undefined
  targetTokens: number
  /** What this request is the first to be sent without; all that it is sent without where the prefix is not stable. */
  chosen: readonly ChosenOutput[]
}

export interface ChosenOutput {
  output: ToolOutput
  reason: ClearReason
  /** Redundant outputs only. */
  witnessCallID?: string
  savedTokens: number
}

/** Each past request of one window, in order. The next one, which nothing has answered yet, is not among them. */
export function traceRequests(messages: readonly Message[], history: History, options: ProjectOptions): RequestTrace[] {
  const decide = options.policy.stablePrefix ? decideOnce(history, options) : decideAnew(messages, history, options)
  return findRequests(messages, history).map((request, index) => {
    const { segmentEnd, requestedAt, messageIndex, step } = request
    const reportedTokens = history.segments[segmentEnd]?.report?.promptTokens
    return { segmentEnd, requestedAt, messageIndex, step, reportedTokens, ...decide(request, index) }
  })
}

interface PastRequest {
  segmentEnd: number
  requestedAt: number
  messageIndex: number
  step: number
  /** It sends the messages before `messageIndex`, and this many parts of that one. */
  partEnd: number
}

function findRequests(messages: readonly Message[], { segments }: History): PastRequest[] {
  const places = messages.flatMap(({ info, parts }, messageIndex) =>
    [0, ...parts.flatMap(({ type }, index) => (type === "step-start" && index > 0 ? [index] : []))]
      .slice(0, info.role === "assistant" ? undefined : 1)
      .map((partEnd, step) => ({ messageIndex, partEnd, step })),
  )
  return segments.flatMap(({ requestedAt }, segmentEnd) => {
    const place = places[segmentEnd]
    return requestedAt === undefined || !place ? [] : [{ ...place, segmentEnd, requestedAt }]
  })
}

type Decision = Pick<RequestTrace, "beforeTokens" | "afterTokens" | "targetTokens" | "chosen">

/** With a stable prefix one replay tells of all requests. */
function decideOnce(
  history: History,
  { policy, inputBudget }: ProjectOptions,
): (of: PastRequest, index: number) => Decision {
  const replayed: ReplayedRequest[] = []
  const observe = (request: ReplayedRequest) => void replayed.push(request)
  const { cleared } = replayRequests(history, { policy, budgetTokens: inputBudget, force: false, observe })
  const savings = new Map(cleared.map(({ output, savedTokens }) => [output, savedTokens]))
  return (_request, index) => {
    const { tokens, clearedTokens = 0, targetTokens = 0, chosen = [] } = replayed[index] ?? {}
    return {
      beforeTokens: roundUp(tokens, clearedTokens),
      afterTokens: roundUp(tokens),
      targetTokens,
      chosen: chosen.map(({ output, reason, witness }) => ({
        output,
        reason,
        savedTokens: Math.floor(savings.get(output) ?? output.savingsTokens),
        ...(witness && { witnessCallID: witness.callID }),
      })),
    }
  }
}

/** Without one, each request is a projection of its own. */
function decideAnew(
  messages: readonly Message[],
  { outputs }: History,
  options: ProjectOptions,
): (request: PastRequest) => Decision {
  const byPlace = new Map(outputs.map((output) => [placeOf(output), output]))
  return ({ messageIndex, partEnd }) => {
    const { cleared, stats } = projectMessages(cutMessages(messages, messageIndex, partEnd), options)
    return {
      beforeTokens: stats.estimatedBefore,
      afterTokens: stats.estimatedAfter,
      targetTokens: stats.targetTokens,
      chosen: cleared.flatMap(({ reason, savedTokens, witnessCallID, ...place }) => {
        const output = byPlace.get(placeOf(place))
        return output ? [{ output, reason, savedTokens, ...(witnessCallID !== undefined && { witnessCallID }) }] : []
      }),
    }
  }
}

function cutMessages(messages: readonly Message[], messageIndex: number, partEnd: number): Message[] {
  const sent = messages.slice(0, messageIndex)
  const cut = messages[messageIndex]
  if (cut && partEnd > 0) sent.push({ info: cut.info, parts: cut.parts.slice(0, partEnd) })
  return sent
}

/** Ids of parts alone may repeat in a foreign export. */
function placeOf({ messageIndex, partID }: { messageIndex: number; partID: string }): string {
  return `${messageIndex} ${partID}`
}

function roundUp(tokens: number | undefined, more = 0): number | undefined {
  return tokens === undefined ? undefined : Math.ceil(tokens + more)
}
