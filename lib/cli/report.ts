import type { Config, Limit } from "../config/types.ts"
import { policyFor } from "../config/policy.ts"
import type { ClearReason, Message, Model, Policy } from "../dtc/types.ts"
import { findRequestedModel, readHistory } from "../dtc/wire.ts"
import { CACHE_READ_PRICE, CACHE_WRITE_PRICE, inputCost, measureCosts, type RequestCost } from "./cost.ts"
import { InputFault } from "./faults.ts"
import type { KnownLimit } from "./limits.ts"
import { followRequests, type ChosenOutput, type FollowedRequest } from "./follow.ts"
import { describeOutputs, type OutputRow } from "./outputs.ts"
import type { Progress } from "./progress.ts"
import type { ExportedSession } from "./session.ts"
import { traceRequests, type RequestTrace } from "./trace.ts"
import { describeTarget } from "./target.ts"
import { splitWindows } from "./windows.ts"

/**
 * What `explain --json` prints. Numbers of requests and windows count from 1 over the whole session. Tokens are estimates
 * of what the messages cost on the wire; system prompt and tool schemas are not in them. Fields may be added under the
 * same `version`; one that goes or changes its meaning raises it.
 */
export interface Report {
  format: "opencode-dcp/explain"
  version: 1
  session: SessionRow
  /** Of the session's latest model. */
  limit: Limit
  limitSource: KnownLimit["source"]
  /** Tokens that the model accepts as input. */
  inputBudget: number
  /** Above it, outputs are cleared. */
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
}

