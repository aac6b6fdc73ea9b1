import type { BenchmarkResult, PolicyResult, TargetResult } from "./benchmark.ts"
import { describePrice, PRICE_ROWS } from "./cost.ts"

const NAME_WIDTH = 250
const BAR_WIDTH = 170
const GAP = 62
const ROW_HEIGHT = 22
const HEAD_HEIGHT = 58
const WIDTH = NAME_WIDTH + 3 * (BAR_WIDTH + GAP)

const STYLE = `
  svg { color-scheme: light dark; font: 12px system-ui, sans-serif }
  .page { fill: #ffffff } text { fill: #1f2328 } .muted { fill: #59636e } .title { font-size: 14px; font-weight: 600 }
  .bar { fill: #8c959f } .own .bar { fill: #0969da } .rule { stroke: #59636e; stroke-dasharray: 3 3 }
  .bound { stroke: #1f2328; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .muted { fill: #9198a1 }
    .bar { fill: #656c76 } .own .bar { fill: #4493f8 } .rule { stroke: #9198a1 } .bound { stroke: #e6edf3 }
  }`

interface Panel {
  heading: string
  value: (policy: PolicyResult) => number
  label: (value: number) => string
  /** A tick on the bar. */
  bound?: (policy: PolicyResult) => number
  /** A vertical line through the panel. */
  rule?: number
}

const PRICE = describePrice(PRICE_ROWS[0]!)

const PANELS: readonly Panel[] = [
  {
    heading: `Input cost, none = 1 (${PRICE}); tick: free breaks`,
    value: ({ cost }) => cost[PRICE]?.relative ?? 0,
    label: (value) => value.toFixed(2),
    bound: ({ cost }) => cost[PRICE]?.freeBreaks ?? 0,
    rule: 1,
  },
  { heading: "Prefix breaks", value: ({ measure }) => measure.prefixBreaks, label: String },
  { heading: "Evidence lost", value: ({ measure }) => measure.evidenceLost, label: String },
]

/** One block per target, one row per policy, three bars: cost, breaks, evidence lost. Readable on light and dark pages. */
export function renderChart({ targets }: BenchmarkResult): string {
  const heights = targets.map(({ policies }) => HEAD_HEIGHT + policies.length * ROW_HEIGHT + 18)
  const total = heights.reduce((sum, height) => sum + height, 0)
  const starts = heights.map((_height, index) => heights.slice(0, index).reduce((sum, height) => sum + height, 0))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${total}" width="${WIDTH}" height="${total}" role="img">`,
    "<title>Input cost, prefix breaks and evidence lost by policy</title>",
    `<style>${STYLE}\n</style>`,
    `<rect class="page" width="${WIDTH}" height="${total}"/>`,
    ...targets.map((target, index) => renderTarget(target, starts[index] ?? 0)),
    "</svg>\n",
  ].join("\n")
}

function renderTarget({ ratio, policies }: TargetResult, top: number): string {
  const names = policies.map(
    ({ name }, row) => `<text x="12" y="${HEAD_HEIGHT + row * ROW_HEIGHT + 14}">${escape(name)}</text>`,
  )
  return [
    `<g transform="translate(0 ${top})">`,
    `<text class="title" x="12" y="24">Target at ${ratio} of the final size</text>`,
    ...names,
    ...PANELS.map((panel, index) => renderPanel(panel, policies, NAME_WIDTH + index * (BAR_WIDTH + GAP))),
    "</g>",
  ].join("\n")
}

function renderPanel(
  { heading, value, label, bound, rule }: Panel,
  policies: readonly PolicyResult[],
  left: number,
): string {
  const largest = Math.max(...policies.map(value), rule ?? 0) || 1
  const scale = (amount: number): number => Math.round((amount / largest) * BAR_WIDTH * 10) / 10
  const bottom = HEAD_HEIGHT + policies.length * ROW_HEIGHT
  const bars = policies.map((policy, row) => {
    const y = HEAD_HEIGHT + row * ROW_HEIGHT
    const width = scale(value(policy))
    const tick = bound && scale(bound(policy))
    return [
      `<g class="${isOwn(policy) ? "own" : "other"}"><rect class="bar" x="0" y="${y + 3}" width="${width}" height="14"/>`,
      tick === undefined ? "" : `<line class="bound" x1="${tick}" x2="${tick}" y1="${y + 1}" y2="${y + 19}"/>`,
      `<text class="muted" x="${width + 6}" y="${y + 14}">${label(value(policy))}</text></g>`,
    ].join("")
  })
  const line =
    rule === undefined
      ? ""
      : `<line class="rule" x1="${scale(rule)}" x2="${scale(rule)}" y1="${HEAD_HEIGHT - 4}" y2="${bottom}"/>`
  const title = `<text class="muted" x="0" y="${HEAD_HEIGHT - 12}">${escape(heading)}</text>`
  return [`<g transform="translate(${left} 0)">`, title, line, ...bars, "</g>"].join("\n")
}

function isOwn({ name }: PolicyResult): boolean {
  return name === "ours" || name.startsWith("sketch")
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}
