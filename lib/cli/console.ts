/** What a command may touch; the entry file alone knows the process. */
export interface Console {
  /** Absolute path. */
  cwd: string
  /** Absolute path. */
  home: string
  env: Readonly<Record<string, string | undefined>>
  out: Stream
  err: Stream
  /** The bytes of standard input. */
  readInput: () => AsyncIterable<Uint8Array>
  /** The built script of the page. */
  readPageScript: () => Promise<string>
  /** Milliseconds of any steady clock. */
  clock: () => number
}

export interface Stream {
  write: (text: string) => void
  isTTY: boolean
}

export type Paint = (style: keyof typeof STYLES, text: string) => string

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** Colours are for terminals only, and not for users who say no (https://no-color.org: any value but an empty one). */
export function choosePaint({ out, env }: Pick<Console, "out" | "env">): Paint {
  if (!out.isTTY || env["NO_COLOR"]) return (_style, text) => text
  return (style, text) => `\u001B[${STYLES[style]}m${text}\u001B[0m`
}

/** Rows with columns of equal width, two spaces apart; the last column is as wide as it is. */
export function alignColumns(rows: readonly (readonly string[])[], alignRight: readonly number[] = []): string[] {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return alignRight.includes(column) ? cell.padStart(width) : cell.padEnd(width)
      })
      .join("  ")
      .trimEnd(),
  )
}
