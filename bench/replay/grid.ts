import type { Scope } from "./benchmark.ts"
import type { SketchChoices } from "./sketch.ts"

const RATIOS = [0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5]
/** 0 stands for the watermark that the ratio implies. */
const DEPTHS = [0, 0.4, 0.45, 0.5, 1]
const RELIEFS = [0, 0.05, 0.1, 0.2]
/** Compared only where the modelled cache expires; `undefined`: coldness changes nothing. */
const COLD_TARGETS = [undefined, 1, 0.8, 0.6]
/** In place of all reliefs there, which leaves the grid as large as it was. */
const COLD_RELIEFS = [0.05]

/** Every setting that is compared. A minimum for rescues is left out: it buys breaks with requests over the budget. */
export function listGrid({ cacheTtlMs }: Scope): SketchChoices[] {
  const coldTargets = cacheTtlMs === undefined ? [undefined] : COLD_TARGETS
  return RATIOS.flatMap((clearAtLeastRatio) =>
    DEPTHS.filter((depth) => depth === 0 || depth > clearAtLeastRatio).flatMap((depth) =>
      (cacheTtlMs === undefined ? RELIEFS : COLD_RELIEFS).flatMap((redundantReliefRatio) =>
        coldTargets.map((coldTargetRatio) => ({
          clearAtLeastRatio,
          depthRatio: Math.max(depth, clearAtLeastRatio),
          redundantReliefRatio,
          ...(coldTargetRatio !== undefined && { coldTargetRatio }),
        })),
      ),
    ),
  )
}
