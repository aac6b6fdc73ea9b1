import type { Policy } from "../../lib/dtc/types.ts"
import { describePrice, freeBreaksCost, inputCost, meanTokens, PRICE_ROWS, type PriceRow } from "./cost.ts"
import { addMeasures, measurePolicy, type Measure } from "./measure.ts"
import type { ClearingPolicy, Limits } from "./policy.ts"
import { finalTokens, type ReplayWindow } from "./window.ts"

/** Targets below this serve nobody: system prompt and tool schemas alone are of that size. */
const LEAST_TARGET_TOKENS = 30_000

/** The JSON that the benchmark writes: numbers and session names only, the same on every machine. */
export interface BenchmarkResult {
  /** Raised when a field changes its meaning. */
  version: 1
  minWindowTokens: number
  /** Idle time after which the modelled cache is lost; absent: never. */
  cacheTtlMs?: number
  settings: Policy
  targets: TargetResult[]
}

export interface TargetResult {
  /** Share of each window's final size. */
  ratio: number
  windows: WindowResult[]
  /** Aggregated over the windows; the first is `none`. */
  policies: PolicyResult[]
}

export interface WindowResult extends Limits {
  session: string
  window: number
  requests: number
  finalTokens: number
}

export interface PolicyResult {
  name: string
  description: string
  measure: Measure
  meanTokens: number
  /** By price row (`write/read`): input cost relative to `none`, and the same had prefix breaks been free. */
  cost: Record<string, { relative: number; freeBreaks: number }>
  /** In the order of `TargetResult.windows`. */
  perWindow: Measure[]
}

/** What is measured. */
export interface Scope {
  targetRatios: readonly number[]
  minWindowTokens: number
  /** Absent: the cache never expires. */
  cacheTtlMs?: number | undefined
}

export function runBenchmark(
  windows: readonly ReplayWindow[],
  policies: readonly ClearingPolicy[],
  settings: Policy,
  { targetRatios, minWindowTokens, cacheTtlMs }: Scope,
): BenchmarkResult {
  const measured = windows.filter((window) => finalTokens(window) >= minWindowTokens)
  const targets = targetRatios.map((ratio) => runTarget(measured, policies, settings, ratio, cacheTtlMs))
  return { version: 1, minWindowTokens, ...(cacheTtlMs && { cacheTtlMs }), settings, targets }
}

/** Target and budget of a window: a share of its final size, and what the engine's settings need for that target. */
export function findLimits(window: ReplayWindow, ratio: number, { targetRatio }: Policy): Limits {
  const targetTokens = Math.floor(Math.max(LEAST_TARGET_TOKENS, ratio * finalTokens(window)))
  return { targetTokens, budgetTokens: Math.ceil(targetTokens / targetRatio) }
}

function runTarget(
  windows: readonly ReplayWindow[],
  policies: readonly ClearingPolicy[],
  settings: Policy,
  ratio: number,
  cacheTtlMs: number | undefined,
): TargetResult {
  const limits = windows.map((window) => findLimits(window, ratio, settings))
  const measures = policies.map((policy) =>
    windows.map((window, index) => measurePolicy(window, policy, limits[index] as Limits, settings, cacheTtlMs)),
  )
  const none = addMeasures(measures[0] ?? [])
  return {
    ratio,
    windows: windows.map((window, index) => ({
      session: window.session,
      window: window.index,
      requests: window.requests.length,
      finalTokens: Math.ceil(finalTokens(window)),
      ...(limits[index] as Limits),
    })),
    policies: policies.map((policy, index) => describePolicy(policy, measures[index] ?? [], none)),
  }
}

function describePolicy({ name, description }: ClearingPolicy, perWindow: Measure[], none: Measure): PolicyResult {
  const measure = addMeasures(perWindow)
  const cost = Object.fromEntries(PRICE_ROWS.map((price) => [describePrice(price), relateCosts(measure, none, price)]))
  return { name, description, measure, meanTokens: Math.round(meanTokens(measure)), cost, perWindow }
}

function relateCosts(measure: Measure, none: Measure, price: PriceRow): { relative: number; freeBreaks: number } {
  const base = inputCost(none, price)
  const round = (cost: number): number => (base === 0 ? 0 : Math.round((cost / base) * 10_000) / 10_000)
  return { relative: round(inputCost(measure, price)), freeBreaks: round(freeBreaksCost(measure, price)) }
}
