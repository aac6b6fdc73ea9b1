import { isRecord } from "./plain.ts"
import type { MessageInfo, Part, UsageReport } from "./types.ts"

/** Some providers' logs keep the first, unfinished count of the output: less than this share of the estimate is none. */
const LEAST_WRITTEN_SHARE = 0.5

/** No model reads or writes so many; larger numbers are no counts, and sums of them are neither exact nor finite. */
const MOST_TOKENS = 1e9

/**
 * What the provider reported for the call behind one step: its `step-finish`, or the message's own `tokens`, which are those
 * of its last step. The host stores `input` without what the cache served or took, and `total` as the provider gives it.
 *
 * `saidTokens`: what the step's texts and calls cost by the estimate; `undefined` when the step is not sent again.
 */
export function readReport(
  parts: readonly Part[],
  info: MessageInfo | undefined,
  saidTokens: number | undefined,
): UsageReport | undefined {
  const finish = parts.findLast(({ type }) => type === "step-finish")
  const usage = readUsage(finish?.["tokens"]) ?? readUsage(info?.["tokens"])
  if (!usage) return undefined
  const report: UsageReport = { promptTokens: findPromptTokens(usage) }
  if (usage.cacheRead > 0 && usage.input >= usage.cacheRead) report.promptTokensCachedInside = usage.input
  const writtenTokens = findWrittenTokens(usage, report.promptTokens)
  if (saidTokens !== undefined && writtenTokens > 0 && writtenTokens >= saidTokens * LEAST_WRITTEN_SHARE)
    report.writtenTokens = writtenTokens
  return report
}

interface Usage {
  input: number
  output: number
  reasoning: number
  cacheRead: number
  cacheWrite: number
  total: number
}

/** `undefined` unless the counts can be read and say that something was sent. */
function readUsage(tokens: unknown): Usage | undefined {
  if (!isRecord(tokens)) return undefined
  const cache = isRecord(tokens["cache"]) ? tokens["cache"] : {}
  const { input = 0, output = 0, reasoning = 0, total = 0 } = tokens
  const { read: cacheRead = 0, write: cacheWrite = 0 } = cache
  const usage = { input, output, reasoning, cacheRead, cacheWrite, total }
  return isUsage(usage) && findPromptTokens(usage) > 0 ? usage : undefined
}

function isUsage(usage: Record<keyof Usage, unknown>): usage is Usage {
  return Object.values(usage).every(isCount)
}

function isCount(count: unknown): boolean {
  return typeof count === "number" && count >= 0 && count <= MOST_TOKENS
}

function findPromptTokens({ input, output, reasoning, cacheRead, cacheWrite, total }: Usage): number {
  return input + cacheRead + cacheWrite || total - output - reasoning
}

/** Hosts before 1.3 count reasoning inside `output`, later ones beside it; the total tells which. */
function findWrittenTokens({ output, reasoning, total }: Usage, promptTokens: number): number {
  const rest = total - promptTokens
  return rest >= output && rest <= output + reasoning ? rest : output + reasoning
}
