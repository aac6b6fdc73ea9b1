import type { Message, Part, Segment } from "../../lib/dtc/types.ts"
import { createdAtMs, findWindowStartMs } from "../../lib/cli/windows.ts"
import type { WindowOutput } from "./window.ts"

/** One model call: what it sent is everything before it. */
export interface WindowRequest {
  index: number
  timeMs: number
  /** It sends the messages before this one… */
  messageEnd: number
  /** …and this many parts of it. */
  partEnd: number
  segmentEnd: number
  outputEnd: number
  /** Something in it cannot be sized. */
  unknownSize: boolean
  /** User messages newer than the previous request stand directly before it. */
  startsTurn: boolean
  /** Outputs that the host had cleared by then. */
  hostCleared: ReadonlySet<number>
  /** Since the previous request of the window began; 0 for the first. */
  idleMs: number
  /** The cache holds nothing of its prefix: `idleMs` is above five minutes, or the host has just cleared outputs. */
  cold: boolean
  /** Distinct paths that the calls of its response name. */
  namedPaths: readonly string[]
}

/** How long providers keep a cached prefix that is not used. */
export const CACHE_TTL_MS = 300_000

/** Each step of a non-summary assistant message since the window's start was one request, a message without steps too. */
export function findRequests(
  messages: readonly Message[],
  segments: readonly Segment[],
  outputs: readonly WindowOutput[],
): WindowRequest[] {
  const startMs = findWindowStartMs(messages)
  const requests: WindowRequest[] = []
  let segmentEnd = 0
  let lastRole = ""
  for (const [messageEnd, { info, parts }] of messages.entries()) {
    const cuts = findStepStarts(info.role, parts)
    for (const partEnd of cuts) {
      if (info.role === "assistant" && info["summary"] !== true && createdAtMs(info) >= startMs) {
        const timeMs = createdAtMs(info)
        const hostCleared = findHostCleared(outputs, segmentEnd, timeMs)
        const previous = requests.at(-1)
        const idleMs = previous ? timeMs - previous.timeMs : 0
        requests.push({
          index: requests.length,
          timeMs,
          messageEnd,
          partEnd,
          segmentEnd,
          outputEnd: countBefore(outputs, segmentEnd),
          unknownSize: segments.slice(0, segmentEnd).some(({ unknownSize }) => unknownSize),
          startsTurn: lastRole === "user" && partEnd === 0,
          hostCleared,
          idleMs,
          cold: idleMs > CACHE_TTL_MS || hostCleared.size > (previous?.hostCleared.size ?? 0),
          namedPaths: findPathsOfStep(outputs, segmentEnd),
        })
      }
      segmentEnd++
    }
    lastRole = info.role
  }
  return requests
}

function findStepStarts(role: string, parts: readonly Part[]): number[] {
  if (role !== "assistant") return [0]
  return [0, ...parts.flatMap(({ type }, index) => (type === "step-start" && index > 0 ? [index] : []))]
}

function countBefore(outputs: readonly WindowOutput[], segmentEnd: number): number {
  const found = outputs.findIndex(({ output }) => output.segment >= segmentEnd)
  return found < 0 ? outputs.length : found
}

function findHostCleared(outputs: readonly WindowOutput[], segmentEnd: number, timeMs: number): ReadonlySet<number> {
  const cleared = outputs.filter(({ output, markedAtMs }) => output.segment < segmentEnd && markedAtMs <= timeMs)
  return new Set(cleared.map(({ index }) => index))
}

function findPathsOfStep(outputs: readonly WindowOutput[], segment: number): string[] {
  return [...new Set(outputs.filter(({ output }) => output.segment === segment).flatMap(({ paths }) => paths))]
}
