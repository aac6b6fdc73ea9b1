/**
 * The engine's words. `Message` is what the host hands over; everything below `History` is host-neutral: rooms other
 * than `wire.ts` see only those, so that another host is another wire table.
 */

/** A stored message as the host's transform hook receives it. Nothing in it is trusted; `wire.ts` checks what it reads. */
export interface Message {
  info: MessageInfo
  parts: Part[]
}

export interface MessageInfo {
  id: string
  sessionID: string
  role: string
  [key: string]: unknown
}

export interface Part {
  id: string
  type: string
  [key: string]: unknown
}

/** The model that the request goes to. Without `npm` the provider family is unknown and the larger cost counts. */
export interface Model {
  providerID: string
  modelID: string
  /** The host's AI SDK package for this provider, e.g. `@ai-sdk/anthropic`. */
  npm?: string
  /** The provider's own id of the model, which may differ from `modelID`. */
  apiID?: string
  /** Which input modalities the model accepts, as the host's catalog states them. */
  capabilities?: { input?: Partial<Record<Modality, boolean>> }
}

export type Modality = "image" | "audio" | "video" | "pdf"

/** What may be cleared and when. The defaults live in `dcp.schema.json`; the engine has none. */
export interface Policy {
  /** Newest tool steps that are never touched; integer from 1. */
  protectRecentSteps: number
  /** Newest steps are kept until they hold this many tokens too; integer from 0. */
  protectRecentTokens: number
  /** Share of what the input budget leaves to the history that it may use; above 0, at most 1. */
  targetRatio: number
  /** An output that frees fewer tokens than this stays; integer from 1. */
  minimumSavingsTokens: number
  /** Further tool names that are never cleared. It only narrows what the engine may touch. */
  protectedTools: readonly string[]
  /**
   * Replays the window's earlier requests and carries what they cleared, so that the provider's prompt cache survives.
   * Absent: off; each request selects anew.
   */
  stablePrefix?: boolean
  /** With `stablePrefix`: share of the history's part of the target that a batch frees at least; from 0, below 1. Absent: 0. */
  clearAtLeastRatio?: number
  /** Sizes images by their pixels and documents by their pages. Absent: off; they are of unknown size. */
  estimateMedia?: boolean
  /** Corrects the estimate by the sizes that the provider reported for the window's earlier requests. Absent: off. */
  calibrate?: boolean
}

export interface ReadOptions {
  /** Absent: the ids of the latest ordinary user message's model, provider family unknown. */
  model?: Model | undefined
  /** Sizes images by their pixels and documents by their pages. Absent: off; they are of unknown size. */
  estimateMedia?: boolean | undefined
}

export type EstimateOptions = ReadOptions

export interface ProjectOptions {
  /** Absent: the ids of the latest ordinary user message's model, provider family unknown. */
  model?: Model
  /** Tokens that the model accepts as input. */
  inputBudget: number
  policy: Policy
  /** This request only: clear every eligible output, whatever the size. Every protection stays. */
  force?: boolean
  /** Milliseconds since the epoch, written as the mark and used for nothing else. Absent: the largest time in the history. */
  now?: number
}

export interface Projection extends ProjectionFindings {
  /** A copy of the messages, equal but for an added `state.time.compacted` on the cleared outputs. */
  messages: Message[]
}

export interface ProjectionPlan extends ProjectionFindings {
  /** The messages that change, with their marks. */
  marked: MarkedMessage[]
}

export interface MarkedMessage {
  /** Index into the messages. */
  messageIndex: number
  message: Message
}

/** What a projection has found out. */
export interface ProjectionFindings {
  stats: Stats
  /** In the order in which they were chosen. */
  cleared: ClearedOutput[]
  /** This request's index, counted from 0 within the window: what it chose itself carries the same. */
  requestIndex: number
  /** One row for each message that the host makes of the result, in order. `undefined`: that cannot be told. */
  sources: Source[] | undefined
  /** Stored messages that the request knows: prompts and every completed or failed response. As `sources` when unknown. */
  historyMessageCount: number | undefined
  /** How many outputs stay and why; with `cleared` they are all outputs. */
  kept: KeptCounts
}

