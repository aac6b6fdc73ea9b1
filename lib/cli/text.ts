import { printable } from "../printable.ts"
import { alignColumns, type Paint } from "./console.ts"
import { REASONS } from "./reasons.ts"
import { describeRequests, type TextStyle } from "./text-requests.ts"
import type { OutputRow, Report } from "./types.ts"
import { describeHeadline, describeLimit, describeUnknown, formatTokens, listFigures } from "./words.ts"

const TARGET_CHARS = 60

/** The one figure that no report corrects stands in two tables. */
const TEXT_TOKENS =
  "text tokens: of the output alone, by its text; what requests hold and save is corrected by the provider's reports"

/** The report for a terminal: what would have happened in a few lines, then the requests, then the outputs. */
export function renderText(report: Report, { all, paint }: TextStyle): string {
  const sections = [
    describeSession(report, paint),
    describeRequests(report, { all, paint }),
    describeCleared(report, paint),
    describeKept(report, paint),
    report.outputs.length > 0 ? [paint("dim", TEXT_TOKENS)] : [],
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

function describeCleared({ outputs }: Report, paint: Paint): string[] {
  const cleared = outputs.filter(({ state }) => state === "cleared")
  if (cleared.length === 0) return []
  const rows = cleared.map(describeOutput)
  const head = ["cleared", "target", "text tokens", "at", "because", "made again"]
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
  const [first = "", ...lines] = alignColumns([["kept", "text tokens", "because"], ...rows], [0, 1])
  return [paint("dim", first), ...lines]
}
