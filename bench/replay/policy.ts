import type { Policy } from "../../lib/dtc/types.ts"
import { sumSavings, type ReplayWindow } from "./window.ts"
import type { WindowRequest } from "./requests.ts"

/** What the requests of one window may cost. */
export interface Limits {
  /** Above it, a policy with a trigger clears. */
  targetTokens: number
  /** What the model accepts. */
  budgetTokens: number
}

/** One request as a policy sees it. */
export interface RequestView {
  window: ReplayWindow
  request: WindowRequest
  limits: Limits
  /** The engine's settings, for the policies that follow its eligibility and protection. */
  settings: Policy
}

/**
 * A way to clear. `decide` answers which outputs (indices into `window.outputs`) this request leaves out, given those
 * that the previous request of the window left out; the host's own marks are added by the replay.
 */
export interface ClearingPolicy {
  name: string
  /** One line: where it comes from and what is approximated. */
  description: string
  decide(view: RequestView, previous: ReadonlySet<number>): ReadonlySet<number>
}

export type CarriedRule = (view: RequestView, previous: ReadonlySet<number>) => Iterable<number>

/** A policy that never takes back: the rule only adds to what is cleared. */
export function carryForward(rule: CarriedRule): ClearingPolicy["decide"] {
  return (view, previous) => {
    const added = [...rule(view, previous)].filter((index) => !previous.has(index))
    return added.length === 0 ? previous : new Set([...previous, ...added])
  }
}

/** Tokens of the request with these outputs cleared, and those that the host had cleared. */
export function sentTokens({ window, request }: RequestView, cleared: ReadonlySet<number>): number {
  const all = request.hostCleared.size === 0 ? cleared : new Set([...cleared, ...request.hostCleared])
  return (window.segmentStartTokens[request.segmentEnd] ?? 0) - sumSavings(window.outputs, all)
}

/** Nothing is ever cleared. */
export const NONE: ClearingPolicy = {
  name: "none",
  description: "never clears",
  decide: (_view, previous) => previous,
}
