import { sumSavings, type ReplayWindow } from "./window.ts"

/** What a window really cost its provider: the line through its first and its last reported request. */
export interface Scale {
  /** System prompt and tool schemas. */
  overheadTokens: number
  /** Reported tokens for one of the base estimate. */
  slope: number
}

/** Reports are few or none: the base estimate stands for itself. */
const NO_SCALE: Scale = { overheadTokens: 0, slope: 1 }

export function findScale(window: ReplayWindow): Scale {
  const points = window.requests.flatMap(({ segmentEnd, hostCleared }) => {
    const reported = window.segments[segmentEnd]?.report?.promptTokens
    const base = (window.segmentStartTokens[segmentEnd] ?? 0) - sumSavings(window.outputs, hostCleared)
    return reported === undefined ? [] : [{ reported, base }]
  })
  const first = points[0]
  const largest = points.toSorted((a, b) => a.base - b.base).at(-1)
  if (!first || !largest || largest.base <= first.base || largest.reported <= first.reported) return NO_SCALE
  const slope = (largest.reported - first.reported) / (largest.base - first.base)
  return { slope, overheadTokens: Math.max(0, first.reported - slope * first.base) }
}
