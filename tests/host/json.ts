/** Reading JSON of unknown shape: every accessor answers something empty instead of throwing. */

export type JsonRecord = Record<string, unknown>

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const recordOf = (value: unknown): JsonRecord => (isRecord(value) ? value : {})

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

export const utf8Bytes = (text: string): number => Buffer.byteLength(text, "utf8")

/** The project's rough measure for a body on the wire: four UTF-8 bytes are a token. */
export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / 4)

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** One line, for messages. */
export const excerpt = (text: string, length: number): string => {
  const line = JSON.stringify(text).slice(1, -1)
  return line.length > length ? `${line.slice(0, length)}…` : line
}
