import type { Policy, Segment } from "./types.ts"

/**
 * The newest steps of a growing history: whole steps from the newest back until both minimums are met, which are
 * `protectRecentSteps` steps with a tool part on the wire, and `protectRecentTokens` tokens of everything that steps send.
 * One huge step is protected even when the request stays over budget; the budget never lowers protection.
 */
export class RecentSteps {
  private readonly policy: Policy
  private readonly steps: { tokens: number; tools: number }[] = []
  private start = 0
  private tokens = 0
  private tools = 0

  constructor(policy: Policy) {
    this.policy = policy
  }

  /** Segments from this index on are protected. */
  get fromSegment(): number {
    return this.start
  }

  /** Tool steps among them. */
  get toolSteps(): number {
    return this.tools
  }

  /** `tokens`: what the segment sends at this moment. A user message is no step and counts for nothing. */
  append({ kind, sendsTool }: Segment, tokens: number): void {
    const step = kind === "step" ? { tokens, tools: sendsTool ? 1 : 0 } : { tokens: 0, tools: 0 }
    this.steps.push(step)
    this.tokens += step.tokens
    this.tools += step.tools
    for (let oldest = this.steps[this.start]; oldest && this.sufficesWithout(oldest); oldest = this.steps[this.start]) {
      this.tokens -= oldest.tokens
      this.tools -= oldest.tools
      this.start++
    }
  }

  /** A stored mark came into force in the segment: it sends that many tokens less, and older steps may be needed again. */
  shrink(segment: number, tokens: number): void {
    const step = this.steps[segment]
    if (step) step.tokens -= tokens
    if (segment >= this.start) this.tokens -= tokens
    for (let older = this.steps[this.start - 1]; older && this.isShort(); older = this.steps[this.start - 1]) {
      this.start--
      this.tokens += older.tokens
      this.tools += older.tools
    }
  }

  private isShort(): boolean {
    return !this.suffices(this.tools, this.tokens)
  }

  private sufficesWithout({ tokens, tools }: { tokens: number; tools: number }): boolean {
    return this.suffices(this.tools - tools, this.tokens - tokens)
  }

  private suffices(tools: number, tokens: number): boolean {
    return tools >= this.policy.protectRecentSteps && tokens >= this.policy.protectRecentTokens
  }
}
