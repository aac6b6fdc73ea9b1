import type { ContentPart, HostMessage, MediaPart, ResultPart, ResultValue } from "../host2/lowering.ts"
import type { JsonRecord } from "./json.ts"

/** How the host's newer core writes lowered messages for OpenAI's chat API. */
export function encodeForOpenAI(messages: readonly HostMessage[]): JsonRecord[] {
  const encoded: JsonRecord[] = []
  let media: JsonRecord[] = []
  for (const message of messages) {
    if (message.role !== "tool" && media.length > 0) {
      encoded.push({ role: "user", content: media })
      media = []
    }
    encoded.push(...encodeMessage(message))
    if (message.role === "tool") media.push(...message.content.flatMap(encodeResultMedia))
  }
  return media.length > 0 ? [...encoded, { role: "user", content: media }] : encoded
}

function encodeMessage(message: HostMessage): JsonRecord[] {
  const { role, content } = message
  if (role === "tool") return content.filter(isResult).map(encodeResult)
  if (role === "assistant") return [encodeAssistant(content)]
  if (content.every(({ type }) => type === "text")) return [{ role, content: joinTexts(content) }]
  return [{ role, content: content.map(encodeUserPart) }]
}

function encodeAssistant(content: readonly ContentPart[]): JsonRecord {
  const calls = content.flatMap((part) =>
    part.type === "tool-call" && part.providerExecuted !== true
      ? [{ id: part.id, type: "function", function: { name: part.name, arguments: JSON.stringify(part.input) } }]
      : [],
  )
  const reasoning = content.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("")
  const text = joinTexts(content)
  return {
    role: "assistant",
    content: text === "" ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(reasoning !== "" && { reasoning_content: reasoning }),
  }
}

const encodeUserPart = (part: ContentPart): unknown =>
  part.type === "media" ? encodeMedia(part) : { type: "text", text: part.type === "text" ? part.text : "" }

const encodeMedia = ({ data }: Pick<MediaPart, "data">): JsonRecord => ({ type: "image_url", image_url: { url: data } })

const encodeResult = ({ id, result }: ResultPart): JsonRecord => ({
  role: "tool",
  tool_call_id: id,
  content: describeValue(result),
})

function describeValue({ type, value }: ResultValue): string {
  if (type === "content") return value.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n")
  return typeof value === "string" ? value : JSON.stringify(value)
}

const encodeResultMedia = (part: ContentPart): JsonRecord[] =>
  isResult(part) && part.result.type === "content"
    ? part.result.value.flatMap((item) => (item.type === "file" ? [encodeMedia({ data: item.uri })] : []))
    : []

const isResult = (part: ContentPart): part is ResultPart => part.type === "tool-result"

const joinTexts = (content: readonly ContentPart[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
