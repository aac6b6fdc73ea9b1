/** Of the host's own tools: what is longer it would cut, and store the whole in a file of its own. */
const MAX_LINES = 2_000
const MAX_BYTES = 51_200

/** Left for the line that says where a page ends. */
const FOOTER_LINES = 2
const FOOTER_BYTES = 200

/** UTF-16 code units of a longer line count as a line of their own, so that every page can hold one: at most 30,000 bytes. */
const LONGEST_LINE = 10_000

/** 0 stands for "not given". */
export interface PageRequest {
  /** First line, counted from 1. */
  offset: number
  /** Most lines. */
  limit: number
}

/** The text itself where it fits whole; else as many lines as fit, with a last line that says how to go on. */
export function describePage(text: string, { offset, limit }: PageRequest): string {
  const lines = splitLines(text)
  const isWhole = offset <= 1 && (limit === 0 || limit >= lines.length)
  if (isWhole && text.split("\n").length <= MAX_LINES && Buffer.byteLength(text) <= MAX_BYTES) return text
  const first = Math.max(offset, 1)
  if (first > lines.length) return `(There is no line ${first}: the output has ${lines.length} lines.)`
  const page = takePage(lines, first - 1, Math.min(limit || MAX_LINES, MAX_LINES - FOOTER_LINES))
  const last = first - 1 + page.length
  const next = last < lines.length ? ` Call again with offset ${last + 1} for more.` : ""
  const body = page.join("")
  return `${body}${body.endsWith("\n") ? "\n" : "\n\n"}(Lines ${first}-${last} of ${lines.length}.${next})`
}

function takePage(lines: readonly string[], start: number, mostLines: number): string[] {
  const page: string[] = []
  let bytes = 0
  for (const line of lines.slice(start, start + mostLines)) {
    bytes += Buffer.byteLength(line)
    if (bytes > MAX_BYTES - FOOTER_BYTES) break
    page.push(line)
  }
  return page
}

/** Joined again they are the text, byte for byte: each keeps its end, and no character is cut in two. */
function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/).flatMap((line) => (line.length <= LONGEST_LINE ? [line] : cutLine(line)))
}

function cutLine(line: string): string[] {
  const pieces: string[] = []
  for (let start = 0; start < line.length;) {
    const end = start + LONGEST_LINE
    const cutsPair = /[\uD800-\uDBFF]/.test(line.charAt(end - 1))
    pieces.push(line.slice(start, cutsPair ? end - 1 : end))
    start = cutsPair ? end - 1 : end
  }
  return pieces
}
