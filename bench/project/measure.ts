/**
 * One process of `npm run bench`, under Node or Bun: `measure.ts MESSAGES MODE` prints its samples as JSON. Every round has
 * a history of its own, so that nothing can be remembered of it, and starts with another contestant.
 */
import type * as Schema from "../../lib/config/schema.ts"
import type * as Engine from "../../lib/dtc/engine.ts"
import type { Message, Policy } from "../../lib/dtc/types.ts"
import { describeBudget, makeHistory } from "../history.ts"
import { CONTESTANTS, MEMORY_CONTESTANTS, type Contestant } from "./figures.ts"
import { collectTexts, copyStructure, sumBytes } from "./floor.ts"
import { collectGarbage, readAllocatedBytes, readHeldBytes, readPeakBytes } from "./memory.ts"

/** Milliseconds; or bytes: `allocated` in a process that collects no garbage, `peak` in one that often does. */
export type Mode = "time" | "allocated" | "retained" | "peak"

/** One call: milliseconds or bytes; with a time, the processor's too, which other programs disturb less. */
export interface Sample {
  value: number
  cpuMs: number
}

/** What a process of this program prints. */
export interface Run {
  megabytes: number
  cleared: number
  floorBytesMs: number[]
  samples: Record<Contestant, Sample[]>
}

interface Round {
  history: Message[]
  texts: string[]
}
type Call = (round: Round) => unknown

/** Memory is read in steps of pages: calls are repeated until this many megabytes of history went through. */
const REPEATED_MEGABYTES = 12

const MEASURES: Readonly<Record<Mode, (call: () => unknown) => Sample>> = {
  time: measureTime,
  allocated: measureAllocated,
  retained: measureRetained,
  peak: measurePeak,
}

// The build, not the source, so that no loader's translation is measured.
const built = (file: string): string => new URL(`../../dist/lib/${file}`, import.meta.url).href
const { planProjection, projectMessages } = (await import(built("dtc/engine.js"))) as typeof Engine
const { defaultTree } = (await import(built("config/schema.js"))) as typeof Schema

const [messages, mode] = [Number(process.argv[2]), process.argv[3] as Mode]
const { dtc } = defaultTree() as { dtc: Policy }
const options = { inputBudget: describeBudget(messages), policy: dtc, now: 1_800_000_000_000 }
const calls: Readonly<Record<Contestant, Call>> = {
  hook: ({ history }) => planProjection(history, options),
  projectMessages: ({ history }) => projectMessages(history, options),
  structuredClone: ({ history }) => structuredClone(history),
  "JSON.stringify": ({ history }) => JSON.stringify(history),
  floor: ({ history, texts }) => [sumBytes(texts), copyStructure(history)],
}

const first = makeHistory(messages)
const megabytes = Buffer.byteLength(JSON.stringify(first)) / 1e6
const cleared = projectMessages(first, options).cleared.length
console.log(JSON.stringify({ megabytes, cleared, ...measureRounds() } satisfies Run))

function measureRounds(): Pick<Run, "samples" | "floorBytesMs"> {
  const samples = Object.fromEntries(CONTESTANTS.map((name) => [name, [] as Sample[]])) as Run["samples"]
  const floorBytesMs: number[] = []
  const names = mode === "time" ? CONTESTANTS : MEMORY_CONTESTANTS
  const { warmUps, measured } = countRounds()
  for (let round = -warmUps; round < measured; round++) {
    const history = makeHistory(messages)
    const input = { history, texts: collectTexts(history) }
    for (const name of rotate<Contestant>(names, Math.abs(round))) {
      const sample = MEASURES[mode](() => calls[name](input))
      if (round >= 0) samples[name].push(sample)
    }
    if (round >= 0) floorBytesMs.push(measureTime(() => sumBytes(input.texts)).cpuMs)
  }
  return { samples, floorBytesMs }
}

/** Rounds of small histories are short and need more of both. */
function countRounds(): { warmUps: number; measured: number } {
  if (mode !== "time") return { warmUps: 1, measured: megabytes < 50 ? 3 : 1 }
  if (megabytes < 10) return { warmUps: 10, measured: 31 }
  return megabytes < 50 ? { warmUps: 2, measured: 9 } : { warmUps: 1, measured: 4 }
}

/** No garbage is collected on purpose: Node forgets compiled code with it, which no running host does before every request. */
function measureTime(call: () => unknown): Sample {
  const cpuAtStart = process.cpuUsage()
  const start = performance.now()
  call()
  const value = performance.now() - start
  const { user, system } = process.cpuUsage(cpuAtStart)
  return { value, cpuMs: (user + system) / 1_000 }
}

function measureAllocated(call: () => unknown): Sample {
  const times = Math.ceil(REPEATED_MEGABYTES / megabytes)
  collectGarbage()
  const before = readAllocatedBytes()
  for (let count = 0; count < times; count++) call()
  return { value: (readAllocatedBytes() - before) / times, cpuMs: 0 }
}

function measureRetained(call: () => unknown): Sample {
  const times = Math.ceil(REPEATED_MEGABYTES / megabytes)
  collectGarbage()
  const before = readHeldBytes()
  const results = Array.from({ length: times }, call)
  collectGarbage()
  const held = readHeldBytes() - before
  // Looked at after the second reading, so that they are still held there.
  return { value: results.includes(undefined) ? Number.NaN : held / times, cpuMs: 0 }
}

function measurePeak(call: () => unknown): Sample {
  collectGarbage()
  const before = readHeldBytes()
  return { value: readPeakBytes(call) - before, cpuMs: 0 }
}

function rotate<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