/** Where one of the messages that the host sends comes from. Metadata only. */
export type Source = HistorySource | CompactionSource | RuntimeContextSource | ToolRepairSource

/** Common to all rows. Indexes count from 0. */
export interface SourcePlace {
  /** In the messages that the hook received. */
  messageIndex: number
  messageID: string
  role: "assistant" | "tool" | "user"
  /** What an assistant message sent before its first tools came back is step 0; absent for user messages. */
  step?: number
  /** Outputs in it that go out as the placeholder, whoever marked them. */
  cleared?: SourceOutput[]
  /** Calls in it whose result exists only in the request, since the tool has none. */
  repairedCallIds?: string[]
}

export interface SourceOutput {
  callID: string
  partID: string
  tool: string
}

/** A stored message, or one step of it, or that step's tool results. */
export interface HistorySource extends SourcePlace {
  type: "history"
}

/** A summary, or the request for one that stands before it. */
export interface CompactionSource extends SourcePlace {
  type: "compaction"
  /** Id of the message that asked for the summary. */
  checkpointId: string
  /** Id of the first message that the summary leaves as it is: the retained boundary. */
  summarizedBefore: string
}

/** Content that the host adds and no user wrote: a message of synthetic texts, media that tools returned. */
export interface RuntimeContextSource extends SourcePlace {
  type: "runtime-context"
  /** The user's turn in which it stands, counted from 0 in these messages; absent when that turn is summarised. */
  userTurn?: number
}

/** A tool message of nothing but results that exist only in the request. */
export interface ToolRepairSource extends SourcePlace {
  type: "tool-repair"
  /** The first of `repairedCallIds`. */
  toolCallId: string
}

/** What the host will send and what of it comes from where. */
export interface SourceMap {
  historyMessageCount: number
  sources: Source[]
}

export type ClearReason = "redundant" | "forced" | "aged"

export interface ClearedOutput {
  /** Index into the messages. */
  messageIndex: number
  messageID: string
  partID: string
  callID: string
  tool: string
  reason: ClearReason
  /** Redundant outputs only: the call whose later, identical output stays visible. */
  witnessCallID?: string
  /** By the estimate of the request that chose it, rounded down. */
  savedTokens: number
  /** The request that chose it, counted from 0 within the window. */
  requestIndex: number
}

/** Why an output is kept. Recent protection is not among them: it depends on the request, not on the output. */
export type KeptReason =
  | "already-cleared"
  | "attachments"
  | "error"
  | "failed-exit"
  | "instruction-file"
  | "loaded-instructions"
  | "no-path"
  | "no-text"
  | "not-completed"
  | "not-sent"
  | "odd-mark"
  | "other-tool"
  | "protected-tool"
  | "provider-executed"
  | "small"
  | "unmarkable"
  | "unproven-exit"

/** `recent`: a protected step. `waiting`: it could go, but nothing presses, or too little would come of it. */
export type KeptCounts = Partial<Record<KeptReason | "recent" | "waiting", number>>

/** Figures about one projection; never conversation text. Sizes are tokens, `undefined` when unknown. */
export interface Stats {
  /** Outputs marked by this projection. */
  foldedTools: number
  /** Those of them that a later identical output stands in for. */
  redundantTools: number
  estimatedBefore: number | undefined
  estimatedAfter: number | undefined
  /** Above it, outputs are cleared: `targetRatio` of the budget that the history has for itself, plus what is not history. */
  targetTokens: number
  inputBudget: number
  /** Newest tool steps that protection covered. */
  protectedSteps: number
  /** The estimate after clearing is above `targetTokens`, or unknown. */
  overBudget: boolean
  skipped?: "invalid-budget" | "unknown-content"
  estimateMethod: EstimateMethod
}

/** `base`: the content alone, by its bytes. `calibrated`: the last reported size plus the growth since. */
export type EstimateMethod = "base" | "calibrated"

/** A session's active window in host-neutral terms, oldest first, as the wire orders it. */
export interface History {
  segments: readonly Segment[]
  /** In the order of their segments. */
  outputs: readonly ToolOutput[]
}

