/**
 * What others do, written from their published behaviour. Common approximations: an output is replaced by the host's
 * placeholder, not by the other's own text; only completed text outputs are replaced (errors and unanswered calls stay);
 * sizes are the engine's, except where a policy has its own estimate.
 */
import type { ClearingPolicy, RequestView } from "./policy.ts"
import { carryForward, sentTokens } from "./policy.ts"
import { sumSavings, type WindowOutput } from "./window.ts"

/** Results that are sent, of any tool, and would shrink. */
function findResults({ window, request }: RequestView): WindowOutput[] {
  const sent = window.outputs.slice(0, request.outputEnd)
  return sent.filter(({ index, output }) => output.savingsTokens > 0 && !request.hostCleared.has(index))
}

const indicesOf = (outputs: readonly WindowOutput[]): number[] => outputs.map(({ index }) => index)

/**
 * Anthropic's `clear_tool_uses_20250919` with `trigger` at the target and `keep` 3: the server holds no state, sees the
 * whole history in every request and, above the trigger, clears every tool result but the newest three. `clear_at_least`
 * compares with the whole clearing of that request for the same reason. Inputs stay (`clear_tool_inputs` false).
 */
export function clearToolUses(clearAtLeastRatio: number): ClearingPolicy {
  return {
    name: clearAtLeastRatio > 0 ? `clear_tool_uses at_least ${clearAtLeastRatio}` : "clear_tool_uses",
    description: "above target, all but the newest 3 tool results, any tool; stateless",
    decide(view) {
      if (sentTokens(view, new Set()) <= view.limits.targetTokens) return new Set()
      return new Set(findClearable(view, new Set(), clearAtLeastRatio))
    },
  }
}

/** The same rule where the client keeps the edited history, so that the trigger looks at what is really sent. */
export function clearToolUsesCarried(clearAtLeastRatio: number): ClearingPolicy {
  return {
    name: clearAtLeastRatio > 0 ? `clear_tool_uses carried at_least ${clearAtLeastRatio}` : "clear_tool_uses carried",
    description: "the same on a history that keeps what was cleared",
    decide: carryForward((view, previous) =>
      sentTokens(view, previous) <= view.limits.targetTokens ? [] : findClearable(view, previous, clearAtLeastRatio),
    ),
  }
}

const KEPT_TOOL_USES = 3

function findClearable(view: RequestView, previous: ReadonlySet<number>, clearAtLeastRatio: number): number[] {
  const sentEnd = view.request.outputEnd - KEPT_TOOL_USES
  const clearable = findResults(view).filter(({ index }) => index < sentEnd && !previous.has(index))
  const freedTokens = sumSavings(view.window.outputs, indicesOf(clearable))
  return freedTokens >= clearAtLeastRatio * view.limits.targetTokens ? indicesOf(clearable) : []
}

/**
 * SWE-agent's `last_n_observations`, in every request and without a trigger: an observation is what the tools of one step
 * returned. `polling` moves the cut only every so many observations, which keeps between n and n + polling of them.
 */
export function lastObservations(kept: number, polling: number): ClearingPolicy {
  return {
    name: polling > 1 ? `last ${kept} polling ${polling}` : `last ${kept}`,
    description: "all but the newest observations in every request, no trigger",
    decide(view) {
      const results = findResults(view)
      const observations = [...new Set(view.window.outputs.slice(0, view.request.outputEnd).map(segmentOf))]
      const removed = Math.max(0, Math.floor(observations.length / polling) * polling - kept)
      const firstKept = observations[removed] ?? Infinity
      return new Set(indicesOf(results.filter((output) => segmentOf(output) < firstKept)))
    },
  }
}

const segmentOf = ({ output }: WindowOutput): number => output.segment

/**
 * The same number of results, but triggered by the target and never taken back: the shape of "keep the last N" options
 * in agent frameworks.
 */
