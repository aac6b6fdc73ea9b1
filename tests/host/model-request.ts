import type { Lane, Step, Usage } from "./model-script.ts"
import { isRecord, listOf, recordOf, textOf, type JsonRecord } from "./json.ts"

/** What OpenCode sends instead of an output that carries `state.time.compacted`. */
export const PLACEHOLDER = "[Old tool result content cleared]"

export type Api = "openai" | "anthropic"

export interface ModelRequest {
  /** Counted from 1 over the whole server. */
  number: number
  /** Counted from 0 within the lane of its session. */
  index: number
  at: number
  api: Api
  lane: Lane
  sessionID: string
  parentSessionID: string | undefined
  /** Credentials are replaced. */
  headers: Record<string, string>
  body: JsonRecord
  bytes: number
  /** ceil(bytes / 4) of the whole body. */
  tokens: number
  reply: Reply | undefined
}

export interface Reply {
  step: Step
  status: number
  calls: readonly SentCall[]
  usage: Usage
  /** False when the host closed the connection before the end. */
  complete: boolean
}

export interface SentCall {
  id: string
  name: string
  args: unknown
}

export interface WireResult {
  callID: string
  text: string
  placeholder: boolean
  error: boolean
}

export interface WireCall {
  callID: string
  name: string
  input: unknown
}

export interface WireMessage {
  role: string
  text: string
  calls: WireCall[]
  results: WireResult[]
}

/** Both APIs in one form: OpenAI's tool messages become a message with results, as Anthropic has it. */
export function readMessages(request: ModelRequest): WireMessage[] {
  const messages = listOf(request.body["messages"]).map(recordOf)
  return messages.map(request.api === "openai" ? readOpenAIMessage : readAnthropicMessage)
}

export const findToolCalls = (request: ModelRequest): WireCall[] => readMessages(request).flatMap((one) => one.calls)

export const findToolResults = (request: ModelRequest): WireResult[] =>
  readMessages(request).flatMap((one) => one.results)

export const findToolResult = (request: ModelRequest, callID: string): WireResult | undefined =>
  findToolResults(request).find((result) => result.callID === callID)

export const findClearedCallIDs = (request: ModelRequest): string[] =>
  findToolResults(request)
    .filter((result) => result.placeholder)
    .map((result) => result.callID)

/** Everything that a model could read in the conversation; the system prompt and the tools are not in it. */
export const conversationText = (request: ModelRequest): string =>
  readMessages(request)
    .filter((message) => message.role !== "system")
    .flatMap((message) => [message.text, ...message.results.map((result) => result.text)])
    .join("\n")

/** Empty when each call is answered exactly once, by the messages that follow it directly. */
export function findPairingFaults(request: ModelRequest): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  let open: string[] = []
  for (const message of readMessages(request)) {
    for (const { callID } of message.results)
      if (open.includes(callID)) open = open.filter((id) => id !== callID)
      else faults.push(`result ${callID} has no open call before it`)
    if (message.results.length > 0 && message.calls.length === 0) continue
    faults.push(...open.map((id) => `call ${id} is not answered before the next ${message.role} message`))
    for (const { callID } of message.calls) {
      if (seen.has(callID)) faults.push(`call ${callID} appears twice`)
      seen.add(callID)
    }
    open = message.calls.map(({ callID }) => callID)
  }
  return [...faults, ...open.map((id) => `call ${id} has no result`)]
}

export function readSystemText(request: ModelRequest): string {
  if (request.body["system"] !== undefined) return flattenText(request.body["system"])
  return readMessages(request)
    .filter((message) => message.role === "system" || message.role === "developer")
    .map((message) => message.text)
    .join("\n")
}

function readOpenAIMessage(message: JsonRecord): WireMessage {
  const role = textOf(message["role"])
  const text = flattenText(message["content"])
  if (role === "tool")
    return { role, text: "", calls: [], results: [describeResult(textOf(message["tool_call_id"]), text, false)] }
  return { role, text, calls: listOf(message["tool_calls"]).map(recordOf).map(readOpenAICall), results: [] }
}

function readOpenAICall(toolCall: JsonRecord): WireCall {
  const described = recordOf(toolCall["function"])
  return { callID: textOf(toolCall["id"]), name: textOf(described["name"]), input: described["arguments"] }
}

function readAnthropicMessage(message: JsonRecord): WireMessage {
  const blocks = listOf(message["content"]).map(recordOf)
  const ofType = (type: string): JsonRecord[] => blocks.filter((block) => block["type"] === type)
  return {
    role: textOf(message["role"]),
    text: flattenText(message["content"]),
    calls: ofType("tool_use").map((block) => ({
      callID: textOf(block["id"]),
      name: textOf(block["name"]),
      input: block["input"],
    })),
    results: ofType("tool_result").map((block) =>
      describeResult(textOf(block["tool_use_id"]), flattenText(block["content"]), block["is_error"] === true),
    ),
  }
}

const describeResult = (callID: string, text: string, error: boolean): WireResult => ({
  callID,
  text,
  placeholder: text === PLACEHOLDER,
  error,
})

function flattenText(content: unknown): string {
  if (typeof content === "string") return content
  return listOf(content)
    .filter(isRecord)
    .map((block) => textOf(block["text"]))
    .join("\n")
}
