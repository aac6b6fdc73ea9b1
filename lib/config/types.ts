import type { Policy } from "../dtc/types.ts"

/** The effective configuration: every key has a value, from the last layer that set it or from the schema. Deeply frozen. */
export interface Config {
  readonly enabled: boolean
  readonly debug: boolean
  readonly dtc: Readonly<Required<Policy>> & { readonly enabled: boolean }
  readonly tool: { readonly enabled: boolean; readonly recall: boolean }
  /** Where a batch of cleared outputs is announced beside the host's log. */
  readonly notify: "off" | "toast"
  /** By `provider/model` or a starred form of it; read through `policyFor`. */
  readonly models: Readonly<Record<string, ModelEntry>>
}

/** What differs for some models. Absent fields keep their value from a wider key, then from `dtc`. */
export type ModelEntry = Readonly<Partial<Policy>> & { readonly limit?: Limit }

/** Token limits of a model, for models that the host's catalog has no valid ones for. */
export interface Limit {
  readonly context: number
  readonly input?: number
  readonly output: number
}

export interface LoadedConfig {
  config: Config
  /** Every layer that was found, lowest first; later ones win. */
  layers: readonly Layer[]
  diagnostics: readonly Diagnostic[]
  /** One row per effective key, in the order of the schema, then of the layers. */
  origins: readonly Origin[]
}

export type LayerSource = "global" | "config-dir" | "project" | "options"

export interface Layer {
  source: LayerSource
  /** Path of the file, or a name for the plugin options, which have none. */
  file: string
  /** False when the layer was ignored whole; a diagnostic says why. */
  used: boolean
  /** Name of a file beside it that does not count because this one does. */
  hides?: string
}

/** Where an effective value came from. */
export interface Origin {
  /** Dotted; a segment with other characters stands in brackets: `models["acme/m-1.5"].targetRatio`. */
  key: string
  value: unknown
  /** Absent: the schema's default. */
  file?: string
  /** 1-based; absent where there is no file to open. */
  line?: number
  /** 1-based, in UTF-16 code units. */
  column?: number
}

export type DiagnosticKind =
  | "unreadable"
  | "too-large"
  | "parse-error"
  | "not-an-object"
  | "unknown-key"
  | "invalid-value"
  | "duplicate-key"
  | "retired-option"
  | "too-many-problems"

/** One problem of one layer. It never stops the plugin: what is wrong is left out, everything else counts. */
export interface Diagnostic {
  kind: DiagnosticKind
  file: string
  /** 1-based. */
  line?: number
  /** 1-based, in UTF-16 code units. */
  column?: number
  /** Written like `Origin.key`. */
  key?: string
  /** The whole sentence without the place. It never quotes a configured value. */
  message: string
  /** The part of the message that says what would be right. */
  expected?: string
}
