import type { ContentPart, HostMessage, MediaPart, ResultPart, ResultValue } from "../host2/lowering.ts"
import type { JsonRecord } from "./json.ts"

/**
 * How the host's newer core writes lowered messages for OpenAI's chat API: pictures of tool results follow the results as a
 * user message, and a system message is an update at the end of the user message before it.
 */
export function encodeForOpenAI(messages: readonly HostMessage[]): JsonRecord[] {
  const encoded: JsonRecord[] = []
  for (const [index, message] of messages.entries()) {
    const previous = encoded.at(-1)
    if (message.role === "system" && typeof previous?.["content"] === "string" && previous["role"] === "user")
      encoded[encoded.length - 1] = { ...previous, content: `${previous["content"]}\n${describeUpdate(message)}` }
    else encoded.push(...encodeMessage(message))
    if (message.role === "tool" && messages[index + 1]?.role !== "tool")
      encoded.push(...encodeResultMedia(messages.slice(0, index + 1)))
  }
  return encoded
}

const describeUpdate = ({ content }: HostMessage): string => `<system-update>\n${joinTexts(content)}\n</system-update>`

function encodeMessage(message: HostMessage): JsonRecord[] {
  const { role, content } = message
  if (role === "tool") return content.filter(isResult).map(encodeResult)
  if (role === "assistant") return [encodeAssistant(content)]
  if (role === "system") return [{ role: "user", content: describeUpdate(message) }]
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

/** Of the tool messages at the end. */
function encodeResultMedia(messages: readonly HostMessage[]): JsonRecord[] {
  const answers = messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1)
  const results = answers.flatMap(({ content }) => content.filter(isResult))
  const files = results.flatMap(({ result }) =>
    result.type === "content" ? result.value.flatMap((item) => (item.type === "file" ? [item] : [])) : [],
  )
  return files.length > 0 ? [{ role: "user", content: files.map(({ uri }) => encodeMedia({ data: uri })) }] : []
}

const isResult = (part: ContentPart): part is ResultPart => part.type === "tool-result"

const joinTexts = (content: readonly ContentPart[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
