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
  /** Nothing of the window has been cleared yet. */
  isFirst: boolean
}

/**
 * Chosen by `npm run bench:replay` (docs/decisions/2026-11-30-stable-prefix.md), as multiples of the least that a batch
 * frees: how far below the target a batch goes, and what redundant outputs must free to be a window's first clear alone.
 */
const BATCH_DEPTH = 1.5
const FIRST_RELIEF_SHARE = 1 / 6

/**
 * What to clear for one request over its target, of candidates that come oldest first. Redundant outputs alone when they
 * suffice, which after the window's first clear have to be worth a batch, or they would change the prefix again and again;
 * otherwise a batch, redundant ones first, then the others, each oldest first, which may take a last copy. A batch
 * that frees too little waits, unless the request exceeds the whole budget and the batch brings it back inside.
 */
export function planBatch(candidates: readonly Selection[], pressure: Pressure): Selection[] {
  const { excessTokens, overflowTokens, leastTokens, isFirst } = pressure
  const depthTokens = excessTokens + leastTokens * BATCH_DEPTH
  const relief = takeUntil(candidates.filter(isRedundant), isFirst ? excessTokens : depthTokens)
  if (sumSavings(relief) >= findLeastRelief(pressure)) return relief

  const batch = takeUntil(orderByWorth(candidates), depthTokens)
  const batchTokens = sumSavings(batch)
  const bringsInside = overflowTokens > 0 && batchTokens >= overflowTokens
  return batchTokens >= leastTokens || bringsInside ? batch : []
}

/** Whether candidates that free so many tokens in all may make a batch. Most requests that wait are answered by this alone. */
export function mayFree(tokens: number, pressure: Pressure): boolean {
  const { overflowTokens, leastTokens } = pressure
  const bringsInside = overflowTokens > 0 && tokens >= overflowTokens
  return tokens >= Math.min(leastTokens, findLeastRelief(pressure)) || bringsInside
}

function findLeastRelief({ excessTokens, leastTokens, isFirst }: Pressure): number {
  return Math.max(excessTokens, isFirst ? leastTokens * FIRST_RELIEF_SHARE : leastTokens)
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
