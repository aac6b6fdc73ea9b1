import type { ProviderSetup } from "./host-config.ts"
import type { Api } from "./model-request.ts"

/** Low enough for a handful of reads, and well above what the host adds to a short history. */
const TARGET_TOKENS = 24_000
const TARGET_RATIO = 0.5
const OUTPUT_TOKENS = 4_000

/** Under which a model accepts `TARGET_TOKENS / TARGET_RATIO` tokens. */
export const SMALL_LIMIT = { context: TARGET_TOKENS / TARGET_RATIO + OUTPUT_TOKENS, output: OUTPUT_TOKENS }
export const SMALL_BUDGET = SMALL_LIMIT.context - SMALL_LIMIT.output

/** No scenario comes near its target. */
export const LARGE_LIMIT = { context: 400_000, output: OUTPUT_TOKENS }
export const LARGE_BUDGET = LARGE_LIMIT.context - LARGE_LIMIT.output

export const PROTECTED_STEPS = 2

/** Few protected steps, so that short sessions have outputs to clear. */
export const PRESSURE_OPTIONS = {
  debug: true,
  dtc: { targetRatio: TARGET_RATIO, protectRecentSteps: PROTECTED_STEPS, protectRecentTokens: 0 },
}

/** Only the plugin acts: the host's own compaction would hide what it does. */
export const NO_COMPACTION = { compaction: { auto: false } }

export const providerWith = (api: Api, limits: Record<string, ProviderSetup["models"][string]["limit"]>) => ({
  api,
  models: Object.fromEntries(Object.entries(limits).map(([model, limit]) => [model, { limit }])),
})

/** Text whose `read` output is about that many tokens. */
export function linesOfTokens(tokens: number, word: string): string {
  const line = `${word} ${"abcdefgh ".repeat(6)}\n`
  return line.repeat(Math.round((tokens * 4) / (line.length + 4)))
}

/** `old-1.txt`, `old-2.txt` and so on, each different. */
export const filesOfTokens = (count: number, tokens: number, name = "old"): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `${name}-${index + 1}.txt`,
      linesOfTokens(tokens, `${name}${index + 1}`),
    ]),
  )
