import { Candidates } from "./candidates.ts"
import { Meter } from "./meter.ts"
import { mayFree, orderByWorth, planBatch, type Pressure, type Selection } from "./select.ts"
import { RecentSteps } from "./steps.ts"
import type { History, Policy, Segment, ToolOutput } from "./types.ts"

export interface ReplayOptions {
  policy: Policy
  /** Absent: nothing is decided. */
  budgetTokens?: number | undefined
  /** The request about to be made clears every eligible output. */
  force: boolean
  /** Told of every request of the window, the one about to be made last. */
  observe?: (request: ReplayedRequest) => void
}

/** One request of the window, as it would be made now. */
export interface ReplayedRequest {
  /** Counted from 0 within the window. */
  index: number
  /** Index into `History.segments`: the request sends everything before it. */
  segment: number
  /** Its size, reminders aside; `undefined` when unknown. */
  tokens: number | undefined
  targetTokens: number
  /** What it lacks, in its own tokens. */
  clearedTokens: number
  /** What it chose itself. */
  chosen: readonly Selection[]
}

export type ChosenSelection = Selection & {
  /** The request that chose it, counted from 0 within the window. */
  requestIndex: number
  /** By that request's estimate. */
  savedTokens: number
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
  private readonly candidates: Candidates
  private readonly cleared = new Map<ToolOutput, ChosenSelection>()
  /** Outputs with a stored mark that is not in force yet, and from when on it is. */
  private readonly awaited = new Map<ToolOutput, number>()
  private nextMarkAt = Infinity
  private readonly lastRequestedAt: number
  /** The latest time so far: requests follow each other in the order of the history, also where a clock was set back. */
  private requestedAt = 0
  /** What the next request sends, carried clears considered. */
  private readonly meter: Meter
  /** Base tokens of the cleared outputs that no stored mark hides. */
  private carriedTokens = 0
  private askedToClear = false
  private requestIndex = 0
  private segmentIndex = 0
  /** Outputs before this index stand in appended segments. */
  private appended = 0

  constructor({ segments, outputs }: History, options: ReplayOptions) {
    this.options = options
    this.stable = options.policy.stablePrefix === true
    this.outputs = outputs
    this.lastRequestedAt = segments.reduce((last, { requestedAt = 0 }) => Math.max(last, requestedAt), 0)
    this.recent = new RecentSteps(options.policy)
    this.candidates = new Candidates(outputs, options.policy)
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
      this.candidates.add(output)
    }
    this.segmentIndex++
    this.meter.append(segment, tokens)
    for (const output of awaited) this.awaitMark(output)
    this.recent.append(segment, tokens)
    this.askedToClear ||= segment.asksToClear
    this.candidates.followEdge(this.recent.fromSegment)
  }

  /** A request of the past: only with a stable prefix does what it decided still count. */
  passRequest(requestedAt: number): void {
    this.requestedAt = Math.max(this.requestedAt, requestedAt)
    this.applyMarks(this.requestedAt)
    this.observe(this.stable ? this.decide(false) : [])
    this.meter.passRequest(this.carriedTokens, this.stable ? 0 : this.estimateMomentary())
    this.askedToClear &&= this.stable
    this.requestIndex++
  }

  finish(): ReplayResult {
    this.applyMarks(Infinity)
    this.observe(this.decide(this.options.force))
    const { meter, requestIndex } = this
    const { tokens, isCalibrated } = meter
    return {
      cleared: [...this.cleared.values()].filter(({ output }) => output.markedAt === undefined),
      requestIndex,
      protectedSteps: this.recent.toolSteps,
      protectedFrom: this.recent.fromSegment,
      tokens: tokens === undefined ? undefined : tokens + meter.reminderTokens,
      targetTokens: this.findTarget().targetTokens,
      isCalibrated,
    }
  }

  /** Content of unknown size adds nothing to what is cleared; a request to clear waits for a size. */
  private decide(force: boolean): readonly Selection[] {
    if (this.options.budgetTokens === undefined || this.meter.tokens === undefined) return []
    const forced = force || (this.stable && this.askedToClear)
    const selected = forced ? orderByWorth(this.candidates.describe("forced")) : this.select(this.meter.tokens)
    for (const selection of selected) this.clear(selection)
    this.askedToClear = false
    return selected
  }

  private observe(chosen: readonly Selection[]): void {
    this.options.observe?.({
      index: this.requestIndex,
      segment: this.segmentIndex,
      tokens: this.meter.tokens,
      targetTokens: this.findTarget().targetTokens,
      clearedTokens: this.carriedTokens * this.meter.slope,
      chosen,
    })
  }

  private select(tokens: number): readonly Selection[] {
    const { targetTokens, historyTokens, budgetTokens } = this.findTarget()
    if (tokens <= targetTokens) return []
    const { slope } = this.meter
    const clearAtLeastRatio = this.stable ? (this.options.policy.clearAtLeastRatio ?? 0) : 0
    const pressure: Pressure = {
      excessTokens: (tokens - targetTokens) / slope,
      overflowTokens: (tokens - budgetTokens) / slope,
      leastTokens: (historyTokens * clearAtLeastRatio) / slope,
      isFirst: this.cleared.size === 0,
    }
    return mayFree(this.candidates.tokens, pressure) ? planBatch(this.candidates.describe("aged"), pressure) : []
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
    if (this.askedToClear) return this.candidates.tokens
    return Math.min(this.candidates.tokens, Math.max(0, tokens - this.findTarget().targetTokens) / slope)
  }

  private clear(selection: Selection): void {
    const { output, reason, witness } = selection
    const { requestIndex, meter } = this
    this.cleared.set(output, {
      output,
      reason,
      witness,
      requestIndex,
      savedTokens: output.savingsTokens * meter.slope,
    })
    this.candidates.remove(output)
    this.carriedTokens += output.savingsTokens
    this.shrink(output)
  }

  /** A mark as young as the newest request of the past was set for the one about to be made. */
  private awaitMark(output: ToolOutput): void {
    const { markedAt: storedAt = 0 } = output
    const markedAt = storedAt >= this.lastRequestedAt ? Infinity : storedAt
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
    this.candidates.followEdge(this.recent.fromSegment)
  }

  private applyMark(output: ToolOutput): void {
    this.awaited.delete(output)
    if (isUnknownInFull(output)) this.meter.removeUnknown(output.segment)
    this.candidates.hide(output)
    if (this.cleared.has(output)) this.carriedTokens -= output.savingsTokens
    else this.shrink(output)
  }

  private shrink({ segment, savingsTokens }: ToolOutput): void {
    this.meter.shrink(savingsTokens)
    this.recent.shrink(segment, savingsTokens)
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
