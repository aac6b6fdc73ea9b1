import { html, type Html } from "./html.ts"
import type { Report, RequestRow } from "./types.ts"
import { formatTokens } from "./words.ts"

const WIDTH = 1_000
const HEIGHT = 330
const LEFT = 62
const TOP = 26
const BOTTOM = 300
const PLOT_WIDTH = WIDTH - LEFT - 8

interface Scales {
  /** Left edge of a request's column, by its index. */
  x: (index: number) => number
  y: (tokens: number) => number
}

/** Context of each request, without the plugin and with it, under the two lines that matter. One column per request. */
export function renderChart(report: Report): Html {
  const { requests, inputBudget, targetTokens, totals } = report
  const most = Math.max(inputBudget, totals.peakBeforeTokens) * 1.04
  const scales: Scales = {
    x: (index) => round(LEFT + (index / Math.max(requests.length, 1)) * PLOT_WIDTH),
    y: (tokens) => round(BOTTOM - (tokens / most) * (BOTTOM - TOP)),
  }
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">
    <rect id="plot" x="${LEFT}" y="${TOP}" width="${PLOT_WIDTH}" height="${BOTTOM - TOP}" />
    ${listTicks(most).map((tokens) => renderTick(tokens, scales))}
    <path class="plain" d="${drawArea(requests, ({ beforeTokens }) => beforeTokens, scales)}" />
    <path class="own" d="${drawArea(requests, ({ afterTokens }) => afterTokens, scales)}" />
    ${renderUnknown(requests, scales)} ${renderWindows(requests, scales)} ${renderBudget(inputBudget, scales)}
    ${renderTarget(requests, targetTokens, scales)}
    ${requests.flatMap((request, index) => renderBatch(request, index, scales))}
    ${listNumbers(requests.length).map((index) => renderNumber(index, scales))}
    <rect
      id="cursor"
      data-plot-left="${LEFT}"
      data-plot-width="${PLOT_WIDTH}"
      x="${LEFT}"
      y="${TOP}"
      width="0"
      height="${BOTTOM - TOP}"
    />
  </svg>`
}

/** Steps, not slopes: between two requests there is nothing. */
function drawArea(
  requests: readonly RequestRow[],
  sizeOf: (request: RequestRow) => number | undefined,
  { x, y }: Scales,
): string {
  const columns = requests.map((request, index) => `V${y(sizeOf(request) ?? 0)}H${x(index + 1)}`)
  return `M${x(0)} ${y(0)}${columns.join("")}V${y(0)}Z`
}

function renderBudget(tokens: number, { y }: Scales): Html {
  return html`<g class="budget">
    <path d="M${LEFT} ${y(tokens)}h${PLOT_WIDTH}" />
    <text x="${LEFT + 6}" y="${y(tokens) - 5}">budget ${formatTokens(tokens)}</text>
  </g>`
}

/** Not one height: reports tell how much of the budget is no history's. */
function renderTarget(requests: readonly RequestRow[], lastTokens: number, { x, y }: Scales): Html {
  const first = requests[0]?.targetTokens ?? lastTokens
  const steps = requests.map(({ targetTokens }, index) => `V${y(targetTokens)}H${x(index + 1)}`)
  return html`<g class="target">
    <path d="M${LEFT} ${y(first)}${steps.join("")}" />
    <text x="${LEFT + 6}" y="${y(lastTokens) - 5}">target ${formatTokens(lastTokens)}</text>
  </g>`
}

function renderBatch({ batch, afterTokens = 0 }: RequestRow, index: number, { x, y }: Scales): Html[] {
  if (batch.length === 0) return []
  const [middle, top] = [round((x(index) + x(index + 1)) / 2), y(afterTokens)]
  return [html`<path class="batch" d="M${middle} ${top}l-6 -11h12z" />`]
}

function renderUnknown(requests: readonly RequestRow[], { x }: Scales): Html[] {
  return requests.flatMap(({ beforeTokens }, index) =>
    beforeTokens === undefined
      ? [
          html`<rect
            class="unknown"
            x="${x(index)}"
            y="${TOP}"
            width="${round(x(index + 1) - x(index))}"
            height="${BOTTOM - TOP}"
          />`,
        ]
      : [],
  )
}

function renderWindows(requests: readonly RequestRow[], { x }: Scales): Html[] {
  return requests.flatMap(({ window }, index) =>
    index > 0 && requests[index - 1]?.window !== window
      ? [
          html`<g class="window">
            <line x1="${x(index)}" x2="${x(index)}" y1="${TOP - 14}" y2="${BOTTOM}" />
            <text x="${x(index) + 4}" y="${TOP - 6}">compaction</text>
          </g>`,
        ]
      : [],
  )
}

function renderTick(tokens: number, { y }: Scales): Html {
  return html`<g class="tick">
    <line x1="${LEFT}" x2="${LEFT + PLOT_WIDTH}" y1="${y(tokens)}" y2="${y(tokens)}" />
    <text x="${LEFT - 8}" y="${y(tokens) + 4}" text-anchor="end">${formatTokens(tokens)}</text>
  </g>`
}

function renderNumber(index: number, { x }: Scales): Html {
  const middle = round((x(index) + x(index + 1)) / 2)
  return html`<text class="number" x="${middle}" y="${BOTTOM + 18}" text-anchor="middle">${index + 1}</text>`
}

/** Round numbers from 0, about five of them. */
function listTicks(most: number): number[] {
  const step = roundStep(most / 5)
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step)
}

/** Every so many-th request, the first one too. */
function listNumbers(requests: number): number[] {
  const step = Math.max(1, roundStep(requests / 12))
  return Array.from({ length: requests }, (_, index) => index).filter(
    (index) => index === 0 || (index + 1) % step === 0,
  )
}

/** The next of 1, 2, 5, 10, 20, 50 and so on. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power
}

function round(coordinate: number): number {
  return Math.round(coordinate * 100) / 100
}
