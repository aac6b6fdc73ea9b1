import { isEligible } from "./eligibility.ts"
import { Meter } from "./meter.ts"
import { Copies } from "./redundancy.ts"
import { orderByWorth, planBatch, type Selection } from "./select.ts"
import { RecentSteps } from "./steps.ts"
import type { History, Policy, Segment, ToolOutput } from "./types.ts"

export interface ReplayOptions {
  policy: Policy
  /** Absent: nothing is decided. */
  budgetTokens?: number | undefined
  /** The request about to be made clears every eligible output. */
  force: boolean
}

export type ChosenSelection = Selection & {
  /** The request that chose it, counted from 0 within the window. */
  requestIndex: number
}

export interface ReplayResult {
  /** What the request about to be made is sent without, in the order of choice. */
  cleared: readonly ChosenSelection[]
  /** Index of the request about to be made, counted from 0 within the window. */
  requestIndex: number
  /** Newest tool steps that it protects. */
  protectedSteps: number
  /** Segments from this index on are protected. */
  protectedFrom: number
  /** Its size, reminders included; `undefined` when unknown. */
  tokens: number | undefined
  targetTokens: number
  /** What a token of the base estimate costs. */
  slope: number
  isCalibrated: boolean
}

/**
 * Walks the window's requests in order and carries the cleared set forward; the request about to be made is the last one.
 * Without `stablePrefix` only that one decides. History alone determines the result: nothing is remembered between calls.
 *
 * Linear but for the candidates that wait for a batch, which are fewer than a batch holds.
 */
export function replayRequests(history: History, options: ReplayOptions): ReplayResult {
  const replay = new Replay(history, options)
  for (const segment of history.segments) {
    if (segment.requestedAt !== undefined) replay.passRequest(segment.requestedAt)
    replay.append(segment)
  }
  return replay.finish()
}

class Replay {
  private readonly options: ReplayOptions
  private readonly stable: boolean
  private readonly outputs: readonly ToolOutput[]
  private readonly recent: RecentSteps
  private readonly copies = new Copies()
  private readonly cleared = new Map<ToolOutput, ChosenSelection>()
  /** Outputs that could be cleared if they are not recent: eligible and visible. */
  private readonly clearable = new Set<ToolOutput>()
  /** Those of them that are not recent. */
  private readonly candidates = new Set<ToolOutput>()
  /** Outputs with a stored mark that is not in force yet, and from when on it is. */
  private readonly awaited = new Map<ToolOutput, number>()
  private nextMarkAt = Infinity
  /** What the next request sends, carried clears considered. */
  private readonly meter: Meter
  /** Base tokens of the cleared outputs that no stored mark hides. */
  private carriedTokens = 0
  /** Base tokens that clearing every candidate would free. */
  private candidateTokens = 0
  private askedToClear = false
  private requestIndex = 0
  private segmentIndex = 0
  /** Outputs before this index stand in appended segments. */
  private appended = 0
  /** Outputs before this index are no longer recent. */
  private aged = 0

  constructor({ outputs }: History, options: ReplayOptions) {
    this.options = options
    this.stable = options.policy.stablePrefix === true
    this.outputs = outputs
    this.recent = new RecentSteps(options.policy)
    this.meter = new Meter({ calibrate: options.policy.calibrate === true, budgetTokens: options.budgetTokens })
  }

  /** A stored mark counts from its time on: until then the segment is as large as the output in full. */
  append(segment: Segment): void {
    let { tokens } = segment
    const awaited: ToolOutput[] = []
    for (
      let output = this.outputs[this.appended];
      output?.segment === this.segmentIndex;
      output = this.outputs[this.appended]
    ) {
      this.appended++
      if (output.markedAt !== undefined) {
        awaited.push(output)
        tokens += output.savingsTokens
      }
      if (!isEligible(output, this.options.policy)) continue
      this.clearable.add(output)
      this.copies.add(output)
    }
    this.segmentIndex++
    this.meter.append(segment, tokens)
    for (const output of awaited) this.awaitMark(output)
    this.recent.append(segment, tokens)
    this.askedToClear ||= segment.asksToClear
    this.sortByAge()
  }

  /** A request of the past: only with a stable prefix does what it decided still count. */
  passRequest(requestedAt: number): void {
    this.applyMarks(requestedAt)
    if (this.stable) this.decide(false)
    this.meter.passRequest(this.carriedTokens, this.stable ? 0 : this.estimateMomentary())
    this.askedToClear &&= this.stable
    this.requestIndex++
  }

  finish(): ReplayResult {
    this.applyMarks(Infinity)
    this.decide(this.options.force)
    const { meter, requestIndex } = this
    const { tokens, slope, isCalibrated } = meter
    return {
      cleared: [...this.cleared.values()].filter(({ output }) => output.markedAt === undefined),
      requestIndex,
      protectedSteps: this.recent.toolSteps,
      protectedFrom: this.recent.fromSegment,
      tokens: tokens === undefined ? undefined : tokens + meter.reminderTokens,
      targetTokens: this.findTarget().targetTokens,
      slope,
      isCalibrated,
    }
  }

