import type { Policy, Segment } from "./types.ts"

export interface RecentProtection {
  /** Segments from this index on are protected. */
  fromSegment: number
  /** How many tool steps that covers. */
  toolSteps: number
}

/**
 * Walks the steps from the newest and protects whole steps until both minimums are met: `protectRecentSteps` steps with
 * a tool part on the wire, and `protectRecentTokens` tokens of everything that steps send. One huge step is protected
 * even when the request stays over budget; the budget never lowers protection.
 */
export function findRecentProtection(segments: readonly Segment[], policy: Policy): RecentProtection {
  let toolSteps = 0
  let tokens = 0
  let fromSegment = segments.length
  while (fromSegment > 0 && (toolSteps < policy.protectRecentSteps || tokens < policy.protectRecentTokens)) {
    const segment = segments[--fromSegment]
    if (segment?.kind !== "step") continue
    tokens += segment.tokens
    if (segment.sendsTool) toolSteps++
  }
  return { fromSegment, toolSteps }
}
