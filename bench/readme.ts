/** `npm run bench:readme`: writes the README's numbers from the files that the benchmarks wrote. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { EstimateResult } from "./estimate.ts"
import { BASE_METHOD } from "./estimate/measure.ts"
import { ENGINE } from "./estimate/reported.ts"
import { percent } from "./estimate/table.ts"
import type { ProjectFigures } from "./project/figures.ts"
import { describeProject } from "./project/table.ts"
import type { BenchmarkResult, PolicyResult, TargetResult } from "./replay/benchmark.ts"
import type { UpstreamFigures } from "./upstream/figures.ts"
import { describeUpstream } from "./upstream/table.ts"

const README = new URL("../README.md", import.meta.url)

/** Policies of the replay that the README compares: their names in its result, and for readers. */
const COMPARED = new Map([
  ["none", "never clearing"],
  ["re-select", "selecting anew on every request"],
  ["ours", "this plugin"],
  ["clear_tool_uses carried at_least 0.35", "keep the newest 3 results of any tool, in batches"],
  ["OpenCode prune", "OpenCode's own pruning"],
])
/** Estimators that the README compares: their names in the benchmark's result, and for readers. */
const ESTIMATES = new Map([
  ["history", "the history alone, as before any report"],
  ["last", "the last report"],
  [ENGINE, "this plugin: last report, reported output, calibrated growth"],
])
const PRICE = "1.25/0.1"

/** The README's section of numbers. */
export function describeNumbers(): string {
  return [
    ...describeReplay(readResult("replay") as BenchmarkResult),
    "",
    ...describeEstimate(readResult("estimate") as EstimateResult),
    "",
    ...describeProject(readResult("project") as ProjectFigures),
    "",
    ...describeUpstream(readResult("upstream") as UpstreamFigures),
    "",
    "`npm run bench`, `bench:upstream`, `bench:replay` and `bench:estimate` measure, `npm run bench:readme` writes the results here.",
  ].join("\n")
}

function describeReplay({ targets, minWindowTokens }: BenchmarkResult): string[] {
  const windows = targets[0]?.windows ?? []
  const requests = windows.reduce((sum, window) => sum + window.requests, 0)
  return [
    `Real sessions, replayed request by request (${windows.length} windows of ${minWindowTokens.toLocaleString("en")} tokens and more, ${requests.toLocaleString("en")} requests).`,
    "Input cost is relative to never clearing, with cache writes at 1.25 and cache reads at 0.1 of the input price. A prefix break",
    "changes something that the previous request already sent. Evidence lost: a later call names a path whose every earlier",
    "output is cleared. The budget is the target / 0.7.",
    "",
    "| target | policy | input cost | prefix breaks | evidence lost | requests over budget |",
    "| --- | --- | --- | --- | --- | --- |",
    ...targets.flatMap(describeTarget),
    "",
    ...targets.flatMap(describeEvidence),
    "Clearing any tool's output down to the newest three is cheaper because it loses two to three times the evidence. The break and the evidence",
    'of "never clearing" come from marks that the host itself had stored. The windows are few: `docs/decisions` says how the',
    "defaults were chosen and what leaving one session out gives.",
  ]
}

function describeTarget({ ratio, policies }: TargetResult): string[] {
  return policies.filter(({ name }) => COMPARED.has(name)).map((policy) => describePolicy(ratio, policy))
}

/** Where this plugin loses more than what changes every request, that is said. */
function describeEvidence({ ratio, policies }: TargetResult): string[] {
  const [own, anew] = ["ours", "re-select"].map((name) => policies.find((policy) => policy.name === name)?.measure)
  if (!own || !anew) return []
  const comparison =
    own.evidenceLost > anew.evidenceLost ? "more" : own.evidenceLost < anew.evidenceLost ? "less" : "the same"
  return [
    `At ${ratio} this plugin loses ${comparison} evidence: ${own.evidenceLost} against ${anew.evidenceLost} when selecting anew.`,
  ]
}

function describePolicy(ratio: number, { name, cost, measure }: PolicyResult): string {
  const { prefixBreaks, evidenceLost, overBudget } = measure
  return `| ${ratio} of the final size | ${COMPARED.get(name)} | ${cost[PRICE]?.relative.toFixed(3)} | ${prefixBreaks} | ${evidenceLost} | ${overBudget} |`
}

function describeEstimate({ overall, firsts, texts }: EstimateResult): string[] {
  const reported = firsts.map(({ reportedTokens }) => reportedTokens)
  const own = texts.filter(({ method }) => method === BASE_METHOD)
  const worst = own.toSorted((a, b) => Math.abs(b.errorOfMean) - Math.abs(a.errorOfMean))[0]
  const range = [Math.min(...reported), Math.max(...reported)].map((tokens) => tokens.toLocaleString("en"))
  return [
    `Sizes, one request ahead, beside what providers reported in the same sessions (${overall[0]?.requests.toLocaleString("en")} requests):`,
    "",
    "| estimate | median error | 90th percentile |",
    "| --- | --- | --- |",
    ...overall
      .filter(({ method }) => ESTIMATES.has(method))
      .map(
        ({ method, medianShare, p90Share }) =>
          `| ${ESTIMATES.get(method)} | ${percent(medianShare)} | ${percent(p90Share)} |`,
      ),
    "",
    `A window's first request has no report yet: it cost ${range.join(" to ")} tokens, most of them system prompt and tools. The`,
    `base estimate of the text alone is off by at most ${Math.abs(Math.round((worst?.errorOfMean ?? 0) * 100))} % of the mean of ${own[0]?.tokenizers.length} tokenizers, over ${own.length} kinds of text (worst: ${worst?.kind}).`,
  ]
}

function readResult(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`results/${name}.json`, import.meta.url), "utf8"))
}

/** What stands between `<!-- name:start -->` and `<!-- name:end -->`. */
export function readSection(name: string, file = README): string {
  const [, section] = splitAt(name, file)
  return section.trim()
}

export function writeSection(name: string, text: string, file = README): void {
  const [before, , after] = splitAt(name, file)
  writeFileSync(file, `${before}<!-- ${name}:start -->\n\n${text}\n\n<!-- ${name}:end -->${after}`)
}

function splitAt(name: string, file: URL): [before: string, section: string, after: string] {
  const [before, section, after] = readFileSync(file, "utf8").split(new RegExp(`<!-- ${name}:(?:start|end) -->`))
  if (before === undefined || section === undefined || after === undefined)
    throw new Error(`${file.pathname} has no section ${name}`)
  return [before, section, after]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeSection("numbers", describeNumbers())