/** A history that also says what the host makes of it. */
export interface TracedHistory extends History {
  /** One for each segment. */
  origins: readonly Origin[]
}

/** Which of the host's model messages one segment becomes. `undefined` in place of an answer: it cannot be told. */
export interface Origin {
  /** `added`: all of it was written by the host. `checkpoint`: the request for a summary, which stands in its window. */
  kind: "added" | "checkpoint" | "prompt" | "step" | "summary"
  messageIndex: number
  messageID: string
  /** Steps and summaries: counted from 0 within the message. */
  step?: number
  /** A user or an assistant message comes of it. */
  sends: boolean | undefined
  /** Media of its tool results goes out in a user message behind the stored message. */
  movesMedia: boolean | undefined
  /** Outputs that a tool message behind it carries. */
  answers: readonly ToolOutput[]
  /** Outputs that stand beside their calls. */
  answersInside: readonly ToolOutput[]
  /** A response that neither came to an end nor failed. */
  isUnfinished: boolean
  /** Checkpoints: the id of the first message that the summary leaves as it is. */
  summarizedBefore?: string
  /** Summaries: the message that asked for it. */
  checkpointID?: string
}

/** What one user message sends, or one step of an assistant message. */
export interface Segment {
  kind: "user" | "step"
  /** Tokens of everything sized; content of unknown size is not in it. */
  tokens: number
  /** Something in it reaches the model and cannot be sized. */
  unknownSize: boolean
  /** A tool part of it reaches the model. */
  sendsTool: boolean
  /** Of `tokens`: what the model's response wrote: text, reasoning, calls and their metadata. The rest came from elsewhere. */
  writtenTokens: number
  /** What the provider reported for the model call that became this step; the request's own model only. */
  report?: UsageReport
  /** Of `tokens`: reminders that the host adds to a request and drops later, so that no decision may rest on them. */
  reminderTokens: number
  /**
   * When the model call that became this step was made: milliseconds, or whatever else orders calls and marks alike on a
   * host without times. Absent where none of this window was made.
   */
  requestedAt?: number
  /** The model asked here for one forced clear. */
  asksToClear: boolean
}

/** Sizes of one model call, in the provider's own tokens. */
export interface UsageReport {
  /** Everything that was sent, what the cache served included; above 0. */
  promptTokens: number
  /** The size if the provider counts what the cache served twice; absent where that cannot be. */
  promptTokensCachedInside?: number
  /** What the response's text and calls cost when they are sent again; absent where the figure cannot be believed. */
  writtenTokens?: number
}

/** A tool call's settled or missing output, with the facts that decide whether it may be cleared. */
export interface ToolOutput {
  messageIndex: number
  partIndex: number
  messageID: string
  partID: string
  callID: string
  tool: string
  /** Index into `History.segments`. */
  segment: number
  /** The call's input, as plain data. */
  input: unknown
  /** The output's text; `undefined` when the output is not a text. */
  text: string | undefined
  /** Tokens of the text where the message reaches the model, else 0. */
  textTokens: number
  /** Tokens that the placeholder saves beside the text. */
  savingsTokens: number
  /** From when on a stored mark hides the output, in milliseconds. Requests before that saw it in full. Absent: no mark. */
  markedAt?: number
  facts: OutputFacts
}

/** What a host can prove about an output. What it cannot prove counts against clearing. */
export interface OutputFacts {
  /** The message reaches the model. */
  sent: boolean
  outcome: "completed" | "failed" | "unfinished" | "unknown"
  /** `placeholder`: already cleared on the wire. `odd`: a mark is there but not in force. `unmarkable`: no place for a mark. */
  mark: "none" | "placeholder" | "odd" | "unmarkable"
  /** An error stands beside a completed output. */
  error: boolean
  attachments: boolean
  providerExecuted: boolean
  /** `absent`: the tool reports none. `odd`: something that is no exit code. */
  exitCode: number | "absent" | "odd"
  /** The path that a file-reading call names, if it names one. */
  path: string | undefined
  /** The output brought instruction files into the context, or may have. */
  loadedInstructions: boolean
}
