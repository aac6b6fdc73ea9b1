import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { listOf, recordOf } from "./json.ts"
import type { UsageReport } from "./model-script.ts"

/** What OpenAI's tokenizer makes of the messages and tools of a request: as honest as a provider. Each piece is counted once. */
export function tokenizerUsage(): UsageReport {
  const known = new Map<string, number>()
  const count = (piece: unknown): number => {
    const text = typeof piece === "string" ? piece : JSON.stringify(piece)
    const tokens = known.get(text) ?? countTokens(text)
    known.set(text, tokens)
    return tokens
  }
  return ({ body }, replyBytes) => {
    const messages = listOf(body["messages"]).map(recordOf)
    const contents = messages.flatMap(({ content, tool_calls: calls }) => [content ?? "", calls ?? ""])
    const input = [...contents, body["tools"] ?? ""].reduce((sum: number, piece) => sum + count(piece), 0)
    return { input: input + 4 * messages.length, output: Math.ceil(replyBytes / 4) }
  }
}
