import { nameRun } from "./runs.ts"
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
    ...(memory?.pairs ?? []).flatMap((pair, index) =>
      (["on", "off"] as const).map((plugin) => {
        const { medianMegabytes, peakMegabytes, slopeMegabytesPer100Steps } = pair[plugin]
        const name = nameRun({ kind: `memory-${index + 1}` as "memory-1", plugin })
        return `${name}: median ${medianMegabytes} MB, peak ${peakMegabytes} MB, ${slopeMegabytesPer100Steps} MB per 100 steps`
      }),
    ),
    ...(memory === undefined
      ? []
      : [
          `memory, median of the ratios: ${memory.ratios.median} of the median, ${memory.ratios.peak} of the peak`,
          `memory, median slope: ${memory.slopes.on} MB per 100 steps with the plugin, ${memory.slopes.off} without`,
        ]),
    ...violations.map((violation) => `VIOLATED ${violation}`),
    violations.length === 0 ? "nothing is violated" : `${violations.length} violations`,
  ]
}

const describeCounts = (counts: Record<string, unknown>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${String(count)}`)
    .join(", ")
