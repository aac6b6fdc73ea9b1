import { isEligible } from "./eligibility.ts"
import { Copies } from "./redundancy.ts"
import type { Selection } from "./select.ts"
import type { Policy, ToolOutput } from "./types.ts"

/** What a growing history's next request may be cleared of: eligible, visible, and older than the recent steps. */
export class Candidates {
  private readonly policy: Policy
  private readonly outputs: readonly ToolOutput[]
  private readonly copies = new Copies()
  /** Eligible and visible, recent or not. */
  private readonly clearable = new Set<ToolOutput>()
  /** In the order of the history, since the edge moves along it. */
  private readonly old = new Set<ToolOutput>()
  private oldTokens = 0
  /** Outputs before this index are not recent. */
  private aged = 0

  /** Expects all outputs of the history; those that are not added yet count for nothing. */
  constructor(outputs: readonly ToolOutput[], policy: Policy) {
    this.outputs = outputs
    this.policy = policy
  }

  /** Base tokens that clearing all of them would free. */
  get tokens(): number {
    return this.oldTokens
  }

  add(output: ToolOutput): void {
    if (!isEligible(output, this.policy)) return
    this.clearable.add(output)
    this.copies.add(output)
  }

  /** Cleared by a selection. */
  remove(output: ToolOutput): void {
    this.clearable.delete(output)
    this.removeOld(output)
  }

  /** Hidden by a stored mark. */
  hide(output: ToolOutput): void {
    this.copies.hide(output)
    this.remove(output)
  }

  /** Follows the edge of the recent steps, which a mark may move back. `edge`: segments from this index on are recent. */
  followEdge(edge: number): void {
    for (let output = this.outputs[this.aged]; output && output.segment < edge; output = this.outputs[this.aged]) {
      this.aged++
      if (this.clearable.has(output)) this.addOld(output)
    }
    for (
      let output = this.outputs[this.aged - 1];
      output && output.segment >= edge;
      output = this.outputs[this.aged - 1]
    ) {
      this.aged--
      this.removeOld(output)
    }
  }

  /** Oldest first. `otherReason`: why those without a later copy would be cleared. */
  describe(otherReason: "aged" | "forced"): Selection[] {
    return [...this.old].map((output) => {
      const witness = this.copies.findWitness(output)
      return witness ? { output, reason: "redundant", witness } : { output, reason: otherReason }
    })
  }

  private addOld(output: ToolOutput): void {
    this.old.add(output)
    this.oldTokens += output.savingsTokens
  }

  private removeOld(output: ToolOutput): void {
    if (this.old.delete(output)) this.oldTokens -= output.savingsTokens
  }
}
