import type { Payload } from "./media-data.ts"

/** Writers put the page tree near the start or near the end. */
const WINDOW_BYTES = 262_144
/** Where a linearised file says so. */
const LINEARISED_BYTES = 1_024
/** By so much may a payload be shorter than it can be at most. */
const PADDING_BYTES = 2
/** No provider takes more. */
const MAX_PAGES = 1_000

/**
 * Pages of a PDF, where they can be had without a PDF reader: from the head of a linearised file, else from the root of an
 * uncompressed page tree in the first or last part. `undefined`: not found, or not a count that a provider would take.
 */
export function countPages(payload: Payload): number | undefined {
  const head = readText(payload, 0, LINEARISED_BYTES)
  if (!head.startsWith("%PDF-")) return undefined
  const pages = findLinearisedCount(head, payload.maxBytes) ?? findTreeCount(payload)
  return pages >= 1 && pages <= MAX_PAGES ? pages : undefined
}

/** What is stated of the whole file holds as long as its length is the stated one: later revisions stand behind it. */
function findLinearisedCount(head: string, maxBytes: number): number | undefined {
  const [, length, count] = /\/Linearized\s[^>]*\/L\s+(\d+)[^>]*\/N\s+(\d+)/.exec(head) ?? []
  const isWhole = Math.abs(Number(length) - maxBytes) <= PADDING_BYTES
  return isWhole ? Number(count) : undefined
}

/** The largest of them, where later revisions of the file have brought their own; 0 when there is none. */
function findTreeCount(payload: Payload): number {
  return readWindows(payload)
    .flatMap(splitObjects)
    .map(readRootCount)
    .reduce((most, count) => Math.max(most, count), 0)
}

function readWindows(payload: Payload): string[] {
  const { maxBytes } = payload
  if (maxBytes <= 2 * WINDOW_BYTES) return [readText(payload, 0, maxBytes)]
  return [readText(payload, 0, WINDOW_BYTES), readText(payload, maxBytes - WINDOW_BYTES, maxBytes)]
}

/** Whole objects only: of one that is cut, what is missing may say that it is no root. */
function splitObjects(text: string): string[] {
  return text
    .split("endobj")
    .slice(0, -1)
    .flatMap((object) => (object.includes("obj") ? [object.slice(object.indexOf("obj"))] : []))
}

/** A node of the page tree without a parent counts all pages; 0 for any other object. A reference is no count. */
function readRootCount(object: string): number {
  if (!/\/Type\s*\/Pages\b/.test(object) || /\/Parent\b/.test(object)) return 0
  return Number(/\/Count\s+(\d+)(?!\d|\s+\d+\s+R)/.exec(object)?.[1] ?? 0)
}

function readText(payload: Payload, fromByte: number, toByte: number): string {
  return Buffer.from(payload.read(fromByte, toByte - fromByte)).toString("latin1")
}
