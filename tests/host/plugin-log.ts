import type { Source } from "../../lib/dtc/types.ts"
import { isRecord, listOf, parseJson, textOf } from "./json.ts"

export interface LoggedClear {
  callID: string
  tool: string
  reason: string
  witnessCallID: string | undefined
  savedTokens: number
}

/** What the plugin said about one request; it says so only with `debug: true`. */
export interface LoggedRequest {
  sessionID: string
  /** Absent when the request was projected. */
  skipped: string | undefined
  forced: boolean
  /** `estimatedBefore`, `targetTokens` and so on, as text. */
  stats: Record<string, string>
  cleared: LoggedClear[]
}

/** The plugin's entries in the host's log, oldest first. Title requests have none. */
export function readPluginLog(log: string): LoggedRequest[] {
  return log.split("\n").flatMap((line) => {
    const fields = readFields(line)
    const { message } = fields
    if (message !== "request projected" && message !== "request left as it was") return []
    return [
      {
        sessionID: fields["sessionID"] ?? "",
        skipped: message === "request projected" ? undefined : fields["reason"],
        forced: fields["forced"] === "true",
        stats: Object.fromEntries(
          Object.entries(fields).flatMap(([key, value]) => (key.startsWith("stats.") ? [[key.slice(6), value]] : [])),
        ),
        cleared: listOf(parseJson(fields["cleared"] ?? "[]"))
          .filter(isRecord)
          .map(readClear),
      },
    ]
  })
}

/** A source map as the plugin published it at the dispatch of one request. */
export interface LoggedDispatch {
  sessionID: string
  historyMessageCount: number
  sources: Source[]
}

/** One for each request of a conversation, oldest first; titles and summaries have none. */
export function readDispatches(log: string): LoggedDispatch[] {
  return log.split("\n").flatMap((line) => {
    const fields = readFields(line)
    if (fields["message"] !== "request dispatched") return []
    return [
      {
        sessionID: fields["sessionID"] ?? "",
        historyMessageCount: Number(fields["historyMessageCount"]),
        sources: listOf(parseJson(fields["sources"] ?? "[]")) as Source[],
      },
    ]
  })
}

const readClear = (entry: Record<string, unknown>): LoggedClear => ({
  callID: textOf(entry["callID"]),
  tool: textOf(entry["tool"]),
  reason: textOf(entry["reason"]),
  witnessCallID: entry["witnessCallID"] === undefined ? undefined : textOf(entry["witnessCallID"]),
  savedTokens: Number(entry["savedTokens"]),
})

/** The host writes `key=value`, with a value in JSON's quotes when it needs them. */
function readFields(line: string): Record<string, string> {
  const pairs = line.matchAll(/(?:^| )([\w.]+)=("(?:[^"\\]|\\.)*"|\S*)/g)
  return Object.fromEntries(
    [...pairs].map(([, key = "", value = ""]) => [key, value.startsWith('"') ? textOf(parseJson(value)) : value]),
  )
}
