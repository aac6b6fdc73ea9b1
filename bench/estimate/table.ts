import { alignRows } from "../replay/table.ts"
import type { MethodError } from "./errors.ts"
import type { TextKindResult } from "./measure.ts"

export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`

/** Requests with an earlier report in their window. */
export function renderMethods(title: string, errors: readonly MethodError[]): string {
  return [
    title,
    alignRows([
      ["method", "requests", "median", "90th percentile", "median tokens", "90th percentile"],
      ...errors.map(({ method, requests, medianShare, p90Share, medianTokens, p90Tokens }) => [
        method,
        String(requests),
        percent(medianShare),
        percent(p90Share),
        String(medianTokens),
        String(p90Tokens),
      ]),
    ]),
  ].join("\n")
}

/** First reported requests of a window. */
export function renderFirsts(
  firsts: readonly { session: string; reportedTokens: number; historyTokens: number | undefined }[],
): string {
  return alignRows([
    ["first requests of a window", "reported", "history by the base estimate"],
    ...firsts.map(({ session, reportedTokens, historyTokens }) => [
      session,
      String(reportedTokens),
      historyTokens === undefined ? "unknown" : String(historyTokens),
    ]),
  ])
}

export function renderTexts(results: readonly TextKindResult[]): string {
  const references = results[0]?.tokenizers.map(({ name }) => name) ?? []
  return [
    `Kinds of text, beside ${references.join(", ")}`,
    alignRows([
      ["kind", "method", "of their mean", "worst of them", "bytes per token"],
      ...results.map(({ kind, method, errorOfMean, worstError, bytesPerToken }) => [
        kind,
        method,
        percent(errorOfMean),
        percent(worstError),
        bytesPerToken.toFixed(2),
      ]),
    ]),
  ].join("\n")
}
