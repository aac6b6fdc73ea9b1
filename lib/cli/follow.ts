import type { History, ToolOutput } from "../dtc/types.ts"
import type { SentRequest } from "./cost.ts"
import type { RequestTrace } from "./trace.ts"

/** A request with what it is sent without, by this plugin and by the marks that the host had stored by then. */
export interface FollowedRequest extends RequestTrace, SentRequest {
  hostCleared: ReadonlySet<ToolOutput>
}

/** `carries`: what a request chose stays cleared for the window's later ones. A set that stays the same is the same set. */
export function followRequests(history: History, traces: readonly RequestTrace[], carries: boolean): FollowedRequest[] {
  const marked = history.outputs.filter(({ markedAt }) => markedAt !== undefined)
  let own: ReadonlySet<ToolOutput> = new Set()
  let hostCleared: ReadonlySet<ToolOutput> = new Set()
  let cleared: ReadonlySet<ToolOutput> = new Set()
  return traces.map((trace) => {
    const { segmentEnd, requestedAt, chosen } = trace
    const hidden = marked.filter(({ segment, markedAt = 0 }) => segment < segmentEnd && markedAt <= requestedAt)
    const [ownBefore, hostBefore] = [own, hostCleared]
    if (chosen.length > 0 || !carries) own = new Set([...(carries ? own : []), ...chosen.map(({ output }) => output)])
    if (hidden.length !== hostCleared.size) hostCleared = new Set(hidden)
    if (own !== ownBefore || hostCleared !== hostBefore)
      cleared = hostCleared.size > 0 ? new Set([...own, ...hostCleared]) : own
    return { ...trace, cleared, hostCleared }
  })
}
