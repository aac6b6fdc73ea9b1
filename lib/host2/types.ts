/**
 * The part of OpenCode 2.x's plugin API that this plugin uses. No 2.x host is published: the shapes are those of the
 * documentation, and the messages' those that the 1.18.33 binary lowers for its session API
 * (docs/decisions/2026-12-01-opencode-2.md). Nothing in them is trusted.
 */

/** What `setup` receives. Only `session.hook` is needed; everything else is read when a request needs it. */
export interface SetupContext {
  session?: { hook(name: "context", callback: (event: ContextEvent) => Promise<void>): Promise<unknown> }
  /** Of the plugin's entry in the host's configuration. */
  options?: unknown
  catalog?: { transform(callback: (draft: CatalogDraft) => void): Promise<unknown>; reload?(): Promise<unknown> }
  location?: { directory?: unknown }
}

/** What the host loads: a default export with an id and `setup`. */
export interface SetupModule {
  id: string
  setup(context: SetupContext): Promise<void>
}

/** The host's catalog of providers, valid for the time of one callback; it calls again whenever the catalog changes. */
export interface CatalogDraft {
  provider: { list(): Iterable<CatalogProvider> }
}

export interface CatalogProvider {
  provider: { id: string }
  models: ReadonlyMap<string, unknown>
}

/** One request of the agent loop, just before it is sent. The host reads the same object back. */
export interface ContextEvent {
  sessionID: string
  model: { providerID: string; id: string }
  messages: unknown[]
  /** In the types only; the documented host does not set it. */
  kind?: unknown
}

export type LoweredRole = "assistant" | "system" | "tool" | "user"

/** Every part kind of the host's lowered messages. */
export type LoweredKind = "media" | "reasoning" | "text" | "tool-call" | "tool-result"

/** A message of the event, copied: plain, with the fields that matter. */
export interface LoweredMessage {
  role: LoweredRole
  /** Absent on texts of the host's own and on tool messages. */
  id: string | undefined
  parts: readonly LoweredPart[]
}

/** `type` is a `LoweredKind` or something else, whose size is unknown. */
export interface LoweredPart {
  type: string
  [key: string]: unknown
}
