import { findKeptReason } from "./eligibility.ts"
import { findWitnesses } from "./redundancy.ts"
import type { RecentProtection } from "./steps.ts"
import type { ClearReason, History, Policy, ToolOutput } from "./types.ts"

export interface Selection {
  output: ToolOutput
  reason: ClearReason
  /** Redundant outputs only. */
  witness?: ToolOutput
}

export interface Pressure {
  /** Tokens on the wire before clearing. */
  tokens: number
  targetTokens: number
  /** Clear every eligible output, whatever the pressure. */
  force: boolean
}

/**
 * The outputs to clear for one request: redundant ones first, then the others, each oldest first, until the request is
 * within its target. The second pass may take a last copy.
 */
export function selectOutputs(
  history: History,
  policy: Policy,
  protection: RecentProtection,
  pressure: Pressure,
): Selection[] {
  if (!pressure.force && pressure.tokens <= pressure.targetTokens) return []
  const eligible = history.outputs.filter((output) => findKeptReason(output, policy) === undefined)
  const candidates = eligible.filter((output) => output.segment < protection.fromSegment)
  const ordered = orderByWorth(candidates, findWitnesses(eligible), pressure.force ? "forced" : "aged")
  return pressure.force ? ordered : takeUntilWithinTarget(ordered, pressure)
}

function orderByWorth(
  candidates: readonly ToolOutput[],
  witnesses: ReadonlyMap<ToolOutput, ToolOutput>,
  otherReason: ClearReason,
): Selection[] {
  const redundant: Selection[] = []
  const others: Selection[] = []
  for (const output of candidates) {
    const witness = witnesses.get(output)
    if (witness) redundant.push({ output, reason: "redundant", witness })
    else others.push({ output, reason: otherReason })
  }
  return [...redundant, ...others]
}

function takeUntilWithinTarget(ordered: readonly Selection[], { tokens, targetTokens }: Pressure): Selection[] {
  let remainingTokens = tokens
  const enough = ordered.findIndex(({ output }) => (remainingTokens -= output.savingsTokens) <= targetTokens)
  return enough < 0 ? [...ordered] : ordered.slice(0, enough + 1)
}
