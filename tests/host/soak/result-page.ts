import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { MemoryPair } from "./memory-claims.ts"
import type { RunCounts } from "./run-counts.ts"
import type { Verdict } from "./verdict.ts"

const RESULT = fileURLToPath(new URL("../../../bench/results/soak.json", import.meta.url))
const PAGE = fileURLToPath(new URL("../../../docs/decisions/2026-12-01-soak.md", import.meta.url))
const [BEGIN, END] = ["<!-- soak:start -->", "<!-- soak:end -->"]

const COUNTED = [
  ["requests", "model calls"],
  ["kills", "kills of a host"],
  ["aborts", "aborted prompts"],
  ["summaries", "summaries"],
  ["interruptedSummaries", "interrupted summaries"],
  ["forks", "forks"],
  ["switches", "switches between the APIs"],
  ["queued", "queued prompts"],
  ["calls", "stored tool calls, each compared"],
  ["interruptedCalls", "of them interrupted"],
  ["equalToEvent", "of them equal to their event"],
  ["equalToWire", "of them equal to the first request in full"],
  ["cleared", "different outputs cleared"],
] as const satisfies readonly (readonly [keyof RunCounts, string])[]

/** Keeps the verdict, and its figures in the page about the soak. */
export function writeResult(verdict: Verdict): void {
  writeFileSync(RESULT, `${JSON.stringify(verdict, null, 2)}\n`)
  const page = readPage()
  writeFileSync(PAGE, page.replace(readFigures(page), `\n${describeFigures(verdict)}\n`))
}

export const readResult = (): Verdict => JSON.parse(readFileSync(RESULT, "utf8"))

export const readPage = (): string => readFileSync(PAGE, "utf8")

/** What stands between the page's marks. */
export const readFigures = (page: string): string => page.slice(page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END))

export function describeFigures({ scope, hostVersion, runs, memory, violations }: Verdict): string {
  const [on, off] = [runs["faults-on"], runs["faults-off"]]
  return [
    "",
    `OpenCode ${hostVersion}, seed ${scope.seed}, ${violations.length} violations.`,
    "",
    "| run with faults | with the plugin | without |",
    "| --- | --- | --- |",
    ...COUNTED.map(([count, name]) => `| ${name} | ${on?.[count]} | ${off?.[count]} |`),
    "",
    "| memory, with the plugin / without | median, MB | peak, MB | slope, MB per 100 steps |",
    "| --- | --- | --- | --- |",
    ...memory.pairs.map((pair, index) => describePair(`pair ${index + 1}`, pair)),
    ...(memory.growth ? [describePair("growth", memory.growth)] : []),
    `| median of the pairs' ratios | ${memory.ratios.median} | ${memory.ratios.peak} | |`,
    "",
  ].join("\n")
}

const describePair = (name: string, { on, off }: MemoryPair): string =>
  `| ${name} | ${on.medianMegabytes} / ${off.medianMegabytes} | ${on.peakMegabytes} / ${off.peakMegabytes} | ` +
  `${on.slopeMegabytesPer100Steps} / ${off.slopeMegabytesPer100Steps} |`
