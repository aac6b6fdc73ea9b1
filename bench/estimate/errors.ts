import type { Prediction } from "./reported.ts"

/** How far a method was off: tokens, and shares of the reported size. */
export interface MethodError {
  method: string
  requests: number
  medianTokens: number
  p90Tokens: number
  medianShare: number
  p90Share: number
}

/** Per method, over the predictions that it made. */
export function describeErrors(predictions: readonly Prediction[]): MethodError[] {
  const methods = new Set(predictions.flatMap(({ predicted }) => Object.keys(predicted)))
  return [...methods].map((method) => {
    const made = predictions.filter(({ predicted }) => predicted[method] !== undefined)
    const errors = made.map(({ predicted, reportedTokens }) => Math.abs((predicted[method] as number) - reportedTokens))
    const shares = made.map(({ reportedTokens }, index) => (errors[index] as number) / reportedTokens)
    return {
      method,
      requests: made.length,
      medianTokens: Math.round(quantile(errors, 0.5)),
      p90Tokens: Math.round(quantile(errors, 0.9)),
      medianShare: round(quantile(shares, 0.5)),
      p90Share: round(quantile(shares, 0.9)),
    }
  })
}

/** The value that a share of the numbers does not exceed; 0 for none. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

function round(share: number): number {
  return Math.round(share * 1e5) / 1e5
}
