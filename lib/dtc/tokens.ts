import { isRecord } from "./plain.ts"
import { judgeTokens } from "./text-rate.ts"

/** The least that a text is taken for is a token for four UTF-8 bytes; no tokenizer makes more tokens than bytes. */
const BYTES_PER_TOKEN = 4

/**
 * Tokens come in so many parts. A power of two, so that sums and differences of sizes are exact whatever their order: a
 * request just at its target must not be above it when it is added up another way.
 */
const GRAIN = 64

/** What framing costs beside the text, in tokens: roles and separators, part markers, a call's name and its two ids. */
export const FRAME_TOKENS = { message: 4, part: 1, toolCall: 10 } as const

/** Base estimate: four bytes per token for ordinary prose, up to three times as many tokens for digits, hashes and base64. */
export function textTokens(text: string): number {
  const bytes = utf8Bytes(text)
  return Math.min(bytes, Math.max(bytes / BYTES_PER_TOKEN, Math.round(judgeTokens(text) * GRAIN) / GRAIN))
}

/** Four bytes per token of plain data as JSON, escapes not counted: each string is read once and nothing is serialised. */
export function jsonTokens(value: unknown): number {
  return jsonBytes(value) / BYTES_PER_TOKEN
}

/** Lone surrogates count three bytes, as the replacement character that the host sends for them. */
function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, "utf8")
}

function jsonBytes(value: unknown): number {
  if (typeof value === "string") return utf8Bytes(value) + 2
  if (typeof value !== "object" || value === null) return String(value).length
  let bytes = 1
  if (Array.isArray(value)) for (const item of value) bytes += jsonBytes(item) + 1
  else if (isRecord(value)) for (const key of Object.keys(value)) bytes += utf8Bytes(key) + 4 + jsonBytes(value[key])
  return Math.max(bytes, "{}".length)
}
