import { findKeptReason } from "../../lib/dtc/eligibility.ts"
import { isHiddenByMark, weighPlainly, type Request, type Weight } from "./reference-meter.ts"
import type { History, Policy, ToolOutput } from "../../lib/dtc/types.ts"

interface Choice {
  partID: string
  reason: string
  witnessCallID?: string
  requestIndex: number
  savedTokens: number
}

export interface PlainReplay {
  choices: Choice[]
  /** Without reminders. */
  tokens: number | undefined
  targetTokens: number
  isCalibrated: boolean
}

/**
 * The contract's selection, said plainly and slowly: every request is judged from nothing, with loops over everything. The
 * engine must choose the same.
 */
export function replayPlainly(history: History, inputBudget: number, policy: Policy, force: boolean): PlainReplay {
  const carried = new Map<ToolOutput, Choice>()
  const past: Request[] = []
  // Requests follow each other in the order of the history, whatever a clock that was set back says about one of them.
  const latestUntil = (end: number): number =>
    Math.max(...history.segments.slice(0, end + 1).map(({ requestedAt = 0 }) => requestedAt))
  const starts = history.segments.flatMap(({ requestedAt }, index) =>
    requestedAt === undefined ? [] : [{ requestedAt: latestUntil(index), index }],
  )
  const weigh = (
    end: number,
    at: number,
    momentaryTokens = 0,
  ): { request: Request; weight: Weight; target: Target } => {
    const request = { end, at, cleared: new Set(carried.keys()), momentaryTokens }
    const weight = weighPlainly(history, past, request, policy.calibrate === true, inputBudget)
    return { request, weight, target: findTarget(weight, inputBudget, policy) }
  }
  const decide = (end: number, at: number, forced: boolean): void => {
    const { weight, target } = weigh(end, at)
    if (weight.tokens === undefined) return
    const candidates = findCandidates(history, end, at, carried, policy)
    for (const { output, witness } of choose(candidates, weight, target, policy, forced, carried.size === 0)) {
      const reason = witness ? "redundant" : forced ? "forced" : "aged"
      carried.set(output, {
        partID: output.partID,
        reason,
        ...(witness && { witnessCallID: witness.callID }),
        requestIndex: past.length,
        savedTokens: Math.floor(output.savingsTokens * weight.slope),
      })
    }
  }
  let asked = 0
  for (const { requestedAt, index: end } of starts) {
    const asks = history.segments.slice(asked, end).some(({ asksToClear }) => asksToClear)
    const before = weigh(end, requestedAt)
    if (policy.stablePrefix) decide(end, requestedAt, asks)
    if (!policy.stablePrefix || before.weight.tokens !== undefined) asked = end
    const momentary = policy.stablePrefix
      ? 0
      : clearedForThisRequest(before, asks, findCandidates(history, end, requestedAt, carried, policy))
    past.push(weigh(end, requestedAt, momentary).request)
  }
  const end = history.segments.length
  const asks = history.segments.slice(asked).some(({ asksToClear }) => asksToClear)
  decide(end, Infinity, force || (policy.stablePrefix === true && asks))
  const { weight, target } = weigh(end, Infinity)
  return {
    choices: [...carried].flatMap(([output, choice]) => (output.markedAt === undefined ? [choice] : [])),
    tokens: weight.tokens,
    targetTokens: target.tokens,
    isCalibrated: weight.isCalibrated,
  }
}

interface Target {
  tokens: number
  /** The history's part of it. */
  historyTokens: number
  budget: number
}

function findTarget({ overheadTokens }: Weight, budget: number, { targetRatio }: Policy): Target {
  const overhead = Math.min(overheadTokens, budget)
  const tokens = Math.floor(overhead + targetRatio * (budget - overhead))
  return { tokens, historyTokens: tokens - overhead, budget }
}

/** Without a stable prefix: a request over its target was cleared down to it, as far as its candidates went. */
function clearedForThisRequest(
  { weight: { tokens, slope }, target }: { weight: Weight; target: Target },
  forced: boolean,
  candidates: readonly Candidate[],
): number {
  if (tokens === undefined) return 0
  return forced ? saved(candidates) : Math.min(saved(candidates), Math.max(0, tokens - target.tokens) / slope)
}

