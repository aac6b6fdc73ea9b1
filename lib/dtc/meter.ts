import type { Segment, UsageReport } from "./types.ts"

/**
 * Chosen by `npm run bench:estimate` (docs/decisions/2026-12-01-calibration.md): what a token of the base estimate really
 * costs before growth has been seen, and how much seen growth outweighs that.
 */
const PRIOR_SLOPE = 1.1
const PRIOR_TOKENS = 2_000

/** Growth that says nothing about the slope: too little, or so much per token that something else grew. */
const LEAST_GROWTH_TOKENS = 200
const SLOPES = { least: 0.5, most: 3 } as const

/** A report that is further from what was expected than this must be confirmed by the next one. */
const DOUBT = { tokens: 10_000, share: 0.5 } as const

/** A report below this share of the base estimate, or above so many budgets, describes something else. */
const PLAUSIBLE = { leastOfBase: 0.25, mostBudgets: 2 } as const

export interface MeterOptions {
  calibrate: boolean
  /** Absent: no report is too large. */
  budgetTokens?: number | undefined
}

/** Sums over everything that a request sends. */
interface Level {
  /** By the base estimate. */
  baseTokens: number
  /** Of them: those that no report states. */
  estimatedTokens: number
  /** Stated by reports: what responses wrote, in the provider's tokens. */
  writtenTokens: number
  /** Reminders beside all that. */
  reminderTokens: number
  /** Contents of unknown size. */
  unknowns: number
  segments: number
}

/** A reported size and what it is the size of. */
interface Anchor {
  tokens: number
  level: Level
}

/**
 * Weighs what the next request of a growing history sends: by the base estimate, or, calibrated, as the last reported size
 * plus the growth since. What responses wrote grows by their reported output; the rest by its base estimate times the slope
 * seen so far. A report covers content of unknown size that was there before it.
 */
export class Meter {
  private readonly options: MeterOptions
  private readonly level: Level = {
    baseTokens: 0,
    estimatedTokens: 0,
    writtenTokens: 0,
    reminderTokens: 0,
    unknowns: 0,
    segments: 0,
  }
  /** What the latest request sent, and the tokens that it may have sent beside that. */
  private sent: { level: Level; clearedTokens: number } | undefined
  private anchor: Anchor | undefined
  /** A report that awaits the next one's confirmation. */
  private doubted: Anchor | undefined
  private growth = { base: PRIOR_TOKENS, reported: PRIOR_SLOPE * PRIOR_TOKENS }
  private overhead: number | undefined

  constructor(options: MeterOptions) {
    this.options = options
  }

  get isCalibrated(): boolean {
    return this.anchor !== undefined
  }

  /** What a token of the base estimate costs. */
  get slope(): number {
    if (!this.anchor) return 1
    return Math.min(SLOPES.most, Math.max(SLOPES.least, this.growth.reported / this.growth.base))
  }

  /** What a request carries beside the history, as far as a report tells: system prompt and tool schemas. */
  get overheadTokens(): number {
    return this.overhead ?? 0
  }

  /** Without reminders, which come and go; `undefined` when something of unknown size is in it that no report covers. */
  get tokens(): number | undefined {
    if (this.level.unknowns > (this.anchor?.level.unknowns ?? 0)) return undefined
    return this.anchor ? Math.max(0, this.predict(this.anchor, this.level)) : this.level.baseTokens
  }

  /** Reminders that no report covers. */
  get reminderTokens(): number {
    return this.slope * (this.level.reminderTokens - (this.anchor?.level.reminderTokens ?? 0))
  }

  /** `tokens`: what the segment sends at this moment, by the base estimate. It may bring the report on the latest request. */
  append(segment: Segment, tokens: number): void {
    const { report, reminderTokens, unknownSize } = segment
    if (report && this.options.calibrate) this.readReport(report)
    const { level } = this
    level.baseTokens += tokens - reminderTokens
    level.estimatedTokens += tokens - reminderTokens
    if (report?.writtenTokens !== undefined) {
      level.estimatedTokens -= segment.writtenTokens
      level.writtenTokens += report.writtenTokens
    }
    level.reminderTokens += reminderTokens
    if (unknownSize) level.unknowns++
    level.segments++
  }

