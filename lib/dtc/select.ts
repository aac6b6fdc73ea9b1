import type { ClearReason, ToolOutput } from "./types.ts"

export interface Selection {
  output: ToolOutput
  reason: ClearReason
  /** Redundant outputs only. */
  witness?: ToolOutput | undefined
}

/** How much too large a request is, in tokens of the base estimate, as savings are. */
export interface Pressure {
  /** Above the target. */
  excessTokens: number
  /** Above the whole budget; negative inside it. */
  overflowTokens: number
  /** What a batch frees at least. */
  leastTokens: number
}

/**
 * Chosen by `npm run bench:replay` (docs/decisions/2026-11-30-stable-prefix.md), as multiples of the least that a batch
 * frees: how far below the target a batch goes, and what redundant outputs must free to be cleared alone.
 */
const BATCH_DEPTH = 1.5
const RELIEF_SHARE = 1 / 6

/**
 * What to clear for one request over its target, of candidates that come oldest first. Redundant outputs alone when they
 * suffice; otherwise a batch, redundant ones first, then the others, each oldest first, which may take a last copy. A batch
 * that frees too little waits, unless the request exceeds the whole budget and the batch brings it back inside.
 */
export function planBatch(candidates: readonly Selection[], pressure: Pressure): Selection[] {
  const { excessTokens, overflowTokens, leastTokens } = pressure
  const relief = takeUntil(candidates.filter(isRedundant), excessTokens)
  const reliefTokens = sumSavings(relief)
  if (reliefTokens >= excessTokens && reliefTokens >= leastTokens * RELIEF_SHARE) return relief

  const batch = takeUntil(orderByWorth(candidates), excessTokens + leastTokens * BATCH_DEPTH)
  const batchTokens = sumSavings(batch)
  const bringsInside = overflowTokens > 0 && batchTokens >= overflowTokens
  return batchTokens >= leastTokens || bringsInside ? batch : []
}

/** Whether candidates that free so many tokens in all may make a batch. Most requests that wait are answered by this alone. */
export function mayFree(tokens: number, { excessTokens, overflowTokens, leastTokens }: Pressure): boolean {
  const suffices = tokens >= excessTokens && tokens >= leastTokens * RELIEF_SHARE
  const bringsInside = overflowTokens > 0 && tokens >= overflowTokens
  return suffices || tokens >= leastTokens || bringsInside
}

/** Redundant ones first; within both, the order that was given. */
export function orderByWorth(candidates: readonly Selection[]): Selection[] {
  return [...candidates.filter(isRedundant), ...candidates.filter((candidate) => !isRedundant(candidate))]
}

function isRedundant({ reason }: Selection): boolean {
  return reason === "redundant"
}

export function sumSavings(selections: readonly Selection[]): number {
  return selections.reduce((sum, { output }) => sum + output.savingsTokens, 0)
}

/** The first selections that together save so much, or all of them. */
function takeUntil(selections: readonly Selection[], savings: number): Selection[] {
  let missing = savings
  const last = selections.findIndex(({ output }) => (missing -= output.savingsTokens) <= 0)
  return last < 0 ? [...selections] : selections.slice(0, last + 1)
}
