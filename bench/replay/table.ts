import type { BenchmarkResult, PolicyResult, TargetResult } from "./benchmark.ts"
import { describePrice, PRICE_ROWS } from "./cost.ts"

type Column = readonly [heading: string, cell: (policy: PolicyResult) => string]

const percent = (ratio: number | undefined): string => (ratio === undefined ? "" : ratio.toFixed(3))
const thousands = (tokens: number): string => (tokens / 1_000).toFixed(1)

const COLUMNS: readonly Column[] = [
  ["policy", ({ name }) => name],
  ...PRICE_ROWS.map((price): Column => {
    const row = describePrice(price)
    return [row, ({ cost }) => percent(cost[row]?.relative)]
  }),
  ["free breaks", ({ cost }) => percent(cost[describePrice(PRICE_ROWS[0]!)]?.freeBreaks)],
  ["breaks", ({ measure }) => String(measure.prefixBreaks)],
  ["evidence lost", ({ measure }) => String(measure.evidenceLost)],
  ["> target", ({ measure }) => String(measure.overTarget)],
  ["> budget", ({ measure }) => String(measure.overBudget)],
  ["mean k", ({ meanTokens }) => thousands(meanTokens)],
  ["peak k", ({ measure }) => thousands(measure.peakTokens)],
  ["cleared", ({ measure }) => String(measure.clearedOutputs)],
]

/** One aligned table per target; costs are relative to `none`, per `write/read` price. */
export function renderTables({ targets, minWindowTokens }: BenchmarkResult): string {
  return targets.map((target) => `${renderHeading(target, minWindowTokens)}\n\n${renderTable(target)}\n`).join("\n")
}

/** Left-aligned first column, right-aligned numbers. */
export function alignRows(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  return rows.map((row) => row.map(pad).join("  ").trimEnd()).join("\n")
}

function renderTable({ policies }: TargetResult): string {
  return alignRows([
    COLUMNS.map(([heading]) => heading),
    ...policies.map((policy) => COLUMNS.map(([, cell]) => cell(policy))),
  ])
}

function renderHeading({ ratio, windows }: TargetResult, minWindowTokens: number): string {
  const requests = windows.reduce((sum, window) => sum + window.requests, 0)
  return `Target ${ratio} of the final size: ${windows.length} windows of ${minWindowTokens} tokens and more, ${requests} requests`
}