export function lastResultsOverTarget(kept: number): ClearingPolicy {
  return {
    name: `last ${kept} over target`,
    description: "above target, all but the newest tool results; kept cleared",
    decide: carryForward((view, previous) => {
      if (sentTokens(view, previous) <= view.limits.targetTokens) return []
      return indicesOf(findResults(view).filter(({ index }) => index < view.request.outputEnd - kept))
    }),
  }
}

/**
 * Gemini CLI's tool output masking: walk back from the newest result; beyond the newest 50,000 tool tokens everything is
 * masked, once that frees 30,000. The newest step is always kept. Its own list of exempt tools has no counterpart here.
 */
export const LOTS_BEYOND_NEWEST: ClearingPolicy = {
  name: "beyond 50k in 30k lots",
  description: "everything beyond the newest 50,000 tool tokens, when that is 30,000 or more",
  decide: carryForward((view, previous) => {
    const newestStep = view.window.outputs[view.request.outputEnd - 1]?.output.segment
    const results = findResults(view).filter(
      (output) => !previous.has(output.index) && segmentOf(output) !== newestStep,
    )
    const beyond = findBeyondNewest(results, 50_000, ({ output }) => output.textTokens)
    return sumSavings(view.window.outputs, indicesOf(beyond)) >= 30_000 ? indicesOf(beyond) : []
  }),
}

/** The results that are left, oldest first, when the newest ones have used up the tokens. */
function findBeyondNewest(
  results: readonly WindowOutput[],
  keptTokens: number,
  size: (output: WindowOutput) => number,
): WindowOutput[] {
  let tokens = 0
  return results
    .toReversed()
    .filter((output) => (tokens += size(output)) > keptTokens)
    .toReversed()
}

/**
 * OpenCode 1.18.33's `compaction.prune` (off by default in the host). It runs once when a turn has ended, so here before
 * the first request after a user message, over what stood before that message: newest to oldest, nothing until two user
 * messages were passed, stopping at a summary or at the first output that is already cleared; completed tools but
 * `skill`; what lies beyond 40,000 of its own tokens (characters / 4) is cleared if it is more than 20,000.
 * Approximation: it walks the window, so a retained tail ends the walk only at the summary before it.
 */
export const NATIVE_PRUNE: ClearingPolicy = {
  name: "OpenCode prune",
  description: "at the end of each turn, beyond 40,000 tokens when more than 20,000; two turns kept",
  decide: carryForward((view, previous) => {
    if (!view.request.startsTurn) return []
    const reached = findPrunable(view, previous)
    const beyond = findBeyondNewest(reached, 40_000, hostTokens)
    return beyond.reduce((sum, output) => sum + hostTokens(output), 0) > 20_000 ? indicesOf(beyond) : []
  }),
}

const hostTokens = ({ output }: WindowOutput): number => Math.round((output.text?.length ?? 0) / 4)

function findPrunable(view: RequestView, previous: ReadonlySet<number>): WindowOutput[] {
  const { window, request } = view
  const [oldest, newest] = findPruneRange(view)
  const completed = window.outputs.filter(
    ({ output }) => output.facts.outcome === "completed" && output.tool !== "skill",
  )
  const inRange = completed.filter(({ output }) => output.messageIndex >= oldest && output.messageIndex < newest)
  const stop = inRange.findLastIndex(({ index }) => previous.has(index) || request.hostCleared.has(index))
  return inRange.slice(stop + 1)
}

/** Message indices: behind the newest summary, and before the second user message from the end of the finished turn. */
function findPruneRange({ window, request }: RequestView): [number, number] {
  const turnStart = window.messages.findLastIndex(({ info }, at) => at < request.messageEnd && info.role !== "user") + 1
  const finished = window.messages.slice(0, turnStart)
  const users = finished.flatMap(({ info }, index) => (info.role === "user" ? [index] : []))
  return [finished.findLastIndex(({ info }) => info["summary"] === true) + 1, users.at(-2) ?? 0]
}
