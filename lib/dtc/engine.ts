import { assertOptions } from "./options.ts"
import { copyPlain, isRecord } from "./plain.ts"
import { replayRequests, type ChosenSelection, type ReplayOptions, type ReplayResult } from "./replay.ts"
import type { Selection } from "./select.ts"
import { countKept, describeSources } from "./sources.ts"
import { findLatestTime, readHistory } from "./wire.ts"
import type {
  ClearedOutput,
  EstimateOptions,
  History,
  Message,
  ProjectOptions,
  Projection,
  ReadOptions,
  SourceMap,
  Stats,
} from "./types.ts"

export type * from "./types.ts"

/**
 * Works out what the messages cost on the wire and, over target, marks old successful tool outputs in a copy of them.
 *
 * Pure and deterministic: the input is never written, the result shares only strings with it. When the content cannot be
 * sized nothing is added to what earlier requests cleared, and `stats.skipped` says so; messages that are not plain data
 * (accessors, class instances, cycles) come back as the input itself, since they cannot be copied faithfully.
 *
 * @throws {TypeError} an invalid policy field or `now`, named in the message.
 */
export function projectMessages(messages: readonly Message[], options: ProjectOptions): Projection {
  assertOptions(options)
  const copy = copyPlain(messages)
  const history = copy && readHistory(copy, describeReading(options))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what cannot be copied comes back as it is
  if (!history) return { messages: copy ?? (messages as Message[]), ...describeUnreadable(options) }

  const replay = replayRequests(history, describeReplay(options))
  applyMarks(copy, replay.cleared, options.now ?? findLatestTime(copy))
  return {
    messages: copy,
    stats: describeStats(options, replay),
    cleared: replay.cleared.map(describeCleared),
    requestIndex: replay.requestIndex,
    ...describeMap(describeSources(history, replay.cleared)),
    kept: countKept(history.outputs, replay, options.policy),
  }
}

/**
 * One row for each message that the host makes of the messages, with where it comes from; they are read as they are, marks
 * included. `undefined` when that cannot be told: the messages are malformed, ids are missing or repeated, or content
 * stands where only a newer host, or one whose provider family were known, could say what it sends.
 */
export function describeProjection(messages: readonly Message[], options: ReadOptions = {}): SourceMap | undefined {
  const copy = copyPlain(messages)
  const history = copy && readHistory(copy, options)
  return history && describeSources(history, [])
}

/**
 * Tokens that the messages cost on the wire by the base estimate, without what the host adds beside them; `undefined` when
 * something that reaches the model cannot be sized. Which outputs a reported size covered only a projection can tell.
 */
export function estimateMessages(messages: readonly Message[], options: EstimateOptions = {}): number | undefined {
  const copy = copyPlain(messages)
  const history = copy && readHistory(copy, options)
  return history && roundUp(estimateHistory(history))
}

function describeReading({ model, policy }: ProjectOptions): ReadOptions {
  return { model, estimateMedia: policy.estimateMedia }
}

function estimateHistory({ segments }: History): number | undefined {
  if (segments.some(({ unknownSize }) => unknownSize)) return undefined
  return segments.reduce((sum, { tokens }) => sum + tokens, 0)
}

function describeReplay({ policy, inputBudget, force = false }: ProjectOptions): ReplayOptions {
  return { policy, budgetTokens: isUsableBudget(inputBudget) ? inputBudget : undefined, force }
}

function isUsableBudget(inputBudget: number): boolean {
  return Number.isFinite(inputBudget) && inputBudget > 0
}

/** The one place that writes: into the copy, after everything is decided. */
function applyMarks(messages: readonly Message[], selections: readonly Selection[], now: number): void {
  for (const { output } of selections) {
    const state = messages[output.messageIndex]?.parts[output.partIndex]?.["state"]
    if (isRecord(state) && isRecord(state["time"])) state["time"]["compacted"] = now
  }
}

function describeStats({ inputBudget }: ProjectOptions, replay: ReplayResult): Stats {
  const { cleared, tokens, targetTokens, protectedSteps } = replay
  const before =
    tokens === undefined ? undefined : tokens + cleared.reduce((sum, { savedTokens }) => sum + savedTokens, 0)
  return {
    foldedTools: cleared.length,
    redundantTools: cleared.filter(({ reason }) => reason === "redundant").length,
    estimatedBefore: roundUp(before),
    estimatedAfter: roundUp(tokens),
    targetTokens,
    inputBudget,
    protectedSteps,
    overBudget: tokens === undefined || tokens > targetTokens,
    ...describeSkip(inputBudget, tokens),
    estimateMethod: replay.isCalibrated ? "calibrated" : "base",
  }
}

function describeSkip(inputBudget: number, tokens: number | undefined): Pick<Stats, "skipped"> {
  if (!isUsableBudget(inputBudget)) return { skipped: "invalid-budget" }
  return tokens === undefined ? { skipped: "unknown-content" } : {}
}

function describeUnreadable(options: ProjectOptions): Omit<Projection, "messages"> {
  const nothing = replayRequests({ segments: [], outputs: [], origins: [] }, describeReplay(options))
  const stats = describeStats(options, { ...nothing, tokens: undefined })
  return { stats, cleared: [], requestIndex: 0, ...describeMap(undefined), kept: {} }
}

function describeMap(map: SourceMap | undefined): Pick<Projection, "sources" | "historyMessageCount"> {
  return { sources: map?.sources, historyMessageCount: map?.historyMessageCount }
}

function describeCleared({ output, reason, witness, requestIndex, savedTokens }: ChosenSelection): ClearedOutput {
  const { messageIndex, messageID, partID, callID, tool } = output
  return {
    messageIndex,
    messageID,
    partID,
    callID,
    tool,
    reason,
    ...(witness && { witnessCallID: witness.callID }),
    savedTokens: Math.floor(savedTokens),
    requestIndex,
  }
}

function roundUp(tokens: number | undefined): number | undefined {
  return tokens === undefined ? undefined : Math.ceil(tokens)
}