export interface RequestRow {
  request: number
  window: number
  /** The message that answered it, and its place among the window's messages. */
  messageID: string
  messageIndex: number
  /** Milliseconds since the epoch. */
  requestedAt: number
  /** Without the plugin; absent when something in it cannot be sized, as is `afterTokens`. */
  beforeTokens?: number
  /** With the plugin. */
  afterTokens?: number
  /** What the provider reported for the request as it was really sent. */
  reportedTokens?: number
  /** What this request is the first to be sent without, in the order of choice. */
  batch: BatchRow[]
  /** Outputs that it is sent without, earlier batches included. */
  clearedOutputs: number
  /** The longest prefix that it shares with the previous request, and the rest. */
  cachedTokens: number
  writtenTokens: number
  breaksPrefix: boolean
  skipped?: NonNullable<RequestTrace["skipped"]>
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

/** The session's latest model: past requests are judged with it, as the engine does. */
export function findSessionModel({ messages }: ExportedSession): Model | undefined {
  return findRequestedModel(splitWindows(messages).at(-1) ?? [])
}

/** What the plugin would have done to the session from its first request on, under today's configuration. */
export function describeSession(
  session: ExportedSession,
  known: KnownLimit,
  config: Config,
  progress: Progress,
): Report {
  const model = findSessionModel(session)
  const { policy } = policyFor(config, model ?? { providerID: "", modelID: "" })
  const { limit, source, inputBudget } = known
  const judged = { policy, inputBudget, ...(model && { model }) }
  const windows: JudgedWindow[] = []
  const parts = splitWindows(session.messages)
  for (const [index, messages] of parts.entries()) {
    progress.say(`replaying window ${index + 1} of ${parts.length}`)
    windows.push(judgeWindow(messages, judged, { window: index + 1, firstRequest: countRequests(windows) + 1 }))
  }
  const requests = windows.flatMap((window) => window.requests)
  return {
    format: "opencode-dcp/explain",
    version: 1,
    session: {
      id: session.id,
      ...(session.title !== undefined && { title: session.title }),
      ...(model && { model: `${model.providerID}/${model.modelID}` }),
      messages: session.messages.length,
    },
    limit,
    limitSource: source,
    inputBudget,
    targetTokens: Math.floor(inputBudget * policy.targetRatio),
    policy,
    prices: { cacheWrite: CACHE_WRITE_PRICE, cacheRead: CACHE_READ_PRICE },
    totals: addUp(windows, inputBudget),
    windows: windows.map(({ row }) => row),
    requests,
    outputs: windows.flatMap(({ outputs }) => outputs),
  }
}

interface Judgement {
  policy: Policy
  inputBudget: number
  model?: Model
}

interface JudgedWindow {
  row: WindowRow
  requests: RequestRow[]
  outputs: OutputRow[]
  plain: RequestCost[]
}

interface Numbering {
  window: number
  firstRequest: number
}

function countRequests(windows: readonly JudgedWindow[]): number {
  return windows.reduce((count, { requests }) => count + requests.length, 0)
}

function judgeWindow(messages: readonly Message[], judgement: Judgement, numbering: Numbering): JudgedWindow {
  const { policy, model } = judgement
  const history = readHistory(messages, { model, estimateMedia: policy.estimateMedia })
  if (!history) throw new InputFault("a message of the session is malformed")
  const traces = traceRequests(messages, judgement)
  const sent = followRequests(history, traces, policy.stablePrefix === true)
  const costs = measureCosts(history, sent)
  const rows = traces.flatMap((trace, index) => {
    const [request, cost] = [sent[index], costs[index]]
    return request && cost ? [describeRequest(trace, messages, numbering, request, cost)] : []
  })
  const { window, firstRequest } = numbering
  const lastRequest = firstRequest + rows.length - 1
  return {
    row: { window, messages: messages.length, ...(rows.length > 0 && { firstRequest, lastRequest }) },
    requests: rows,
    outputs: describeOutputs({ history, sent, policy, numbering }),
    plain: measureCosts(
      history,
      sent.map(({ segmentEnd, hostCleared }) => ({ segmentEnd, cleared: hostCleared })),
    ),
  }
}

function describeRequest(
  trace: RequestTrace,
  messages: readonly Message[],
  { window, firstRequest }: Numbering,
  { cleared, batch }: FollowedRequest,
  { cachedTokens, writtenTokens, breaksPrefix }: RequestCost,
): RequestRow {
  const { index, messageIndex, requestedAt, beforeTokens, afterTokens, reportedTokens, skipped } = trace
  return {
    request: firstRequest + index,
    window,
    messageID: messages[messageIndex]?.info.id ?? "",
    messageIndex,
    requestedAt,
    ...(beforeTokens !== undefined && { beforeTokens }),
    ...(afterTokens !== undefined && { afterTokens }),
    ...(reportedTokens !== undefined && { reportedTokens }),
    batch: batch.map(describeChoice),
    clearedOutputs: cleared.size,
    cachedTokens: Math.round(cachedTokens),
    writtenTokens: Math.round(writtenTokens),
    breaksPrefix,
    ...(skipped && { skipped }),
  }
}

function describeChoice({ output, reason, witnessCallID, savedTokens }: ChosenOutput): BatchRow {
  const { callID, tool, input } = output
  const row = { callID, tool, target: describeTarget(tool, input), reason, savedTokens }
  return witnessCallID === undefined ? row : { ...row, witnessCallID }
}

function addUp(windows: readonly JudgedWindow[], inputBudget: number): Totals {
  const requests = windows.flatMap((window) => window.requests)
  const plain = windows.flatMap((window) => window.plain)
  const cleared = windows.flatMap(({ outputs }) => outputs.filter(({ state }) => state === "cleared"))
  const [before, after] = [
    requests.map(({ beforeTokens = 0 }) => beforeTokens),
    requests.map(({ afterTokens = 0 }) => afterTokens),
  ]
  const plainCost = inputCost(plain)
  return {
    requests: requests.length,
    batches: requests.filter(({ batch }) => batch.length > 0).length,
    clearedOutputs: cleared.length,
    clearedTokens: addTokens(cleared.map(({ savedTokens = 0 }) => savedTokens)),
    beforeTokens: addTokens(before),
    afterTokens: addTokens(after),
    peakBeforeTokens: largest(before),
    peakAfterTokens: largest(after),
    overBudgetBefore: before.filter((tokens) => tokens > inputBudget).length,
    overBudgetAfter: after.filter((tokens) => tokens > inputBudget).length,
    unknownSize: requests.filter(({ beforeTokens }) => beforeTokens === undefined).length,
    prefixBreaksBefore: plain.filter(({ breaksPrefix }) => breaksPrefix).length,
    prefixBreaksAfter: requests.filter(({ breaksPrefix }) => breaksPrefix).length,
    relativeInputCost: plainCost === 0 ? 1 : inputCost(requests) / plainCost,
  }
}

function addTokens(numbers: readonly number[]): number {
  return numbers.reduce((left, right) => left + right, 0)
}

function largest(numbers: readonly number[]): number {
  return numbers.reduce((left, right) => Math.max(left, right), 0)
}
