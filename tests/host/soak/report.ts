import type { MemoryPair } from "./memory-claims.ts"
import type { Verdict } from "./verdict.ts"

/** For readers. */
export function describeVerdict({ scope, hostVersion, runs, withoutPluginToo, memory, violations }: Verdict): string[] {
  const { seed, steps, sessions } = scope
  return [
    `seed ${seed}: ${steps} steps over ${sessions} sessions, OpenCode ${hostVersion}`,
    ...Object.entries(runs).flatMap(([name, { log, ...counts }]) => [
      `${name}: ${describeCounts({ ...counts })}`,
      `  log: ${log.projected} projected; left as they were: ${JSON.stringify(log.skipped)}; warnings: ${log.warnings.length}`,
    ]),
    ...withoutPluginToo.map(({ key, what }) => `without the plugin too: ${key}: ${what}`),
    ...memory.pairs.flatMap((pair, index) => describePair(`memory-${index + 1}`, pair)),
    `memory, median of the pairs' ratios: ${memory.ratios.median} of the median, ${memory.ratios.peak} of the peak`,
    ...violations.map((violation) => `VIOLATED ${violation}`),
    violations.length === 0 ? "nothing is violated" : `${violations.length} violations`,
  ]
}

const describePair = (name: string, pair: MemoryPair): string[] =>
  (["on", "off"] as const).map((plugin) => {
    const { medianMegabytes, peakMegabytes, slopeMegabytesPer100Steps, lowsMegabytes } = pair[plugin]
    return `${name}-${plugin}: median ${medianMegabytes} MB, peak ${peakMegabytes} MB, ${slopeMegabytesPer100Steps} MB per 100 steps, lows ${lowsMegabytes.join(" and ")} MB`
  })

const describeCounts = (counts: Record<string, unknown>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${String(count)}`)
    .join(", ")
