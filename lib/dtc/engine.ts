import { assertOptions } from "./options.ts"
import { copyPlain, isRecord } from "./plain.ts"
import { replayRequests, type ChosenSelection, type ReplayOptions, type ReplayResult } from "./replay.ts"
import { sumSavings, type Selection } from "./select.ts"
import { findLatestTime, readHistory } from "./wire.ts"
import type {
  ClearedOutput,
  EstimateOptions,
  History,
  Message,
  Policy,
  ProjectOptions,
  Projection,
  ReadOptions,
  Stats,
} from "./types.ts"

export type * from "./types.ts"

const NOTHING_CLEARED: ReplayResult = { cleared: [], protectedSteps: 0, requestIndex: 0 }

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
  if (!history) return { messages: copy ?? (messages as Message[]), stats: describeUnreadable(options), cleared: [] }

  const before = estimateHistory(history)
  const skipped = findSkipReason(before, options.inputBudget)
  const replay = skipped === "invalid-budget" ? NOTHING_CLEARED : replayRequests(history, describeReplay(options))
  applyMarks(copy, replay.cleared, options.now ?? findLatestTime(copy))
  return {
    messages: copy,
    stats: describeStats(options, replay, before, skipped),
    cleared: replay.cleared.map(describeCleared),
  }
}

/** Tokens that the messages cost on the wire; `undefined` when something that reaches the model cannot be sized. */
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

function findSkipReason(tokens: number | undefined, inputBudget: number): Stats["skipped"] {
  if (!isUsableBudget(inputBudget)) return "invalid-budget"
  return tokens === undefined ? "unknown-content" : undefined
}

function describeReplay({ policy, inputBudget, force = false }: ProjectOptions): ReplayOptions {
  return { policy, targetTokens: findTarget(policy, inputBudget), budgetTokens: inputBudget, force }
}

/** Share of the budget that history may use; 0 for an invalid budget. */
function findTarget({ targetRatio }: Policy, inputBudget: number): number {
  return isUsableBudget(inputBudget) ? Math.floor(inputBudget * targetRatio) : 0
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

function describeStats(
  { policy, inputBudget }: ProjectOptions,
  { cleared, protectedSteps, requestIndex }: ReplayResult,
  before: number | undefined,
  skipped: Stats["skipped"],
): Stats {
  const after = before === undefined ? undefined : before - sumSavings(cleared)
  const targetTokens = findTarget(policy, inputBudget)
  return {
    requestIndex,
    foldedTools: cleared.length,
    redundantTools: cleared.filter(({ reason }) => reason === "redundant").length,
    estimatedBefore: roundUp(before),
    estimatedAfter: roundUp(after),
    targetTokens,
    inputBudget,
    protectedSteps,
    overBudget: after === undefined || after > targetTokens,
    ...(skipped && { skipped }),
    estimateMethod: "base",
  }
}

function describeUnreadable(options: ProjectOptions): Stats {
  const skipped = findSkipReason(undefined, options.inputBudget)
  return describeStats(options, NOTHING_CLEARED, undefined, skipped)
}

function describeCleared({ output, reason, witness, requestIndex }: ChosenSelection): ClearedOutput {
  const { messageIndex, messageID, partID, callID, tool, savingsTokens } = output
  return {
    messageIndex,
    messageID,
    partID,
    callID,
    tool,
    reason,
    ...(witness && { witnessCallID: witness.callID }),
    savedTokens: Math.floor(savingsTokens),
    requestIndex,
  }
}

function roundUp(tokens: number | undefined): number | undefined {
  return tokens === undefined ? undefined : Math.ceil(tokens)
}
