import type { Report } from "./types.ts"

export function formatTokens(tokens: number | undefined): string {
  return tokens === undefined ? "unknown" : Math.round(tokens).toLocaleString("en-US")
}

export function formatRatio(ratio: number): string {
  return ratio.toFixed(2)
}

const LIMIT_SOURCES: Readonly<Record<Report["limitSource"], string>> = {
  "--limit": "limits from --limit",
  configuration: "limits from the configuration",
}

/** Against what the session was held. */
export function describeLimit({ inputBudget, targetTokens, limitSource }: Report): string {
  const [budget, target] = [inputBudget, targetTokens].map(formatTokens)
  return `Input budget ${budget} tokens, target ${target} (${LIMIT_SOURCES[limitSource]})`
}

/** Why a window begins small. */
export const FIRST_SIZES =
  "the first request of a window is the history alone: no report came before it that counts system prompt and tools"

/** What the plugin would have done, in one sentence. */
export function describeHeadline({ totals }: Report): string {
  const { requests, clearedOutputs, clearedTokens, batches, relativeInputCost } = totals
  if (requests === 0) return "The session holds no request."
  if (clearedOutputs === 0) return `Nothing would have been left out in ${count(requests, "request")}.`
  const cleared = `${count(clearedOutputs, "output")} of ${formatTokens(clearedTokens)} tokens would have been left out`
  const pace = `in ${count(batches, "batch", "batches")} over ${count(requests, "request")}`
  return `${cleared}, ${pace}, at ${formatRatio(relativeInputCost)} of the input cost.`
}

/** Why figures may be low; `undefined` when they are not. */
export function describeUnknown({ totals }: Report): string | undefined {
  if (totals.unknownSize === 0) return undefined
  const where = `In ${count(totals.unknownSize, "request")} of ${totals.requests} there is content of unknown size`
  return `${where}, such as an image: nothing new is cleared there, and sums leave them out.`
}

export interface Figure {
  name: string
  plain: string
  cleared: string
}

/** The session without the plugin beside the session with it. */
export function listFigures({ totals, prices }: Report): Figure[] {
  const figures: [name: string, plain: string, cleared: string][] = [
    ["largest request, in tokens", formatTokens(totals.peakBeforeTokens), formatTokens(totals.peakAfterTokens)],
    ["tokens of all requests", formatTokens(totals.beforeTokens), formatTokens(totals.afterTokens)],
    ["requests over budget", String(totals.overBudgetBefore), String(totals.overBudgetAfter)],
    ["requests that break the cached prefix", String(totals.prefixBreaksBefore), String(totals.prefixBreaksAfter)],
    [
      `input cost (cache write ${prices.cacheWrite}, read ${prices.cacheRead})`,
      "1.00",
      formatRatio(totals.relativeInputCost),
    ],
  ]
  return figures.map(([name, plain, cleared]) => ({ name, plain, cleared }))
}

/** `1 output`, `2 outputs`. */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount.toLocaleString("en-US")} ${amount === 1 ? one : many}`
}
