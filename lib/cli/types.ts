/** The words of a report. Types alone: the page's script reads them too. */
import type { Limit } from "../config/types.ts"
import type { ClearReason, KeptReason, Policy, Source } from "../dtc/types.ts"

/**
 * What `explain --json` prints. Numbers of requests and windows count from 1 over the whole session. Tokens are estimates
 * of what a request costs on the wire: of the messages alone until a report tells what comes on top, and the cost always. Fields may be added under the
 * same `version`; one that goes or changes its meaning raises it.
 */
export interface Report {
  format: "opencode-dcp/explain"
  version: 1
  session: SessionRow
  /** Of the session's latest model. */
  limit: Limit
  limitSource: LimitSource
  /** Tokens that the model accepts as input. */
  inputBudget: number
  /** Above it, outputs are cleared: of the last request. It moves with what the provider's reports tell. */
  targetTokens: number
  policy: Policy
  prices: { cacheWrite: number; cacheRead: number }
  totals: Totals
  windows: WindowRow[]
  requests: RequestRow[]
  outputs: OutputRow[]
}

export interface SessionRow {
  id: string
  title?: string
  /** `provider/model` */
  model?: string
  messages: number
}

export interface Totals {
  requests: number
  batches: number
  clearedOutputs: number
  clearedTokens: number
  /** Sums over all requests, those of unknown size left out. */
  beforeTokens: number
  afterTokens: number
  /** The largest request. */
  peakBeforeTokens: number
  peakAfterTokens: number
  /** Requests that exceed the input budget. */
  overBudgetBefore: number
  overBudgetAfter: number
  /** Requests that hold something of unknown size. */
  unknownSize: number
  /** Requests that change what the previous one had sent: the provider's cache is written anew from there on. */
  prefixBreaksBefore: number
  prefixBreaksAfter: number
  /** Input cost of the session with the plugin, relative to the same session without it; 1 when there is nothing to pay for. */
  relativeInputCost: number
}

/** What the host sends between two completed compactions. */
export interface WindowRow {
  window: number
  messages: number
  /** Absent: no request was made in it. */
  firstRequest?: number
  lastRequest?: number
  /** Where each message comes from that the host makes of it. Absent where that cannot be told. */
  sources?: Source[]
}

export interface RequestRow {
  request: number
  window: number
  /** The message that answered it, and its place among the window's messages. */
  messageID: string
  messageIndex: number
  /** Which of the message's steps answered it, from 0. */
  step: number
  /** Milliseconds since the epoch. */
  requestedAt: number
  /** Without the plugin; absent when something in it cannot be sized, as is `afterTokens`. */
  beforeTokens?: number
  /** With the plugin. */
  afterTokens?: number
  /** What the provider reported for the request as it was really sent. */
  reportedTokens?: number
  /** Above it, outputs are cleared. */
  targetTokens: number
  /** What this request is the first to be sent without, in the order of choice. */
  batch: BatchRow[]
  /** Outputs that it is sent without, earlier batches included. */
  clearedOutputs: number
  /** The longest prefix that it shares with the previous request, and the rest: of the messages alone. */
  cachedTokens: number
  writtenTokens: number
  breaksPrefix: boolean
  skipped?: "unknown-content"
}

export interface BatchRow {
  callID: string
  tool: string
  target: string
  reason: ClearReason
  /** The later identical call that stays. */
  witnessCallID?: string
  savedTokens: number
}

export type LimitSource = "--limit" | "configuration"

/** One tool call's output as the last request of its window sends it. In a retained tail it has a row in both windows. */
export interface OutputRow {
  window: number
  callID: string
  tool: string
  /** Path, command, pattern: what the call was about. */
  target: string
  /** Of the output in full, by the base estimate. */
  tokens: number
  /** By this plugin, by the host itself, or not at all. */
  state: "cleared" | "cleared-by-host" | "kept"
  /** `recent`: in the newest steps. `waiting`: it may be cleared, and no request needed that so far. */
  reason: ClearReason | KeptReason | "recent" | "waiting"
  /** The request whose answer made the call; absent when that was before the window. */
  request?: number
  /** The first request that was sent without it. Only of cleared ones, as are the following. */
  clearedAt?: number
  savedTokens?: number
  witnessCallID?: string
  /** Later answers that made the same call on the same target again; of a cleared output, those since it was cleared. */
  repeats: number
  /** The request that the first of them answered. */
  repeatedAt?: number
}

/** What the page leaves for its script. */
export type PageData = Pick<Report, "inputBudget" | "windows" | "requests"> & {
  reasons: Readonly<Record<OutputRow["reason"], string>>
}
