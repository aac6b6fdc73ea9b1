import type { Measure } from "./measure.ts"

/** Prices of input tokens with a prompt cache, relative to uncached input. */
export interface PriceRow {
  write: number
  read: number
}

/** Anthropic with five-minute entries, the same with a deeper discount, free writes, and a half-price cache. */
export const PRICE_ROWS: readonly PriceRow[] = [
  { write: 1.25, read: 0.1 },
  { write: 1.25, read: 0.05 },
  { write: 1, read: 0.1 },
  { write: 1, read: 0.5 },
]

export function describePrice({ write, read }: PriceRow): string {
  return `${write}/${read}`
}

export function inputCost({ cachedTokens, writtenTokens }: Measure, { write, read }: PriceRow): number {
  return cachedTokens * read + writtenTokens * write
}

/** The same clearing decisions, had a changed prefix still read at the read price: only new or changed pieces are written. */
export function freeBreaksCost(measure: Measure, { write, read }: PriceRow): number {
  const { cachedTokens, writtenTokens, unchangedTokens } = measure
  return unchangedTokens * read + (cachedTokens + writtenTokens - unchangedTokens) * write
}

export function meanTokens({ cachedTokens, writtenTokens, requests }: Measure): number {
  return requests === 0 ? 0 : (cachedTokens + writtenTokens) / requests
}
