import { excerpt } from "./json.ts"
import { readMessages, type ModelRequest } from "./model-request.ts"
import { nameRequest } from "./model-server.ts"

/** One line per message: who, how much, which calls and results, and how the text begins. */
export function summarizeMessages(request: ModelRequest): string[] {
  return readMessages(request).map((message) => {
    const calls = message.calls.map((one) => `call ${one.callID} ${one.name} ${excerpt(toText(one.input), 70)}`)
    const results = message.results.map((result) => {
      const content = result.placeholder ? "CLEARED" : `${result.text.length} chars ${excerpt(result.text, 70)}`
      return `result ${result.callID} ${result.error ? "ERROR " : ""}${content}`
    })
    const text = message.text === "" ? [] : [`${message.text.length} chars ${excerpt(message.text, 70)}`]
    return `${message.role}: ${[...text, ...calls, ...results].join(" | ")}`
  })
}

/** The request, with `+` before what its session's previous request did not send, and what is no longer sent after it. */
export function describeRequest(request: ModelRequest, previous?: ModelRequest): string {
  const now = summarizeMessages(request)
  if (previous === undefined) return [nameRequest(request), ...now.map((line) => `  ${line}`)].join("\n")
  const before = new Set(summarizeMessages(previous))
  const sent = shortenEqualRuns(now.map((line) => `${before.has(line) ? " " : "+"} ${line}`))
  const dropped = [...before].filter((line) => !now.includes(line)).map((line) => `- ${line}`)
  return [`${nameRequest(request)}, against ${nameRequest(previous)}`, ...sent, ...dropped].join("\n")
}

/** Keeps two lines around each new one. */
function shortenEqualRuns(lines: readonly string[]): string[] {
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - 2), index + 3).some((line) => line.startsWith("+"))
  return lines.flatMap((line, index) => {
    if (isNear(index)) return [line]
    return index === 0 || isNear(index - 1) ? ["  …"] : []
  })
}

const toText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
