import type { ClearReason, History, ToolOutput } from "../dtc/types.ts"
import type { SentRequest } from "./cost.ts"
import { placeOf, type RequestTrace } from "./trace.ts"

/** A request with what it is sent without, by this plugin and by the marks that the host had stored by then. */
export interface FollowedRequest extends SentRequest {
  hostCleared: ReadonlySet<ToolOutput>
  batch: readonly ChosenOutput[]
}

export interface ChosenOutput {
  output: ToolOutput
  reason: ClearReason
  /** Redundant outputs only. */
  witnessCallID?: string
  savedTokens: number
}

/** `carries`: what a request chose stays cleared for the window's later ones. A set that stays the same is the same set. */
export function followRequests(history: History, traces: readonly RequestTrace[], carries: boolean): FollowedRequest[] {
  const ends = history.segments.flatMap(({ requestedAt }, index) => (requestedAt === undefined ? [] : [index]))
  const findChosen = indexOutputs(history)
  const marked = history.outputs.filter(({ markedAt }) => markedAt !== undefined)
  let own: ReadonlySet<ToolOutput> = new Set()
  let hostCleared: ReadonlySet<ToolOutput> = new Set()
  let cleared: ReadonlySet<ToolOutput> = new Set()
  return traces.map((trace, index) => {
    const segmentEnd = ends[index] ?? history.segments.length
    const batch = trace.chosen.flatMap(findChosen)
    const hidden = marked.filter(({ segment, markedAt = 0 }) => segment < segmentEnd && markedAt <= trace.requestedAt)
    const [ownBefore, hostBefore] = [own, hostCleared]
    if (batch.length > 0 || !carries) own = new Set([...(carries ? own : []), ...batch.map(({ output }) => output)])
    if (hidden.length !== hostCleared.size) hostCleared = new Set(hidden)
    if (own !== ownBefore || hostCleared !== hostBefore) cleared = new Set([...own, ...hostCleared])
    return { segmentEnd, cleared, hostCleared, batch }
  })
}

function indexOutputs({ outputs }: History): (chosen: RequestTrace["chosen"][number]) => ChosenOutput[] {
  const byPlace = new Map(outputs.map((output) => [placeOf(output), output]))
  return (chosen) => {
    const output = byPlace.get(placeOf(chosen))
    const { reason, witnessCallID, savedTokens } = chosen
    if (!output) return []
    return [{ output, reason, savedTokens, ...(witnessCallID !== undefined && { witnessCallID }) }]
  }
}
