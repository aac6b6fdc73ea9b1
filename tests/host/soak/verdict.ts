import { findDeviations, findExcess, type Deviation } from "./comparison.ts"
import type { MemorySample } from "./record-types.ts"
import {
  compareMemory,
  describeMemory,
  median,
  MOST_MEMORY_RATIO,
  type MemoryFigures,
  type MemoryPair,
  type MemoryRatios,
} from "./memory-claims.ts"
import type { PluginSwitch } from "./planned-call.ts"
import type { Progress } from "./progress.ts"
import { nameRun, PAIRS, planRun, RUNS, type RunKind, type RunSpec, type SoakScope } from "./runs.ts"
import { countRun, findShortfalls, type RunCounts } from "./run-counts.ts"

/** A run as its folder holds it. */
export interface PlayedRun {
  spec: RunSpec
  progress: Progress
  samples: readonly MemorySample[]
}

export interface Verdict {
  scope: SoakScope
  hostVersion: string
  runs: Record<string, RunCounts>
  /** What went otherwise than planned in the run without the plugin too: the host's own doing. */
  withoutPluginToo: Deviation[]
  memory: { pairs: MemoryPair[]; ratios: MemoryRatios; growth: MemoryPair | undefined }
  violations: string[]
}

/** Reasons for which a request may be left alone here: nothing to project, a summary, a host that has only just begun. */
const ALLOWED_REASONS = new Set(["empty-history", "native-compaction", "unavailable-budget"])
/** Of all requests. */
const MOST_UNAVAILABLE_SHARE = 0.02
/** Half a percent of what a host takes, over the steps that the slope is taken over. */
const SLOPE_TOLERANCE_MEGABYTES_PER_100_STEPS = 1

/** `wanted` are the runs that have to be there. */
export function judge(scope: SoakScope, runs: readonly PlayedRun[], wanted: readonly RunSpec[] = RUNS): Verdict {
  const violations: string[] = []
  const withoutPluginToo: Deviation[] = []
  const find = (kind: RunKind, plugin: PluginSwitch): PlayedRun | undefined =>
    runs.find(({ spec }) => spec.kind === kind && spec.plugin === plugin)
  for (const spec of wanted) {
    const run = find(spec.kind, spec.plugin)
    if (run?.progress.checked === undefined) violations.push(`${nameRun(spec)} is not finished`)
    else violations.push(...findViolations(scope, run).map((violation) => `${nameRun(spec)}: ${violation}`))
  }
  for (const kind of ["faults", ...PAIRS, "growth"] as const) {
    const [on, off] = [find(kind, "on"), find(kind, "off")]
    if (on === undefined || off === undefined) continue
    const [mine, others] = [on, off].map((run) => findDeviations(planRun(run.spec, scope, ""), run.progress))
    const excess = findExcess(mine ?? [], others ?? [])
    violations.push(...excess.map(({ key, what }) => `${kind}: only with the plugin: ${key}: ${what}`))
    withoutPluginToo.push(...findExcess(others ?? [], withoutPluginToo))
  }
  const memory = judgeMemory(runs)
  violations.push(...memory.violations)
  return {
    scope,
    hostVersion: runs.find(({ progress }) => progress.hostVersion !== undefined)?.progress.hostVersion ?? "",
    runs: Object.fromEntries(runs.map((run) => [nameRun(run.spec), countRun(run)])),
    withoutPluginToo,
    memory: memory.figures,
    violations,
  }
}

/** What may not be in a run, with or without the plugin. */
function findViolations(scope: SoakScope, run: PlayedRun): string[] {
  const { spec, progress } = run
  const counts = countRun(run)
  const violations = [
    ...progress.traces.flatMap(({ faults }) => faults),
    ...(progress.checked?.faults ?? []),
    ...findShortfalls(spec, scope, counts),
  ]
  const { skipped, warnings } = counts.log
  for (const [reason, count] of Object.entries(skipped))
    if (!ALLOWED_REASONS.has(reason)) violations.push(`${count} requests were left as they were: ${reason}`)
  if ((skipped["unavailable-budget"] ?? 0) > MOST_UNAVAILABLE_SHARE * counts.requests)
    violations.push(`${skipped["unavailable-budget"]} requests had no budget`)
  for (const warning of warnings) if (!warning.includes("token limits")) violations.push(warning)
  return violations
}

function judgeMemory(runs: readonly PlayedRun[]): { figures: Verdict["memory"]; violations: string[] } {
  const pairOf = (kind: RunKind): MemoryPair[] => {
    const [on, off] = (["on", "off"] as const).map((plugin) =>
      runs.find(({ spec, progress }) => spec.kind === kind && spec.plugin === plugin && progress.checked !== undefined),
    )
    return on === undefined || off === undefined
      ? []
      : [{ on: describeMemory(on.samples), off: describeMemory(off.samples) }]
  }
  const pairs = PAIRS.flatMap(pairOf)
  const growth = pairOf("growth").at(0)
  const ratios = compareMemory(pairs)
  const violations = Object.entries(ratios).flatMap(([name, ratio]) =>
    ratio > MOST_MEMORY_RATIO ? [`memory: the ${name} is ${ratio} of the run's without the plugin`] : [],
  )
  const slopes = pairs.map(({ on }) => on.slopeMegabytesPer100Steps)
  const slopesWithout = pairs.map(({ off }) => off.slopeMegabytesPer100Steps)
  if (median(slopes) > Math.max(0, ...slopesWithout))
    violations.push(
      `memory: slopes of ${slopes.join(", ")} MB per 100 steps, without the plugin ${slopesWithout.join(", ")}`,
    )
  if (growth !== undefined && growth.on.slopeMegabytesPer100Steps > allowedSlope(growth.off))
    violations.push(
      `memory: grows by ${growth.on.slopeMegabytesPer100Steps} MB per 100 steps, without the plugin by ${growth.off.slopeMegabytesPer100Steps}`,
    )
  return { figures: { pairs, ratios, growth }, violations }
}

const allowedSlope = ({ slopeMegabytesPer100Steps }: MemoryFigures): number =>
  Math.max(0, slopeMegabytesPer100Steps) + SLOPE_TOLERANCE_MEGABYTES_PER_100_STEPS
