import { findKeptReason } from "../../lib/dtc/eligibility.ts"
import type { History, Policy, ToolOutput } from "../../lib/dtc/types.ts"

interface Choice {
  partID: string
  reason: string
  witnessCallID?: string
  requestIndex: number
}

/**
 * The contract's selection, said plainly and slowly: every request is judged from nothing, with loops over everything. The
 * engine must choose the same.
 */
export function replayPlainly(history: History, inputBudget: number, policy: Policy, force: boolean): Choice[] {
  const targetTokens = Math.floor(inputBudget * policy.targetRatio)
  const carried = new Map<ToolOutput, Choice>()
  const starts = history.segments.flatMap(({ requestedAt }, index) =>
    requestedAt === undefined ? [] : [{ requestedAt, index }],
  )
  const requests = [...starts, { requestedAt: Infinity, index: history.segments.length }]
  let asked = 0
  for (const [requestIndex, { requestedAt, index: end }] of requests.entries()) {
    const present = requestIndex === requests.length - 1
    if (!present && !policy.stablePrefix) continue
    const view = describe(history, end, requestedAt, carried, policy)
    if (view.unknown) continue
    const asks = history.segments.slice(asked, end).some(({ asksToClear }) => asksToClear)
    asked = end
    const forced = (present && force) || (policy.stablePrefix === true && asks)
    for (const { output, witness } of choose(view, targetTokens, inputBudget, policy, forced)) {
      const reason = witness ? "redundant" : forced ? "forced" : "aged"
      carried.set(output, {
        partID: output.partID,
        reason,
        ...(witness && { witnessCallID: witness.callID }),
        requestIndex,
      })
    }
  }
  return [...carried].flatMap(([output, choice]) => (output.markedAt === undefined ? [choice] : []))
}

interface Candidate {
  output: ToolOutput
  witness: ToolOutput | undefined
}

interface View {
  tokens: number
  unknown: boolean
  candidates: Candidate[]
}

function describe(
  { segments, outputs }: History,
  end: number,
  at: number,
  carried: Map<ToolOutput, Choice>,
  policy: Policy,
): View {
  const present = outputs.filter(({ segment }) => segment < end)
  const hidden = (output: ToolOutput): boolean => output.markedAt !== undefined && output.markedAt <= at
  const sizes = segments.slice(0, end).map((segment, index) => {
    const own = present.filter((output) => output.segment === index)
    const full = own
      .filter(({ markedAt }) => markedAt !== undefined)
      .reduce((sum, { savingsTokens }) => sum + savingsTokens, segment.tokens)
    return own
      .filter((output) => hidden(output) || carried.has(output))
      .reduce((sum, { savingsTokens }) => sum - savingsTokens, full)
  })
  const unknown =
    segments.slice(0, end).some(({ unknownSize }) => unknownSize) ||
    present.some(
      (output) =>
        output.markedAt !== undefined &&
        !hidden(output) &&
        output.facts.sent &&
        output.facts.outcome === "completed" &&
        (output.facts.attachments || output.text === undefined),
    )
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
  const candidates = open
    .filter(({ segment }) => segment < edge)
    .map((output) => ({ output, witness: open.findLast((other) => isLaterCopy(output, other)) }))
  const reminders = segments.slice(0, end).reduce((sum, { reminderTokens }) => sum + reminderTokens, 0)
  return { tokens: sizes.reduce((sum, size) => sum + size, 0) - reminders, unknown, candidates }
}

function choose(
  { tokens, candidates }: View,
  target: number,
  budget: number,
  policy: Policy,
  forced: boolean,
): Candidate[] {
  const redundant = candidates.filter(({ witness }) => witness)
  const ordered = [...redundant, ...candidates.filter(({ witness }) => !witness)]
  if (forced) return ordered
  if (tokens <= target) return []
  const relief = down(redundant, tokens, target)
  const ratio = policy.stablePrefix ? (policy.clearAtLeastRatio ?? 0) : 0
  if (tokens - saved(relief) <= target && saved(relief) >= (target * ratio) / 6) return relief
  const batch = down(ordered, tokens, target * (1 - 1.5 * ratio))
  const inside = tokens > budget && tokens - saved(batch) <= budget
  return saved(batch) >= target * ratio || inside ? batch : []
}

function down(ordered: Candidate[], tokens: number, goal: number): Candidate[] {
  const taken: Candidate[] = []
  for (const candidate of ordered) {
    if (taken.length > 0 && tokens - saved(taken) <= goal) break
    taken.push(candidate)
  }
  return taken
}

const saved = (candidates: Candidate[]): number => candidates.reduce((sum, { output }) => sum + output.savingsTokens, 0)

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

const normal = (input: unknown): string =>
  JSON.stringify(input, (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
      : value,
  )
