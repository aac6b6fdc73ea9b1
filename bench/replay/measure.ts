import type { Policy } from "../../lib/dtc/types.ts"
import { countLostPaths } from "./evidence.ts"
import { sentTokens, type ClearingPolicy, type Limits, type RequestView } from "./policy.ts"
import type { ReplayWindow, WindowOutput } from "./window.ts"

/** Sums over requests; two measures add up field by field, the peak excepted. Tokens are the engine's base estimate. */
export interface Measure {
  requests: number
  /** Tokens of the longest unchanged prefix with the window's previous request: the provider's cache serves them. */
  cachedTokens: number
  /** The rest: written to the cache, at the write price. */
  writtenTokens: number
  /** As `cachedTokens`, had breaks been free: everything that the previous request sent in the same form. */
  unchangedTokens: number
  /** Requests that changed something which the previous request had sent. */
  prefixBreaks: number
  overTarget: number
  overBudget: number
  peakTokens: number
  evidenceLost: number
  /** Outputs cleared in the window's last request, those by the host not counted. */
  clearedOutputs: number
  clearedTokens: number
}

export const NOTHING_MEASURED: Measure = {
  requests: 0,
  cachedTokens: 0,
  writtenTokens: 0,
  unchangedTokens: 0,
  prefixBreaks: 0,
  overTarget: 0,
  overBudget: 0,
  peakTokens: 0,
  evidenceLost: 0,
  clearedOutputs: 0,
  clearedTokens: 0,
}

/** What a policy cleared in each request of a window, the host's own clearing included. */
export type Trace = ReadonlySet<number>[]

export function measurePolicy(
  window: ReplayWindow,
  policy: ClearingPolicy,
  limits: Limits,
  settings: Policy,
  cacheTtlMs = Infinity,
): Measure {
  return measureTrace(window, replayPolicy(window, policy, limits, settings), limits, cacheTtlMs)
}

export function replayPolicy(window: ReplayWindow, policy: ClearingPolicy, limits: Limits, settings: Policy): Trace {
  let previous: ReadonlySet<number> = new Set()
  return window.requests.map((request) => {
    previous = policy.decide({ window, request, limits, settings }, previous)
    return request.hostCleared.size === 0 ? previous : new Set([...previous, ...request.hostCleared])
  })
}

/**
 * The cost model of a prompt cache that ends exactly where the first change begins, and that is lost when more than
 * `cacheTtlMs` have passed since the previous request began. System prompt
 * and tool schemas, the same for every policy, are left out, and so is the native summary request. A window's first
 * request is written whole.
 */
export function measureTrace(window: ReplayWindow, trace: Trace, limits: Limits, cacheTtlMs = Infinity): Measure {
  const total = { ...NOTHING_MEASURED }
  let sent = 0
  for (const [position, request] of window.requests.entries()) {
    const cleared = trace[position] ?? new Set()
    const before = trace[position - 1]
    const changes = before
      ? findChanges(window.outputs, window.requests[position - 1]?.outputEnd ?? 0, before, cleared)
      : []
    const tokens = sentTokens({ window, request } as RequestView, cleared)
    total.requests += 1
    const expired = request.idleMs > cacheTtlMs
    total.cachedTokens += expired ? 0 : findCachedTokens(window, changes, cleared, sent)
    total.unchangedTokens += expired ? 0 : findUnchangedTokens(changes, before, sent)
    if (changes.length > 0) total.prefixBreaks += 1
    if (tokens > limits.targetTokens) total.overTarget += 1
    if (tokens > limits.budgetTokens) total.overBudget += 1
    total.peakTokens = Math.max(total.peakTokens, tokens)
    total.evidenceLost += countLostPaths(window, request, cleared)
    total.writtenTokens += tokens
    sent = tokens
  }
  total.writtenTokens -= total.cachedTokens
  return { ...total, ...describeFinal(window, trace) }
}

export function addMeasures(measures: readonly Measure[]): Measure {
  return measures.reduce((left, right) => {
    const sums = Object.entries(left).map(([field, value]) => [field, value + right[field as keyof Measure]])
    return { ...(Object.fromEntries(sums) as Measure), peakTokens: Math.max(left.peakTokens, right.peakTokens) }
  }, NOTHING_MEASURED)
}

/** Outputs of the previous request that this one shows otherwise, oldest first. */
function findChanges(
  outputs: readonly WindowOutput[],
  outputEnd: number,
  before: ReadonlySet<number>,
  cleared: ReadonlySet<number>,
): WindowOutput[] {
  if (before === cleared) return []
  const touched = [...new Set([...before, ...cleared])].filter((index) => before.has(index) !== cleared.has(index))
  return touched
    .filter((index) => index < outputEnd)
    .toSorted((a, b) => a - b)
    .flatMap((index) => outputs[index] ?? [])
}

/** What stands before the first change; without one, everything that the previous request sent. */
function findCachedTokens(
  { outputs }: ReplayWindow,
  [first]: readonly WindowOutput[],
  cleared: ReadonlySet<number>,
  sent: number,
): number {
  if (!first) return sent
  let tokens = first.startTokens
  for (const index of cleared) if (index < first.index) tokens -= outputs[index]?.output.savingsTokens ?? 0
  return tokens
}

function findUnchangedTokens(
  changes: readonly WindowOutput[],
  before: ReadonlySet<number> | undefined,
  sent: number,
): number {
  const changed = changes.map(
    ({ index, output }) => output.textTokens - (before?.has(index) ? output.savingsTokens : 0),
  )
  return changed.reduce((left, tokens) => left - tokens, sent)
}

function describeFinal({ outputs, requests }: ReplayWindow, trace: Trace): Partial<Measure> {
  const hostCleared = requests.at(-1)?.hostCleared ?? new Set()
  const cleared = [...(trace.at(-1) ?? [])].filter((index) => !hostCleared.has(index))
  const tokens = cleared.reduce((sum, index) => sum + (outputs[index]?.output.savingsTokens ?? 0), 0)
  return { clearedOutputs: cleared.length, clearedTokens: tokens }
}
