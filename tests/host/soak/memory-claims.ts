import type { MemorySample } from "./record-types.ts"

/** Of one run, over its last samples. */
export interface MemoryFigures {
  medianMegabytes: number
  peakMegabytes: number
  /** Theil-Sen. */
  slopeMegabytesPer100Steps: number
  /** The lowest of each half of the steps that the slope is taken over. */
  lowsMegabytes: [number, number]
}

export interface MemoryPair {
  on: MemoryFigures
  off: MemoryFigures
}

export const MOST_MEMORY_RATIO = 1.1
/** Steps that the slope is taken over. */
export const SLOPE_STEPS = 500

const MEGABYTE = 2 ** 20

export function describeMemory(samples: readonly MemorySample[]): MemoryFigures {
  const megabytes = samples.map(({ residentBytes }) => residentBytes / MEGABYTE)
  const last = megabytes.slice(-SLOPE_STEPS)
  const middle = Math.floor(last.length / 2)
  return {
    medianMegabytes: round(median(megabytes)),
    peakMegabytes: round((samples.at(-1)?.peakResidentBytes ?? Number.NaN) / MEGABYTE),
    slopeMegabytesPer100Steps: round(findSlope(last) * 100),
    lowsMegabytes: [round(Math.min(...last.slice(0, middle))), round(Math.min(...last.slice(middle)))],
  }
}

export interface MemoryRatios {
  median: number
  peak: number
}

/** The median of the pairs' ratios, with to without. */
export const compareMemory = (pairs: readonly MemoryPair[]): MemoryRatios => ({
  median: round(median(pairs.map(({ on, off }) => on.medianMegabytes / off.medianMegabytes)), 3),
  peak: round(median(pairs.map(({ on, off }) => on.peakMegabytes / off.peakMegabytes)), 3),
})

/** The median of the slopes between all pairs of values: what a single collection of garbage does to it is nothing. */
export function findSlope(values: readonly number[]): number {
  const slopes: number[] = []
  for (const [index, value] of values.entries())
    for (let before = 0; before < index; before++) slopes.push((value - (values[before] ?? 0)) / (index - before))
  return median(slopes)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

const round = (value: number, digits = 1): number => Number(value.toFixed(digits))
