import { textTokens } from "../../lib/dtc/tokens.ts"
import { makeTextKinds, type TextKind, type TextSet } from "./kinds.ts"
import { loadTokenizers, type Tokenizer } from "./tokenizers.ts"

/** One kind of text by one method. Errors are signed and relative: -0.5 is half of what the tokenizer makes of the text. */
export interface TextKindResult {
  set: TextSet
  kind: string
  method: string
  bytes: number
  /** Bytes per token by the method and, in `tokenizers`, by each reference. */
  bytesPerToken: number
  tokenizers: { name: string; bytesPerToken: number; error: number }[]
  /** Against the mean count of the tokenizers: what the limit of 35 % is judged on. */
  errorOfMean: number
  /** The largest error against a single tokenizer. */
  worstError: number
}

type Method = (text: string) => number

/** The name of the engine's base estimate among the methods. */
export const BASE_METHOD = "base estimate"

/** What the base estimate was, and what it is. */
const METHODS: Record<string, Method> = {
  "bytes / 4": (text) => Buffer.byteLength(text) / 4,
  [BASE_METHOD]: textTokens,
}

/** Every kind of the judging set, or of another, by every method. */
export async function measureTexts(set: TextSet = "judging"): Promise<TextKindResult[]> {
  return compareTexts(set, makeTextKinds(set), await loadTokenizers())
}

export function compareTexts(
  set: TextSet,
  kinds: readonly TextKind[],
  tokenizers: readonly Tokenizer[],
  methods: Record<string, Method> = METHODS,
): TextKindResult[] {
  return kinds.flatMap(({ kind, text }) => {
    const bytes = Buffer.byteLength(text)
    const counts = tokenizers.map(({ name, countTokens }) => ({ name, tokens: countTokens(text) }))
    return Object.entries(methods).map(([method, estimate]) => ({
      set,
      kind,
      method,
      bytes,
      ...compareEstimate(estimate(text), bytes, counts),
    }))
  })
}

function compareEstimate(
  estimate: number,
  bytes: number,
  counts: readonly { name: string; tokens: number }[],
): Pick<TextKindResult, "bytesPerToken" | "tokenizers" | "errorOfMean" | "worstError"> {
  const mean = counts.reduce((sum, { tokens }) => sum + tokens, 0) / counts.length
  const tokenizers = counts.map(({ name, tokens }) => ({
    name,
    bytesPerToken: round(bytes / tokens),
    error: round(estimate / tokens - 1),
  }))
  const worst = tokenizers.toSorted((a, b) => Math.abs(b.error) - Math.abs(a.error))[0]
  return {
    bytesPerToken: round(bytes / estimate),
    tokenizers,
    errorOfMean: round(estimate / mean - 1),
    worstError: worst?.error ?? 0,
  }
}

function round(value: number): number {
  return Number(value.toFixed(3))
}
