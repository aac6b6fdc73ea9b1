import { findKeptReason } from "../dtc/eligibility.ts"
import { RecentSteps } from "../dtc/steps.ts"
import type { History, Policy, ToolOutput } from "../dtc/types.ts"
import type { FollowedRequest } from "./follow.ts"
import { describeTarget, nameTarget } from "./target.ts"
import type { ChosenOutput } from "./trace.ts"
import type { OutputRow } from "./types.ts"

export interface WindowStory {
  history: History
  sent: readonly FollowedRequest[]
  policy: Policy
  numbering: { window: number; firstRequest: number }
}

/** Every output of a window, oldest first. */
export function describeOutputs(story: WindowStory): OutputRow[] {
  const { history, sent, numbering } = story
  const clears = findClears(sent, numbering.firstRequest)
  const recentFrom = findRecentSegment(story)
  const requestOf = numberAnswers(history, numbering.firstRequest)
  const repeats = findRepeats(history, requestOf)
  return history.outputs.map((output) => {
    const clear = clears.get(output)
    const { callID, tool, input, textTokens } = output
    const request = requestOf(output)
    return {
      window: numbering.window,
      callID,
      tool,
      target: describeTarget(tool, input),
      tokens: Math.round(textTokens),
      ...(clear ? describeClear(clear) : describeKept(output, story.policy, recentFrom)),
      ...(request !== undefined && { request }),
      ...repeats(output, clear?.clearedAt ?? (request ?? 0) + 1),
    }
  })
}

interface Clear extends ChosenOutput {
  clearedAt: number
}

function describeClear({ clearedAt, reason, savedTokens, witnessCallID }: Clear) {
  return {
    state: "cleared" as const,
    reason,
    clearedAt,
    savedTokens,
    ...(witnessCallID !== undefined && { witnessCallID }),
  }
}

function describeKept(output: ToolOutput, policy: Policy, recentFrom: number): Pick<OutputRow, "state" | "reason"> {
  const reason = findKeptReason(output, policy)
  if (reason === "already-cleared") return { state: "cleared-by-host", reason }
  if (reason !== undefined) return { state: "kept", reason }
  return { state: "kept", reason: output.segment >= recentFrom ? "recent" : "waiting" }
}

/** What the last request is sent without, with the first request since which that has been so. */
function findClears(sent: readonly FollowedRequest[], firstRequest: number): ReadonlyMap<ToolOutput, Clear> {
  const clears = new Map<ToolOutput, Clear>()
  for (const [index, { chosen, cleared }] of sent.entries()) {
    for (const choice of chosen) {
      const clearedAt = clears.get(choice.output)?.clearedAt ?? firstRequest + index
      clears.set(choice.output, { ...choice, clearedAt })
    }
    if (cleared !== sent[index - 1]?.cleared)
      for (const output of clears.keys()) if (!cleared.has(output)) clears.delete(output)
  }
  return clears
}

/** Segments from this one on are recent for the window's last request. What it does not send yet is newer than that. */
function findRecentSegment({ history, sent, policy }: WindowStory): number {
  const { segmentEnd, cleared } = sent.at(-1) ?? { segmentEnd: history.segments.length, cleared: new Set<ToolOutput>() }
  const saved = history.segments.map(() => 0)
  for (const output of cleared)
    if (output.markedAt === undefined) saved[output.segment] = (saved[output.segment] ?? 0) + output.savingsTokens
  const recent = new RecentSteps(policy)
  for (const [index, segment] of history.segments.slice(0, segmentEnd).entries())
    recent.append(segment, segment.tokens - (saved[index] ?? 0))
  return recent.fromSegment
}

/** The number of the request that a segment answered. */
function numberAnswers({ segments }: History, firstRequest: number): (output: ToolOutput) => number | undefined {
  let next = firstRequest
  const numbers = segments.map(({ requestedAt }) => (requestedAt === undefined ? undefined : next++))
  return ({ segment }) => numbers[segment]
}

/** Answers how often, and first in the answer to which request, the same call was made again from some request on. */
function findRepeats({ outputs }: History, requestOf: (output: ToolOutput) => number | undefined) {
  const groups = new Map<string, number[]>()
  for (const output of outputs) {
    const group = groups.get(keyOf(output)) ?? []
    group.push(requestOf(output) ?? 0)
    groups.set(keyOf(output), group)
  }
  return (output: ToolOutput, fromRequest: number): Pick<OutputRow, "repeats" | "repeatedAt"> => {
    const group = groups.get(keyOf(output)) ?? []
    const first = findFirstFrom(group, fromRequest)
    const repeatedAt = group[first]
    return { repeats: group.length - first, ...(repeatedAt !== undefined && { repeatedAt }) }
  }
}

function keyOf({ tool, input }: ToolOutput): string {
  return JSON.stringify([tool, nameTarget(tool, input)])
}

/** The index of the first number that is not below the bound, in ascending numbers; their count when there is none. */
function findFirstFrom(ascending: readonly number[], bound: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? 0) < bound) low = middle + 1
    else high = middle
  }
  return low
}
