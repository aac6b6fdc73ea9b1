import type { History, Segment, ToolOutput } from "../dtc/types.ts"

/** Prices of input tokens with a prompt cache, relative to uncached input: Anthropic's five-minute entries. */
export const CACHE_WRITE_PRICE = 1.25
export const CACHE_READ_PRICE = 0.1

/** One request on the wire: the segments that it sends, and the outputs that it sends a placeholder for. */
export interface SentRequest {
  segmentEnd: number
  cleared: ReadonlySet<ToolOutput>
}

export interface RequestCost {
  /** The longest unchanged prefix with the previous request: the provider's cache serves it. */
  cachedTokens: number
  /** The rest. */
  writtenTokens: number
  /** It changes something that the previous request had sent. */
  breaksPrefix: boolean
}

/**
 * What a window's requests cost, its first one written whole. System prompt and tool schemas, the same with and without
 * the plugin, are left out, and so is the expiry of caches. Tokens are the engine's base estimate.
 */
export function measureCosts({ segments, outputs }: History, requests: readonly SentRequest[]): RequestCost[] {
  const starts = sumBefore(segments, outputs)
  const places = placeOutputs(segments, outputs, starts)
  let previous: { segmentEnd: number; cleared: ReadonlySet<ToolOutput>; tokens: number } | undefined
  return requests.map(({ segmentEnd, cleared }) => {
    const tokens = (starts[segmentEnd] ?? 0) - sumSavings(cleared, ({ segment }) => segment < segmentEnd)
    const firstChange = previous && findFirstChange(previous, cleared)
    const cachedTokens = firstChange
      ? (places.get(firstChange) ?? 0) - sumSavings(cleared, (output) => isBefore(output, firstChange))
      : (previous?.tokens ?? 0)
    previous = { segmentEnd, cleared, tokens }
    return { cachedTokens, writtenTokens: tokens - cachedTokens, breaksPrefix: firstChange !== undefined }
  })
}

export function inputCost(costs: readonly RequestCost[]): number {
  return costs.reduce(
    (sum, { cachedTokens, writtenTokens }) => sum + cachedTokens * CACHE_READ_PRICE + writtenTokens * CACHE_WRITE_PRICE,
    0,
  )
}

/** The oldest output that the previous request sent in another form. */
function findFirstChange(previous: SentRequest, cleared: ReadonlySet<ToolOutput>): ToolOutput | undefined {
  if (previous.cleared === cleared) return undefined
  const touched = [...cleared, ...previous.cleared].filter(
    (output) => output.segment < previous.segmentEnd && cleared.has(output) !== previous.cleared.has(output),
  )
  return touched.reduce<ToolOutput | undefined>(
    (first, output) => (first === undefined || isBefore(output, first) ? output : first),
    undefined,
  )
}

function isBefore(left: ToolOutput, right: ToolOutput): boolean {
  if (left.segment !== right.segment) return left.segment < right.segment
  return left.partIndex < right.partIndex
}

function sumSavings(outputs: ReadonlySet<ToolOutput>, counts: (output: ToolOutput) => boolean): number {
  let tokens = 0
  for (const output of outputs) if (counts(output)) tokens += output.savingsTokens
  return tokens
}

/** Tokens before each segment and, last, of all of them, no output cleared: a marked one is sized as its placeholder. */
function sumBefore(segments: readonly Segment[], outputs: readonly ToolOutput[]): number[] {
  const hidden = segments.map(() => 0)
  for (const { segment, savingsTokens, markedAt } of outputs)
    if (markedAt !== undefined) hidden[segment] = (hidden[segment] ?? 0) + savingsTokens
  const sums = [0]
  for (const [index, { tokens }] of segments.entries()) sums.push((sums.at(-1) ?? 0) + tokens + (hidden[index] ?? 0))
  return sums
}

/** Tokens before each output: its step's calls stand before its step's results. */
function placeOutputs(
  segments: readonly Segment[],
  outputs: readonly ToolOutput[],
  starts: readonly number[],
): ReadonlyMap<ToolOutput, number> {
  const left = segments.map(() => 0)
  for (const { segment, textTokens } of outputs) left[segment] = (left[segment] ?? 0) + textTokens
  const places = new Map<ToolOutput, number>()
  for (const output of outputs) {
    const { segment, textTokens } = output
    places.set(output, (starts[segment + 1] ?? 0) - (left[segment] ?? 0))
    left[segment] = (left[segment] ?? 0) - textTokens
  }
  return places
}
