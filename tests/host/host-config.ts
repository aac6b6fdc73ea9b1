import type { PluginEntry } from "./plugin.ts"
import type { Api } from "./model-request.ts"

export interface ModelLimit {
  context: number
  input?: number
  output: number
}

export interface ModelSetup {
  limit: ModelLimit
  reasoning?: boolean
}

export interface ProviderSetup {
  api: Api
  models: Record<string, ModelSetup>
}

export interface ConfigSetup {
  baseURL: string
  /** By provider id. The host's native mode takes only ids such as `openai` and `anthropic`. */
  providers: Record<string, ProviderSetup>
  /** `provider/model` */
  model: string
  plugins: readonly PluginEntry[]
  /** Laid over the rest of `opencode.json`, key by key. */
  extra?: Record<string, unknown>
}

const PROVIDER_PACKAGES: Record<Api, string> = {
  openai: "@ai-sdk/openai-compatible",
  anthropic: "@ai-sdk/anthropic",
}

/** The content of the project's `opencode.json`: only the model endpoint is not what a user would have. */
export function describeConfig(setup: ConfigSetup): Record<string, unknown> {
  return {
    $schema: "https://opencode.ai/config.json",
    autoupdate: false,
    share: "disabled",
    snapshot: false,
    lsp: false,
    formatter: false,
    permission: "allow",
    model: setup.model,
    small_model: setup.model,
    enabled_providers: Object.keys(setup.providers),
    provider: Object.fromEntries(
      Object.entries(setup.providers).map(([id, provider]) => [id, describeProvider(id, provider, setup.baseURL)]),
    ),
    plugin: setup.plugins,
    ...setup.extra,
  }
}

function describeProvider(id: string, provider: ProviderSetup, baseURL: string): unknown {
  return {
    npm: PROVIDER_PACKAGES[provider.api],
    name: id,
    options: { baseURL, apiKey: "not-a-key" },
    models: Object.fromEntries(
      Object.entries(provider.models).map(([model, { limit, reasoning = false }]) => [
        model,
        {
          name: model,
          limit,
          tool_call: true,
          reasoning,
          attachment: true,
          modalities: { input: ["text", "image"], output: ["text"] },
        },
      ]),
    ),
  }
}