  /** An output is sent without its text from now on. */
  shrink(tokens: number): void {
    this.level.baseTokens -= tokens
    this.level.estimatedTokens -= tokens
  }

  addUnknown(): void {
    this.level.unknowns++
  }

  /** The content goes; a report that covers it describes more than what is left. */
  removeUnknown(segment: number): void {
    this.level.unknowns--
    if (this.anchor && segment < this.anchor.level.segments) this.anchor = undefined
  }

  /**
   * A request is made of everything so far. If this engine made it, it was sent without `momentaryTokens`, which it alone lacked,
   * and without `carriedTokens`, which are left out already.
   */
  passRequest(carriedTokens: number, momentaryTokens: number): void {
    this.sent = { level: shift(this.level, -momentaryTokens), clearedTokens: carriedTokens + momentaryTokens }
  }

  private readReport(report: UsageReport): void {
    const reading = this.sent && this.findReading(report, this.sent.level, this.sent.clearedTokens)
    if (!reading) return
    const { anchor, doubted } = this
    const comparable = anchor !== undefined && reading.level.unknowns <= anchor.level.unknowns
    if (comparable && this.isDoubtful(reading, anchor) && !(doubted && !this.isDoubtful(reading, doubted))) {
      this.doubted = reading
      return
    }
    if (comparable) this.learnGrowth(anchor, reading)
    this.doubted = undefined
    this.anchor = reading
    this.overhead ??= Math.max(0, reading.tokens - this.slope * reading.level.baseTokens)
  }

  /**
   * A report may describe the request as this engine sends it or, where it was not installed or skipped one, with every output;
   * and some providers count cached tokens twice. What fits best what is known counts.
   */
  private findReading(report: UsageReport, level: Level, clearedTokens: number): Anchor | undefined {
    const { promptTokens, promptTokensCachedInside } = report
    const sizes = this.anchor && promptTokensCachedInside ? [promptTokens, promptTokensCachedInside] : [promptTokens]
    const levels = [level, shift(level, clearedTokens)]
    let best: Anchor | undefined
    for (const tokens of sizes) {
      for (const described of levels) {
        const reading = { tokens, level: described }
        if (this.isPlausible(reading) && (!best || this.misfit(reading) < this.misfit(best))) best = reading
      }
    }
    return best
  }

  private isPlausible({ tokens, level }: Anchor): boolean {
    const { budgetTokens = Infinity } = this.options
    return tokens >= level.baseTokens * PLAUSIBLE.leastOfBase && tokens <= budgetTokens * PLAUSIBLE.mostBudgets
  }

  private misfit({ tokens, level }: Anchor): number {
    const expected = this.anchor ? this.predict(this.anchor, level) : level.baseTokens * PRIOR_SLOPE
    return Math.abs(tokens - expected)
  }

  private isDoubtful({ tokens, level }: Anchor, anchor: Anchor): boolean {
    const expected = this.predict(anchor, level)
    return Math.abs(tokens - expected) > Math.max(DOUBT.tokens, expected * DOUBT.share)
  }

  private learnGrowth(from: Anchor, to: Anchor): void {
    const base = to.level.estimatedTokens - from.level.estimatedTokens
    const reported = to.tokens - from.tokens - (to.level.writtenTokens - from.level.writtenTokens)
    if (base < LEAST_GROWTH_TOKENS || reported < base * SLOPES.least || reported > base * SLOPES.most) return
    this.growth = { base: this.growth.base + base, reported: this.growth.reported + reported }
  }

  private predict({ tokens, level }: Anchor, to: Level): number {
    return tokens + (to.writtenTokens - level.writtenTokens) + this.slope * (to.estimatedTokens - level.estimatedTokens)
  }
}

function shift(level: Level, tokens: number): Level {
  return { ...level, baseTokens: level.baseTokens + tokens, estimatedTokens: level.estimatedTokens + tokens }
}
