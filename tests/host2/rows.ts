/**
 * Stored rows of a session as the 1.18.33 binary describes them in its own API document, and as the 2.x documentation
 * says otherwise. Fields that no request depends on are left out.
 */

export interface ModelRef {
  providerID: string
  id: string
  variant?: string
}

export type ProviderMetadata = Record<string, Record<string, unknown>>

export interface FileAttachment {
  uri: string
  mime: string
  name?: string
  description?: string
  /** 2.x: the text of a `text/plain` file, the listing of a directory. */
  content?: string
}

export type ToolContent = { type: "text"; text: string } | { type: "file"; uri: string; mime: string; name?: string }

export interface ToolOutcome {
  input: Record<string, unknown>
  structured: Record<string, unknown>
  content: ToolContent[]
  /** What the provider itself answered, where it executed the tool. */
  result?: unknown
}

export type ToolState =
  | { status: "pending" | "streaming"; input: string }
  | ({ status: "running" } & ToolOutcome)
  | ({ status: "completed" } & ToolOutcome)
  | ({ status: "error"; error: { type: "unknown"; message: string } } & ToolOutcome)

export interface ToolEntry {
  type: "tool"
  id: string
  name: string
  /** 1.18.33. */
  provider?: { executed: boolean; metadata?: ProviderMetadata; resultMetadata?: ProviderMetadata }
  /** 2.x, in place of `provider`. */
  executed?: boolean
  providerState?: ProviderMetadata
  providerResultState?: ProviderMetadata
  state: ToolState
}

export type AssistantEntry =
  { type: "text"; text: string } | { type: "reasoning"; text: string; providerMetadata?: ProviderMetadata } | ToolEntry

interface RowBase {
  id: string
  metadata?: Record<string, unknown>
}

export type Row = RowBase &
  (
    | { type: "agent-switched"; agent: string }
    | { type: "location-switched" }
    | { type: "model-switched"; model: ModelRef }
    | { type: "user"; text: string; files?: FileAttachment[]; agents?: { name: string }[] }
    | { type: "synthetic"; text: string }
    | { type: "system"; text: string }
    | { type: "shell"; command: string; output: string | { output: string } }
    | {
        type: "assistant"
        model: ModelRef
        content: AssistantEntry[]
        completed?: boolean
        error?: { type: "unknown"; message: string }
      }
    | { type: "compaction"; summary: string; recent: string; status?: "completed" | "failed" | "running" }
  )

export type RowType = Row["type"]
export type AssistantRow = Extract<Row, { type: "assistant" }>

/** A row of the database: decoded only when the history is read. */
export interface StoredRow {
  seq: number
  id: string
  type: string
  data: Record<string, unknown>
}
