import assert from "node:assert/strict"
import { projectMessages } from "../../lib/dtc/engine.ts"
import type { Message, Part, ProjectOptions } from "../../lib/dtc/types.ts"
import { cutAtRequests, windowOf } from "./growth.ts"

/** How much a growing history showed. */
export interface GrowthSeen {
  compared: number
  carried: number
}

/**
 * Law 7: projects a history as each of its requests saw it, and holds that nothing is un-cleared, nor cleared for another
 * reason, from one request to the next of the same window. What the law excepts is taken out first: stored marks, which would
 * have come between two requests, and sizes that a message has only at its end.
 */
export function checkGrowth(messages: readonly Message[], options: ProjectOptions): GrowthSeen {
  const seen = { compared: 0, carried: 0 }
  const fixed = { ...options, force: false, policy: { ...options.policy, stablePrefix: true } }
  let earlier: { window: string; cleared: unknown[] } | undefined
  for (const view of cutAtRequests(messages.map(withoutLateFields))) {
    const later = { window: windowOf(view), cleared: projectMessages(view, fixed).cleared }
    if (earlier?.window === later.window) {
      seen.compared++
      seen.carried += Math.min(1, earlier.cleared.length)
      assert.deepStrictEqual(later.cleared.slice(0, earlier.cleared.length), earlier.cleared, "law 7: un-cleared")
    }
    earlier = later
  }
  return seen
}

function withoutLateFields({ info, parts }: Message): Message {
  const { tokens: _reported, ...kept } = info
  return { info: kept, parts: parts.filter((part) => !isMarked(part)) }
}

function isMarked({ state }: Part): boolean {
  return Boolean((state as { time?: { compacted?: unknown } } | undefined)?.time?.compacted)
}
