import { isEligible } from "./eligibility.ts"
import { Copies } from "./redundancy.ts"
import { orderByWorth, planBatch, type Selection } from "./select.ts"
import { RecentSteps } from "./steps.ts"
import type { History, Policy, Segment, ToolOutput } from "./types.ts"

export interface ReplayOptions {
  policy: Policy
  targetTokens: number
  budgetTokens: number
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
  /** Newest tool steps that it protects. */
  protectedSteps: number
  /** Its number, counted from 0 within the window. */
  requestIndex: number
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
  private tokens = 0
  private unknownSizes = 0
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
  }

  /** A stored mark counts from its time on: until then the segment is as large as the output in full. */
  append(segment: Segment): void {
    let { tokens } = segment
    if (segment.unknownSize) this.unknownSizes++
    for (
      let output = this.outputs[this.appended];
      output?.segment === this.segmentIndex;
      output = this.outputs[this.appended]
    ) {
      this.appended++
      if (output.markedAt !== undefined) {
        this.awaitMark(output, output.markedAt)
        tokens += output.savingsTokens
      }
      if (!isEligible(output, this.options.policy)) continue
      this.clearable.add(output)
      this.copies.add(output)
    }
    this.segmentIndex++
    this.tokens += tokens - segment.reminderTokens
    this.recent.append(segment, tokens)
    this.askedToClear ||= segment.asksToClear
    this.sortByAge()
  }

  /** A request of the past: only with a stable prefix does what it decided still count. */
  passRequest(requestedAt: number): void {
    if (this.stable) this.decide(requestedAt, false)
    this.requestIndex++
  }

  finish(): ReplayResult {
    this.decide(Infinity, this.options.force)
    const cleared = [...this.cleared.values()].filter(({ output }) => output.markedAt === undefined)
    return { cleared, protectedSteps: this.recent.toolSteps, requestIndex: this.requestIndex }
  }

  /** Content of unknown size adds nothing to what is cleared; a request to clear waits for a size. */
  private decide(requestedAt: number, force: boolean): void {
    if (requestedAt >= this.nextMarkAt) this.applyMarks(requestedAt)
    if (this.unknownSizes > 0) return
    const forced = force || (this.stable && this.askedToClear)
    for (const selection of this.select(forced)) this.clear(selection)
    this.askedToClear = false
  }

  private select(forced: boolean): readonly Selection[] {
    const { targetTokens, budgetTokens, policy } = this.options
    if (forced) return orderByWorth(this.describeCandidates("forced"))
    if (this.tokens <= targetTokens) return []
    const clearAtLeastRatio = this.stable ? (policy.clearAtLeastRatio ?? 0) : 0
    return planBatch(this.describeCandidates("aged"), {
      tokens: this.tokens,
      targetTokens,
      budgetTokens,
      clearAtLeastRatio,
    })
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
    this.candidates.delete(output)
    this.shrink(output)
  }

  private awaitMark(output: ToolOutput, markedAt: number): void {
    if (isUnknownInFull(output)) this.unknownSizes++
    this.awaited.set(output, markedAt)
    this.nextMarkAt = Math.min(this.nextMarkAt, markedAt)
  }

  private applyMarks(until: number): void {
    this.nextMarkAt = Infinity
    for (const [output, markedAt] of this.awaited) {
      if (markedAt <= until) this.applyMark(output)
      else this.nextMarkAt = Math.min(this.nextMarkAt, markedAt)
    }
    this.sortByAge()
  }

  private applyMark(output: ToolOutput): void {
    this.awaited.delete(output)
    if (isUnknownInFull(output)) this.unknownSizes--
    this.copies.hide(output)
    this.clearable.delete(output)
    this.candidates.delete(output)
    if (!this.cleared.has(output)) this.shrink(output)
  }

  private shrink({ segment, savingsTokens }: ToolOutput): void {
    this.tokens -= savingsTokens
    this.recent.shrink(segment, savingsTokens)
  }

  /** Follows the edge of the recent steps, which a mark may move back. */
  private sortByAge(): void {
    const edge = this.recent.fromSegment
    for (let output = this.outputs[this.aged]; output && output.segment < edge; output = this.outputs[this.aged]) {
      this.aged++
      if (this.clearable.has(output)) this.candidates.add(output)
    }
    for (
      let output = this.outputs[this.aged - 1];
      output && output.segment >= edge;
      output = this.outputs[this.aged - 1]
    ) {
      this.aged--
      this.candidates.delete(output)
    }
  }
}

/** Before its mark came into force, what the output sent had no known size. */
function isUnknownInFull({ facts, text }: ToolOutput): boolean {
  return facts.sent && facts.outcome === "completed" && (facts.attachments || text === undefined)
}

function byPosition(left: ToolOutput, right: ToolOutput): number {
  return left.messageIndex - right.messageIndex || left.partIndex - right.partIndex
}
