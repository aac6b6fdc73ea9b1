import { calibratedPolicy, enginePolicy } from "./engine-policies.ts"
import {
  clearToolUses,
  clearToolUsesCarried,
  lastObservations,
  lastResultsOverTarget,
  LOTS_BEYOND_NEWEST,
  NATIVE_PRUNE,
} from "./others.ts"
import { NONE, type ClearingPolicy } from "./policy.ts"
import type { EngineSettings } from "./settings.ts"
import { sketchPolicy, type SketchChoices } from "./sketch.ts"

/** Shown while the engine has no stable prefix of its own. */
const SKETCHES: readonly SketchChoices[] = [
  { clearAtLeastRatio: 0.2, depthRatio: 1, redundantReliefRatio: 0 },
  { clearAtLeastRatio: 0.35, depthRatio: 0.35, redundantReliefRatio: 0 },
  { clearAtLeastRatio: 0.35, depthRatio: 1, redundantReliefRatio: 0 },
  { clearAtLeastRatio: 0.35, depthRatio: 1, redundantReliefRatio: 0.1 },
]

/** How much clear_at_least asks for: the same share of the target as in this plugin's own batches. */
const CLEAR_AT_LEAST_RATIO = 0.35

export const RESELECT = enginePolicy("re-select", "the engine, selecting afresh in every request", {})

export function listPolicies({ stablePrefix }: EngineSettings, sketches: readonly SketchChoices[]): ClearingPolicy[] {
  const built = Object.keys(stablePrefix).length > 0
  const shown = sketches.length > 0 || built ? sketches : SKETCHES
  return [
    NONE,
    RESELECT,
    ...(built
      ? [
          calibratedPolicy("ours", "the engine with its defaults", stablePrefix),
          enginePolicy("ours, not calibrated", "the engine without the reported sizes", stablePrefix),
        ]
      : []),
    ...shown.map(sketchPolicy),
    clearToolUses(0),
    clearToolUses(CLEAR_AT_LEAST_RATIO),
    clearToolUsesCarried(0),
    clearToolUsesCarried(CLEAR_AT_LEAST_RATIO),
    lastResultsOverTarget(5),
    lastObservations(5, 1),
    lastObservations(5, 10),
    LOTS_BEYOND_NEWEST,
    NATIVE_PRUNE,
  ]
}
