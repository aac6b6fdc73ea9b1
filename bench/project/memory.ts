import * as v8 from "node:v8"

/** What Bun has and Node has not; the types of Bun are no dependency. */
interface BunGlobal {
  gc(isSynchronous: boolean): void
}
interface BunHeap {
  heapStats(): { heapSize: number }
}

/** No literal: nothing here knows its types. */
const BUN_MODULE: string = "bun:jsc"
const bun = (globalThis as { Bun?: BunGlobal }).Bun
const bunHeap = bun && ((await import(BUN_MODULE)) as BunHeap)

export function collectGarbage(): void {
  if (bun) bun.gc(true)
  else globalThis.gc?.()
}

/** Grows with every allocation in a process that collects no garbage. Bun's heap counts only what a collection found. */
export function readAllocatedBytes(): number {
  return bun ? process.memoryUsage().rss : readNodeBytes()
}

/** What lives right after a collection. */
export function readHeldBytes(): number {
  return bunHeap ? bunHeap.heapStats().heapSize : readNodeBytes()
}

/** The largest heap of a call, as every collection in it and its end found it. Node only. */
export function readPeakBytes(call: () => unknown): number {
  const profiler = new v8.GCProfiler()
  profiler.start()
  const result = call()
  const atEnd = readNodeBytes()
  const collections = profiler.stop()?.statistics ?? []
  const before = collections.map(
    ({ beforeGC: { heapStatistics } }) => heapStatistics.usedHeapSize + heapStatistics.externalMemory,
  )
  return result === undefined ? Number.NaN : Math.max(atEnd, ...before)
}

function readNodeBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
