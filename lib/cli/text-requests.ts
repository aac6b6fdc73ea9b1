import { alignColumns, type Paint } from "./console.ts"
import type { Report, RequestRow } from "./types.ts"
import { count, FIRST_SIZES, formatTokens } from "./words.ts"

const BAR_CHARS = 40

export interface TextStyle {
  /** The requests where nothing happens too. */
  all: boolean
  paint: Paint
}

/** A row for each request where something happens, for the first and for the last; of the others, how many they are. */
export function describeRequests(report: Report, { all, paint }: TextStyle): string[] {
  const { requests, windows } = report
  if (requests.length === 0) return []
  const scale = Math.max(report.inputBudget, report.totals.peakBeforeTokens) / BAR_CHARS
  const head = ["request", "without", "with", `context, up to ${formatTokens(scale * BAR_CHARS)}`]
  const shown = all ? requests : selectEventful(report)
  const rows = shown.map((request) => [
    `#${request.request}`,
    formatTokens(request.beforeTokens),
    formatTokens(request.afterTokens),
    `${drawBar(request, scale)}${describeBatch(request)}`,
  ])
  const [first = "", ...lines] = alignColumns([head, ...rows], [0, 1, 2])
  return [
    paint("dim", first),
    ...shown.flatMap(({ request, window, batch }, index) => {
      const line = lines[index] ?? ""
      const previous = shown[index - 1]
      const left = request - (previous?.request ?? 0) - 1
      const notes = [
        ...(left > 0 ? [describeGap(left)] : []),
        ...(previous && previous.window !== window ? [`… a compaction: window ${window} of ${windows.length}`] : []),
      ]
      return [...notes.map((note) => paint("dim", note)), batch.length > 0 ? paint("cyan", line) : line]
    }),
    ...[`█ sent  ░ cleared  │ target ${formatTokens(report.targetTokens)}`, FIRST_SIZES].map((note) =>
      paint("dim", note),
    ),
  ]
}

function describeGap(left: number): string {
  return `… ${count(left, "request")} without a change`
}

/** A gap takes a line of its own, so a single request stands in its place. */
function selectEventful({ requests, inputBudget }: Report): RequestRow[] {
  const happens = requests.map((request, index) => isEventful(requests, index, inputBudget))
  return requests.filter((_request, index) => happens[index] || (happens[index - 1] && happens[index + 1]))
}

/** Something is cleared or changed, the request enters or leaves its budget or the unknown, or a window begins or ends. */
function isEventful(requests: readonly RequestRow[], index: number, inputBudget: number): boolean {
  const [previous, request, next] = [requests[index - 1], requests[index], requests[index + 1]]
  if (!previous || !request || !next) return true
  const hasOtherState = describeState(previous, inputBudget) !== describeState(request, inputBudget)
  const isAtBorder = previous.window !== request.window || request.window !== next.window
  return request.batch.length > 0 || request.breaksPrefix || hasOtherState || isAtBorder
}

function describeState({ beforeTokens, afterTokens }: RequestRow, inputBudget: number): string {
  return [beforeTokens, afterTokens].map((tokens) => (tokens === undefined ? "unknown" : tokens > inputBudget)).join()
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
  return ` −${formatTokens(saved)} in ${count(batch.length, "output")}`
}