  /** Content of unknown size adds nothing to what is cleared; a request to clear waits for a size. */
  private decide(force: boolean): void {
    if (this.options.budgetTokens === undefined || this.meter.tokens === undefined) return
    const forced = force || (this.stable && this.askedToClear)
    const selected = forced ? orderByWorth(this.describeCandidates("forced")) : this.select(this.meter.tokens)
    for (const selection of selected) this.clear(selection)
    this.askedToClear = false
  }

  private select(tokens: number): readonly Selection[] {
    const { targetTokens, historyTokens, budgetTokens } = this.findTarget()
    if (tokens <= targetTokens) return []
    const { slope } = this.meter
    const clearAtLeastRatio = this.stable ? (this.options.policy.clearAtLeastRatio ?? 0) : 0
    return planBatch(this.describeCandidates("aged"), {
      excessTokens: (tokens - targetTokens) / slope,
      overflowTokens: (tokens - budgetTokens) / slope,
      leastTokens: (historyTokens * clearAtLeastRatio) / slope,
    })
  }

  /**
   * The ratio is of what the budget leaves to the history: system prompt and tool schemas, once a report tells what they cost,
   * take their part first.
   */
  private findTarget(): Target {
    const { budgetTokens = 0, policy } = this.options
    const overheadTokens = Math.min(this.meter.overheadTokens, budgetTokens)
    const targetTokens = Math.floor(overheadTokens + (budgetTokens - overheadTokens) * policy.targetRatio)
    return { targetTokens, historyTokens: targetTokens - overheadTokens, budgetTokens }
  }

  /** Without a stable prefix, what a past request was cleared of: to its target, if the candidates sufficed. */
  private estimateMomentary(): number {
    const { tokens, slope } = this.meter
    if (tokens === undefined || this.options.budgetTokens === undefined) return 0
    if (this.askedToClear) return this.candidateTokens
    return Math.min(this.candidateTokens, Math.max(0, tokens - this.findTarget().targetTokens) / slope)
  }

  private describeCandidates(otherReason: "aged" | "forced"): Selection[] {
    return [...this.candidates].toSorted(byPosition).map((output) => {
      const witness = this.copies.findWitness(output)
      return witness ? { output, reason: "redundant", witness } : { output, reason: otherReason }
    })
  }

  private clear(selection: Selection): void {
    const { output } = selection
    this.cleared.set(output, { ...selection, requestIndex: this.requestIndex })
    this.clearable.delete(output)
    this.removeCandidate(output)
    this.carriedTokens += output.savingsTokens
    this.shrink(output)
  }

  private awaitMark(output: ToolOutput): void {
    const { markedAt = 0 } = output
    if (isUnknownInFull(output)) this.meter.addUnknown()
    this.awaited.set(output, markedAt)
    this.nextMarkAt = Math.min(this.nextMarkAt, markedAt)
  }

  private applyMarks(until: number): void {
    if (until < this.nextMarkAt) return
    this.nextMarkAt = Infinity
    for (const [output, markedAt] of this.awaited) {
      if (markedAt <= until) this.applyMark(output)
      else this.nextMarkAt = Math.min(this.nextMarkAt, markedAt)
    }
    this.sortByAge()
  }

  private applyMark(output: ToolOutput): void {
    this.awaited.delete(output)
    if (isUnknownInFull(output)) this.meter.removeUnknown(output.segment)
    this.copies.hide(output)
    this.clearable.delete(output)
    this.removeCandidate(output)
    if (this.cleared.has(output)) this.carriedTokens -= output.savingsTokens
    else this.shrink(output)
  }

  private shrink({ segment, savingsTokens }: ToolOutput): void {
    this.meter.shrink(savingsTokens)
    this.recent.shrink(segment, savingsTokens)
  }

  /** Follows the edge of the recent steps, which a mark may move back. */
  private sortByAge(): void {
    const edge = this.recent.fromSegment
    for (let output = this.outputs[this.aged]; output && output.segment < edge; output = this.outputs[this.aged]) {
      this.aged++
      if (this.clearable.has(output)) this.addCandidate(output)
    }
    for (
      let output = this.outputs[this.aged - 1];
      output && output.segment >= edge;
      output = this.outputs[this.aged - 1]
    ) {
      this.aged--
      this.removeCandidate(output)
    }
  }

  private addCandidate(output: ToolOutput): void {
    this.candidates.add(output)
    this.candidateTokens += output.savingsTokens
  }

  private removeCandidate(output: ToolOutput): void {
    if (this.candidates.delete(output)) this.candidateTokens -= output.savingsTokens
  }
}

interface Target {
  targetTokens: number
  /** The part of the target that is the history's. */
  historyTokens: number
  budgetTokens: number
}

/** Before its mark came into force, what the output sent had no known size. */
function isUnknownInFull({ facts, text }: ToolOutput): boolean {
  return facts.sent && facts.outcome === "completed" && (facts.attachments || text === undefined)
}

function byPosition(left: ToolOutput, right: ToolOutput): number {
  return left.messageIndex - right.messageIndex || left.partIndex - right.partIndex
}
