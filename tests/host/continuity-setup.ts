import type { ProviderSetup } from "./host-config.ts"
import type { Host } from "./host.ts"

/** Makes the host speak to the providers `openai` and `anthropic` itself; to others it still speaks through the AI SDK. */
export const nativeMode = { OPENCODE_EXPERIMENTAL_NATIVE_LLM: "1" }

/** Budgets of 60k and 20k tokens, targets of 42k and 14k. */
const models = {
  standard: { limit: { context: 64_000, output: 4_000 } },
  small: { limit: { context: 24_000, output: 4_000 } },
}

/**
 * The same limits as an option of the plugin: it leaves a request alone when the host takes longer than two seconds to
 * answer for its catalog, which a busy machine does, and no scenario that takes these is about that.
 */
export const KNOWN_LIMITS = {
  "openai/standard": { limit: models.standard.limit },
  "openai/small": { limit: models.small.limit },
}

export const NATIVE_PROVIDERS: Record<string, ProviderSetup> = {
  openai: { api: "openai", models },
  anthropic: { api: "anthropic", models },
}

/** Which of its two ways to speak to a model the host chose, by its own log. */
export function findRuntimes(host: Host): string[] {
  const matches = host.log.matchAll(/message="llm runtime selected" llm\.runtime=(\S+)/g)
  return [...new Set([...matches].map((match) => match[1] ?? ""))]
}
