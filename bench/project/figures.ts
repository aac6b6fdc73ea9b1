import type { Run, Sample } from "./measure.ts"

/** Whose memory is measured too, first. */
export const MEMORY_CONTESTANTS = ["hook", "projectMessages"] as const
export const CONTESTANTS = [...MEMORY_CONTESTANTS, "structuredClone", "JSON.stringify", "floor"] as const

export type Contestant = (typeof CONTESTANTS)[number]
export type MemoryContestant = (typeof MEMORY_CONTESTANTS)[number]

export interface Speed {
  medianMs: number
  fastestMs: number
  /** The processor's time, which a busy machine disturbs less; a median, too. */
  cpuMs: number
  /** Of the processor's times, as the other two. */
  toFloor: number
  toClone: number
  toStringify: number
  /** The fastest call beside the floor's fastest: on the clock. */
  fastestToFloor: number
}

export interface Memory {
  /** Everything that one call allocates, garbage included, beside the history's bytes as JSON. */
  allocatedRatio: number
  /** The most that the heap grows while collections go on as they do in a small young generation. Node alone can tell. */
  peakRatio?: number
  /** What is still there after the call while its result is held. */
  retainedRatio: number
}

export interface ProjectRow {
  runtime: string
  messages: number
  megabytes: number
  /** Outputs that the projection cleared. */
  cleared: number
  /** The part of the floor that sums the texts' bytes; the rest copies the structure. */
  floorBytesMs: number
  speed: Record<Contestant, Speed>
  memory: Record<MemoryContestant, Memory>
}

export interface ProjectFigures {
  aims: typeof AIMS
  rows: ProjectRow[]
}

/** For the hook: at most this much beside the floor, `structuredClone` and the history's bytes. */
export const AIMS = { toFloor: 2, toClone: 0.1, extraMemory: 0.1 } as const

/** Runs of the same runtime and messages, one of each mode. */
export interface Runs {
  time: Run
  allocated: Run
  retained: Run
  peak?: Run | undefined
}

export function describeRow(runtime: string, messages: number, runs: Runs): ProjectRow {
  const { megabytes, cleared, floorBytesMs } = runs.time
  return {
    runtime,
    messages,
    megabytes: round(megabytes),
    cleared,
    floorBytesMs: round(median(floorBytesMs)),
    speed: mapNames(CONTESTANTS, (name) => describeSpeed(name, runs.time)),
    memory: mapNames(MEMORY_CONTESTANTS, (name) => describeMemory(name, runs)),
  }
}

function describeSpeed(name: Contestant, { samples }: Run): Speed {
  const cpuMs = median(samples[name].map((sample) => sample.cpuMs))
  const beside = (other: Contestant): number => round(cpuMs / median(samples[other].map((sample) => sample.cpuMs)))
  const fastestMs = Math.min(...valuesOf(samples[name]))
  return {
    medianMs: round(median(valuesOf(samples[name]))),
    fastestMs: round(fastestMs),
    cpuMs: round(cpuMs),
    toFloor: beside("floor"),
    toClone: beside("structuredClone"),
    toStringify: beside("JSON.stringify"),
    fastestToFloor: round(fastestMs / Math.min(...valuesOf(samples.floor))),
  }
}

function describeMemory(name: MemoryContestant, { time, allocated, retained, peak }: Runs): Memory {
  const share = (bytes: number): number => round(Math.max(0, bytes) / 1e6 / time.megabytes)
  return {
    // Pages that were free already hide a part of what Bun allocates, never add to it.
    allocatedRatio: share(Math.max(...valuesOf(allocated.samples[name]))),
    ...(peak && { peakRatio: share(median(valuesOf(peak.samples[name]))) }),
    retainedRatio: share(median(valuesOf(retained.samples[name]))),
  }
}

function valuesOf(samples: readonly Sample[]): number[] {
  return samples.map(({ value }) => value)
}

function mapNames<Name extends string, T>(names: readonly Name[], describe: (name: Name) => T): Record<Name, T> {
  return Object.fromEntries(names.map((name) => [name, describe(name)])) as Record<Name, T>
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function round(value: number): number {
  return Number(value.toPrecision(3))
}
