/**
 * The part of the host's plugin API that this plugin uses, stated here so that published types need no other package.
 * `tests/host-types.test.ts` holds it against the host's own types.
 */
import type { Message } from "./dtc/types.ts"

export interface HostClient {
  config: { providers(options: { signal: AbortSignal }): Promise<{ data?: unknown }> }
  app: { log(options: { body: LogBody }): Promise<unknown> }
  session: { message(options: MessageRequest): Promise<{ data?: unknown }> }
  tui: { showToast(options: { body: ToastBody }): Promise<unknown> }
}

export interface MessageRequest {
  path: { id: string; messageID: string }
  signal: AbortSignal
}

export interface LogBody {
  service: string
  level: "debug" | "info" | "warn" | "error"
  message: string
  extra?: Record<string, unknown>
}

export interface ToastBody {
  title?: string
  message: string
  variant: "info" | "success" | "warning" | "error"
}

export interface PluginInput {
  client: HostClient
  directory: string
}

export interface ToolContext {
  sessionID: string
}

export interface ToolDefinition {
  description: string
  /** JSON schemas by name, which the host accepts beside what its types name. It announces all as required. */
  args: Record<string, never>
  execute(args: Record<string, unknown>, context: ToolContext): Promise<string>
}

/** Hooks that the host awaits; a throw in one of them fails the user's request. */
export interface Hooks {
  "experimental.chat.messages.transform"?: (input: unknown, output: { messages: Message[] }) => Promise<void>
  "experimental.session.compacting"?: (input: { sessionID: string }, output: unknown) => Promise<void>
  "chat.message"?: (input: { sessionID: string }, output: unknown) => Promise<void>
  "chat.params"?: (input: { sessionID: string; agent: string }, output: unknown) => Promise<void>
  event?: (input: { event: { type: string; properties?: unknown } }) => Promise<void>
  dispose?: () => Promise<void>
  tool?: Record<string, ToolDefinition>
}

export interface PluginModule {
  id: string
  server(input: PluginInput, options?: unknown): Promise<Hooks>
}
