import { alignColumns, printable, type Paint } from "./console.ts"
import type { OutputRow, Report, RequestRow } from "./types.ts"
import { REASONS } from "./reasons.ts"
import { describeHeadline, describeLimit, describeUnknown, formatTokens, listFigures } from "./words.ts"

const BAR_CHARS = 40
const TARGET_CHARS = 60

/** The report for a terminal: what would have happened in a few lines, then each request, then the outputs. */
export function renderText(report: Report, paint: Paint): string {
  const sections = [
    describeSession(report, paint),
    describeRequests(report, paint),
    describeCleared(report, paint),
    describeKept(report, paint),
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`
}

function describeSession(report: Report, paint: Paint): string[] {
  const { id, title, model } = report.session
  const unknown = describeUnknown(report)
  const name = [title ?? id, model].filter((piece) => piece !== undefined).map(printable)
  const figures = listFigures(report).map(({ name: label, plain, cleared }) => [label, plain, cleared])
  const [head = "", ...rows] = alignColumns([["", "without the plugin", "with it"], ...figures], [1, 2])
  return [
    paint("bold", name.join(" · ")),
    describeLimit(report),
    "",
    paint("bold", describeHeadline(report)),
    ...(unknown === undefined ? [] : [paint("yellow", unknown)]),
    paint("dim", head),
    ...rows,
  ]
}

function describeRequests(report: Report, paint: Paint): string[] {
  const { requests, windows } = report
  if (requests.length === 0) return []
  const scale = Math.max(report.inputBudget, report.totals.peakBeforeTokens) / BAR_CHARS
  const head = ["request", "without", "with", `context, up to ${formatTokens(scale * BAR_CHARS)}`]
  const rows = requests.map((request) => [
    windows.length > 1 ? `${request.window}/${request.request}` : String(request.request),
    formatTokens(request.beforeTokens),
    formatTokens(request.afterTokens),
    `${drawBar(request, scale)}${describeBatch(request)}`,
  ])
  const [first = "", ...lines] = alignColumns([head, ...rows], [0, 1, 2])
  const legend = `█ sent  ░ cleared  │ target ${formatTokens(report.targetTokens)}`
  return [
    paint("dim", first),
    ...lines.map((line, index) => (requests[index]?.batch.length ? paint("cyan", line) : line)),
    paint("dim", legend),
  ]
}

function drawBar({ beforeTokens, afterTokens, targetTokens }: RequestRow, scale: number): string {
  if (beforeTokens === undefined || afterTokens === undefined) return "of unknown size".padEnd(BAR_CHARS)
  const target = Math.floor(targetTokens / scale)
  return Array.from({ length: BAR_CHARS }, (_, cell) => {
    const from = cell * scale
    if (cell === target) return "│"
    if (from < afterTokens) return "█"
    return from < beforeTokens ? "░" : " "
  }).join("")
}

function describeBatch({ batch }: RequestRow): string {
  if (batch.length === 0) return ""
  const saved = batch.reduce((sum, { savedTokens }) => sum + savedTokens, 0)
  return ` −${formatTokens(saved)} in ${batch.length} ${batch.length === 1 ? "output" : "outputs"}`
}

function describeCleared({ outputs }: Report, paint: Paint): string[] {
  const cleared = outputs.filter(({ state }) => state === "cleared")
  if (cleared.length === 0) return []
  const rows = cleared.map(describeOutput)
  const head = ["cleared", "target", "tokens", "at", "because", "made again"]
  const [first = "", ...lines] = alignColumns([head, ...rows], [2, 3])
  return [paint("dim", first), ...lines]
}

function describeOutput({ tool, target, tokens, clearedAt, reason, repeats, repeatedAt }: OutputRow): string[] {
  const again = repeatedAt === undefined ? "" : `#${repeatedAt}${repeats > 1 ? ` and ${repeats - 1} more` : ""}`
  return [printable(tool), shorten(printable(target)), formatTokens(tokens), `#${clearedAt}`, REASONS[reason], again]
}

/** The end of a path says more than its beginning. */
function shorten(text: string): string {
  if (text.length <= TARGET_CHARS) return text
  return `${text.slice(0, TARGET_CHARS / 3)}…${text.slice(text.length - (TARGET_CHARS * 2) / 3 + 1)}`
}

function describeKept({ outputs }: Report, paint: Paint): string[] {
  const kept = outputs.filter(({ state }) => state !== "cleared")
  if (kept.length === 0) return []
  const counts = new Map<OutputRow["reason"], { count: number; tokens: number }>()
  for (const { reason, tokens } of kept) {
    const { count, tokens: sum } = counts.get(reason) ?? { count: 0, tokens: 0 }
    counts.set(reason, { count: count + 1, tokens: sum + tokens })
  }
  const rows = [...counts]
    .toSorted(([, left], [, right]) => right.tokens - left.tokens)
    .map(([reason, { count, tokens }]) => [String(count), formatTokens(tokens), REASONS[reason]])
  const [first = "", ...lines] = alignColumns([["kept", "tokens", "because"], ...rows], [0, 1])
  return [paint("dim", first), ...lines]
}
