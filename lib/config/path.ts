/** The way to a value: object keys, and array indexes written as text. */
export type Path = readonly string[]

const LONGEST_SEGMENT_CHARS = 80

/** A path as one string that no other path shares. */
export function pathKey(path: Path): string {
  return JSON.stringify(path)
}

/** A path as a user reads it: `dtc.targetRatio`, `models["acme/m-1.5"].limit`, `dtc.protectedTools[1]`. */
export function describePath(path: Path): string {
  return path.map(describeSegment).join("").replace(/^\./, "")
}

function describeSegment(segment: string): string {
  if (/^\d{1,9}$/.test(segment)) return `[${segment}]`
  const text = segment.length > LONGEST_SEGMENT_CHARS ? `${segment.slice(0, LONGEST_SEGMENT_CHARS)}…` : segment
  return /^[\w$-]+$/.test(segment) ? `.${text}` : `[${JSON.stringify(text)}]`
}
