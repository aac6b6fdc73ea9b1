import { assertOptions } from "./options.ts"
import { copyPlain, fieldOf, isPlain, withField } from "./plain.ts"
import { replayRequests, type ChosenSelection, type ReplayOptions, type ReplayResult } from "./replay.ts"
import type { Selection } from "./select.ts"
import { countKept, describeSources } from "./sources.ts"
import { findLatestTime, readHistory } from "./wire.ts"
import type {
  ClearedOutput,
  EstimateOptions,
  History,
  MarkedMessage,
  Message,
  Part,
  ProjectOptions,
  Projection,
  ProjectionPlan,
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what cannot be copied comes back as it is
  if (!copy) return { messages: messages as Message[], ...describeUnreadable(options) }
  const { marked, ...projection } = planReadable(copy, options)
  for (const { messageIndex, message } of marked) copy[messageIndex] = message
  return { messages: copy, ...projection }
}

/**
 * As `projectMessages`, without the copy: whoever owns the messages puts the marked ones in their places. Those are new, down to
 * the marks; whatever else they hold is shared with the input.
 *
 * @throws {TypeError} an invalid policy field or `now`, named in the message.
 */
export function planProjection(messages: readonly Message[], options: ProjectOptions): ProjectionPlan {
  assertOptions(options)
  return isPlain(messages) ? planReadable(messages, options) : { marked: [], ...describeUnreadable(options) }
}

/**
 * One row for each message that the host makes of the messages, with where it comes from; they are read as they are, marks
 * included. `undefined` when that cannot be told: the messages are malformed, ids are missing or repeated, or content
 * stands where only a newer host, or one whose provider family were known, could say what it sends.
 */
export function describeProjection(messages: readonly Message[], options: ReadOptions = {}): SourceMap | undefined {
  const history = isPlain(messages) ? readHistory(messages, options) : undefined
  return history && describeSources(history, [])
}

/**
 * Tokens that the messages cost on the wire by the base estimate, without what the host adds beside them; `undefined` when
 * something that reaches the model cannot be sized. Which outputs a reported size covered only a projection can tell.
 */
export function estimateMessages(messages: readonly Message[], options: EstimateOptions = {}): number | undefined {
  const history = isPlain(messages) ? readHistory(messages, options) : undefined
  return history && roundUp(estimateHistory(history))
}

function planReadable(messages: readonly Message[], options: ProjectOptions): ProjectionPlan {
  const history = readHistory(messages, describeReading(options))
  if (!history) return { marked: [], ...describeUnreadable(options) }
  const replay = replayRequests(history, describeReplay(options))
  return {
    marked: markMessages(messages, replay.cleared, options.now ?? findLatestTime(messages)),
    stats: describeStats(options, replay),
    cleared: replay.cleared.map(describeCleared),
    requestIndex: replay.requestIndex,
    ...describeMap(describeSources(history, replay.cleared)),
    kept: countKept(history.outputs, replay, options.policy),
  }
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

/** Marks are written into new messages: what the input holds stays as it is. */
function markMessages(messages: readonly Message[], selections: readonly Selection[], now: number): MarkedMessage[] {
  const marked = new Map<number, Part[]>()
  for (const { output } of selections) {
    const { messageIndex, partIndex } = output
    const parts = marked.get(messageIndex) ?? [...messages[messageIndex]!.parts]
    parts[partIndex] = markPart(parts[partIndex]!, now)
    marked.set(messageIndex, parts)
  }
  return Array.from(marked, ([messageIndex, parts]) => ({
    messageIndex,
    message: withField(messages[messageIndex]!, "parts", parts),
  }))
}

function markPart(part: Part, now: number): Part {
  const state = part["state"]
  return withField(part, "state", withField(state, "time", withField(fieldOf(state, "time"), "compacted", now)))
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

function describeUnreadable(options: ProjectOptions): Omit<ProjectionPlan, "marked"> {
  const nothing = replayRequests({ segments: [], outputs: [] }, describeReplay(options))
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
