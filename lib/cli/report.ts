import type { Config } from "../config/types.ts"
import { policyFor } from "../config/policy.ts"
import type { Message, Model, Policy } from "../dtc/types.ts"
import { describeSources } from "../dtc/sources.ts"
import { findRequestedModel, readHistory } from "../dtc/wire.ts"
import { CACHE_READ_PRICE, CACHE_WRITE_PRICE, inputCost, measureCosts, type RequestCost } from "./cost.ts"
import { InputFault } from "./faults.ts"
import type { KnownLimit } from "./limits.ts"
import { followRequests, type FollowedRequest } from "./follow.ts"
import { describeOutputs } from "./outputs.ts"
import type { Progress } from "./progress.ts"
import type { ExportedSession } from "./session.ts"
import { traceRequests, type ChosenOutput } from "./trace.ts"
import { describeTarget } from "./target.ts"
import type { BatchRow, OutputRow, Report, RequestRow, Totals, WindowRow } from "./types.ts"
import { splitWindows } from "./windows.ts"

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
    targetTokens: requests.at(-1)?.targetTokens ?? Math.floor(inputBudget * policy.targetRatio),
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
  const sent = followRequests(history, traceRequests(messages, history, judgement), policy.stablePrefix === true)
  const plain = sent.map(({ segmentEnd, hostCleared }) => ({ segmentEnd, cleared: hostCleared }))
  const costs = measureCosts(history, sent)
  const { window, firstRequest } = numbering
  const lastRequest = firstRequest + sent.length - 1
  const map = describeSources(
    history,
    [...(sent.at(-1)?.cleared ?? [])].map((output) => ({ output })),
  )
  return {
    row: {
      window,
      messages: messages.length,
      ...(map && { sources: map.sources }),
      ...(sent.length > 0 && { firstRequest, lastRequest }),
    },
    requests: sent.flatMap((request, index) => {
      const [cost, number] = [costs[index], firstRequest + index]
      const messageID = messages[request.messageIndex]?.info.id ?? ""
      return cost ? [{ request: number, window, messageID, ...describeRequest(request, cost) }] : []
    }),
    outputs: describeOutputs({ history, sent, policy, numbering }),
    plain: measureCosts(history, plain),
  }
}

function describeRequest(
  request: FollowedRequest,
  { cachedTokens, writtenTokens, breaksPrefix }: RequestCost,
): Omit<RequestRow, "request" | "window" | "messageID"> {
  const { messageIndex, step, requestedAt, beforeTokens, afterTokens, reportedTokens, targetTokens } = request
  return {
    messageIndex,
    step,
    requestedAt,
    ...(beforeTokens === undefined ? { skipped: "unknown-content" } : { beforeTokens }),
    ...(afterTokens !== undefined && { afterTokens }),
    ...(reportedTokens !== undefined && { reportedTokens }),
    targetTokens,
    batch: request.chosen.map(describeChoice),
    clearedOutputs: request.cleared.size,
    cachedTokens: Math.round(cachedTokens),
    writtenTokens: Math.round(writtenTokens),
    breaksPrefix,
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
