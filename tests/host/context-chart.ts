export interface ContextPoint {
  /** What was sent, in tokens. */
  sent: number
  /** What would have been sent without clearing. */
  uncleared: number
}

export interface ChartOptions {
  budgetTokens: number
  rows: number
  colour: boolean
}

const COLOURS = { sent: "\u001b[36m", cleared: "\u001b[90m", budget: "\u001b[31m" }
const RESET = "\u001b[0m"

/** One column per request, largest value at the top. A cell is filled when the value reaches its middle. */
export function drawContextChart(points: readonly ContextPoint[], options: ChartOptions): string[] {
  const largest = Math.max(options.budgetTokens, ...points.map(({ uncleared }) => uncleared))
  const rowTokens = largest / (options.rows - 1)
  const budgetRow = Math.round(options.budgetTokens / rowTokens)
  const paint = (kind: keyof typeof COLOURS, text: string): string =>
    options.colour ? `${COLOURS[kind]}${text}${RESET}` : text
  const drawRow = (row: number): string => {
    const middle = (row + 0.5) * rowTokens
    const cells = points.map(({ sent, uncleared }) => {
      if (sent >= middle) return paint("sent", "██")
      if (row === budgetRow) return paint("budget", "──")
      return uncleared >= middle ? paint("cleared", "░░") : "  "
    })
    return labelRow(row, rowTokens, row === budgetRow ? options.budgetTokens : undefined) + cells.join("")
  }
  const numbers = `request 1${String(points.length).padStart(points.length * 2 - 9)}`
  return [
    ...Array.from({ length: options.rows }, (_, offset) => drawRow(options.rows - 1 - offset)),
    `${" ".repeat(8)}└${"──".repeat(points.length)}`,
    `${" ".repeat(9)}${numbers}`,
  ]
}

function labelRow(row: number, rowTokens: number, budgetTokens: number | undefined): string {
  if (budgetTokens !== undefined) return `${inThousands(budgetTokens).padStart(7)} ┤`
  return `${(row % 4 === 0 ? inThousands(row * rowTokens) : "").padStart(7)} │`
}

export const inThousands = (tokens: number): string => `${(tokens / 1000).toFixed(1)}k`