interface Candidate {
  output: ToolOutput
  witness: ToolOutput | undefined
}

function findCandidates(
  { segments, outputs }: History,
  end: number,
  at: number,
  carried: ReadonlyMap<ToolOutput, Choice>,
  policy: Policy,
): Candidate[] {
  const present = outputs.filter(({ segment }) => segment < end)
  const hidden = (output: ToolOutput): boolean => isHiddenByMark(output, at, segments)
  const sizes = segments.slice(0, end).map((segment, index) => {
    const own = present.filter((output) => output.segment === index)
    const full = own
      .filter(({ markedAt }) => markedAt !== undefined)
      .reduce((sum, { savingsTokens }) => sum + savingsTokens, segment.tokens)
    return own
      .filter((output) => hidden(output) || carried.has(output))
      .reduce((sum, { savingsTokens }) => sum - savingsTokens, full)
  })
  let [edge, steps, recentTokens] = [end, 0, 0]
  while (edge > 0 && (steps < policy.protectRecentSteps || recentTokens < policy.protectRecentTokens)) {
    edge--
    if (segments[edge]?.kind !== "step") continue
    recentTokens += sizes[edge] ?? 0
    steps += segments[edge]?.sendsTool ? 1 : 0
  }
  const eligible = present.filter((output) => {
    const unmarked = {
      ...output,
      facts: { ...output.facts, mark: output.markedAt === undefined ? output.facts.mark : ("none" as const) },
    }
    return findKeptReason(unmarked, policy) === undefined && !hidden(output)
  })
  const open = eligible.filter((output) => !carried.has(output))
  return open
    .filter(({ segment }) => segment < edge)
    .map((output) => ({ output, witness: open.findLast((other) => isLaterCopy(output, other)) }))
}

function choose(
  candidates: readonly Candidate[],
  { tokens = 0, slope }: Weight,
  { tokens: target, historyTokens, budget }: Target,
  policy: Policy,
  forced: boolean,
  isFirst: boolean,
): readonly Candidate[] {
  const worth = (some: readonly Candidate[]): number => saved(some) * slope
  const down = (ordered: readonly Candidate[], goal: number): Candidate[] => {
    const taken: Candidate[] = []
    for (const candidate of ordered) {
      if (taken.length > 0 && tokens - worth(taken) <= goal) break
      taken.push(candidate)
    }
    return taken
  }
  const redundant = candidates.filter(({ witness }) => witness)
  const ordered = [...redundant, ...candidates.filter(({ witness }) => !witness)]
  if (forced) return ordered
  if (tokens <= target) return []
  const least = historyTokens * (policy.stablePrefix ? (policy.clearAtLeastRatio ?? 0) : 0)
  const relief = down(redundant, isFirst ? target : target - 1.5 * least)
  if (tokens - worth(relief) <= target && worth(relief) >= (isFirst ? least / 6 : least)) return relief
  const batch = down(ordered, target - 1.5 * least)
  const inside = tokens > budget && tokens - worth(batch) <= budget
  return worth(batch) >= least || inside ? batch : []
}

const saved = (candidates: readonly Candidate[]): number =>
  candidates.reduce((sum, { output }) => sum + output.savingsTokens, 0)

function isLaterCopy(output: ToolOutput, other: ToolOutput): boolean {
  const later =
    other.messageIndex > output.messageIndex ||
    (other.messageIndex === output.messageIndex && other.partIndex > output.partIndex)
  const looks = ["read", "grep", "glob"].includes(output.tool)
  return (
    later &&
    looks &&
    other.tool === output.tool &&
    other.text === output.text &&
    normal(other.input) === normal(output.input)
  )
}

/** As JSON carries it, which has no absent values, with the entries of objects in order and told from lists. */
const normal = (input: unknown): string =>
  JSON.stringify(input, (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? [
          "object",
          ...Object.entries(value)
            .filter(([, field]) => field !== undefined)
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        ]
      : value,
  )
