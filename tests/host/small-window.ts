import type { ProviderSetup } from "./host-config.ts"
import type { ProjectFiles } from "./home.ts"
import type { Api } from "./model-request.ts"
import type { ScenarioSetup } from "./scenario.ts"
import { protecting, type Protection } from "./session-account.ts"

export const TARGET_RATIO = 0.5
const OUTPUT_TOKENS = 4_000

/** Of a model whose target is that many tokens. */
const limitWithTarget = (tokens: number) => ({ context: tokens / TARGET_RATIO + OUTPUT_TOKENS, output: OUTPUT_TOKENS })

/** Low enough for a handful of reads, and well above what the host adds to a short history. */
export const SMALL_LIMIT = limitWithTarget(24_000)
export const SMALL_BUDGET = SMALL_LIMIT.context - SMALL_LIMIT.output

/** No scenario comes near its target. */
export const LARGE_LIMIT = { context: 400_000, output: OUTPUT_TOKENS }
export const LARGE_BUDGET = LARGE_LIMIT.context - LARGE_LIMIT.output

/** So that short sessions have outputs to clear. */
export const FEW_STEPS: Protection = { steps: 2, tokens: 0 }

export const PRESSURE_OPTIONS = { debug: true, dtc: { targetRatio: TARGET_RATIO, ...protecting(FEW_STEPS) } }

/** Only the plugin acts: the host's own compaction would hide what it does. */
export const NO_COMPACTION = { compaction: { auto: false } }

export const providerWith = (api: Api, limits: Record<string, ProviderSetup["models"][string]["limit"]>) => ({
  api,
  models: Object.fromEntries(Object.entries(limits).map(([model, limit]) => [model, { limit }])),
})

/** One model, a handful of reads from its target. */
export const smallWindowSetup = (files: ProjectFiles, timeoutMs: number): ScenarioSetup => ({
  files,
  providers: { scripted: providerWith("openai", { small: SMALL_LIMIT }) },
  pluginOptions: PRESSURE_OPTIONS,
  config: NO_COMPACTION,
  timeoutMs,
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

/**
 * Three reads of `repeated.txt` and one of `unique.txt` are below the target of `ONE_CLEAR_LIMIT`, one of `newest.txt` more
 * is above it by less than a read of `repeated.txt`, also when an estimate is a tenth off.
 */
export const ONE_CLEAR_FILES = {
  "unique.txt": linesOfTokens(2_500, "unique"),
  "repeated.txt": linesOfTokens(5_000, "repeat"),
  "newest.txt": linesOfTokens(4_000, "newest"),
}
export const ONE_CLEAR_LIMIT = limitWithTarget(19_900)
