import assert from "node:assert/strict"
import { describeProjection, estimateMessages } from "../../lib/dtc/engine.ts"
import type { Message, Model, Part, ProjectOptions, Projection, Source } from "../../lib/dtc/types.ts"
import { findRequestedModel, readHistory } from "../../lib/dtc/wire.ts"
import { toolParts } from "./history.ts"

type Fields = Record<string, unknown>

/** The map, `cleared` and the counts of one projection tell the same story as its messages. */
export function checkSources(projection: Projection, options: ProjectOptions): void {
  const { messages, sources, historyMessageCount, cleared, kept } = projection
  const reading = { model: options.model, estimateMedia: options.policy.estimateMedia }
  const described = describeProjection(messages, reading)
  assert.deepStrictEqual(described, sources && { sources, historyMessageCount }, "the projected messages say otherwise")
  if (!readHistory(messages, reading)) return assert.equal(sources, undefined)

  const keptCount = Object.values(kept).reduce((sum, count) => sum + count, 0)
  assert.equal(keptCount + cleared.length, toolParts(messages).length, "an output is neither kept nor cleared, or both")
  if (sources === undefined) return
  const model = options.model ?? findRequestedModel(messages)
  assert.deepEqual(
    sources.map(describeRow),
    messages.flatMap((message, index) => lowerPlainly(message, index, model)),
  )
  assertClearedListed(projection, sources)
  assertCounted(messages, sources, historyMessageCount)
  for (const [index, message] of messages.entries()) assertSized(message, index, sources, options)
}

const describeRow = ({ messageIndex, role, repairedCallIds = [] }: Source): string =>
  [messageIndex, role, ...repairedCallIds].join(" ")

/** The host's own way, step by step: UI messages, split into blocks, each an assistant message and its tool message. */
function lowerPlainly({ info, parts }: Message, index: number, model: Model | undefined): string[] {
  if (info.role === "user") return parts.some(isShownToModel) ? [`${index} user`] : []
  const error = info["error"] as { name?: string } | undefined
  const other = parts.some(({ type }) => type !== "step-start" && type !== "reasoning")
  if (error && !(error.name === "MessageAbortedError" && other)) return []
  const blocks: Part[][] = [[]]
  for (const part of parts) {
    if (part.type === "step-start") blocks.push([])
    blocks.at(-1)?.push(part)
  }
  const foreign = model && (info["providerID"] !== model.providerID || info["modelID"] !== model.modelID)
  const rows = blocks.flatMap((block) => {
    const shown = block.filter(({ type, text }) =>
      type === "reasoning" ? !foreign || !isBlank(text) : type === "text" || type === "tool",
    )
    const filled = shown.filter((part) => part.type === "tool" || !isDropped(part, parts, model))
    if (filled.length === 0) return []
    const answered = filled.filter(
      (part) => part.type === "tool" && !(part["metadata"] as Fields | undefined)?.["providerExecuted"],
    )
    const unanswered = (part: Part): boolean =>
      ["pending", "running"].includes((part["state"] as { status: string }).status)
    const idsOf = (tools: Part[]): string =>
      tools
        .filter(unanswered)
        .map((part) => ` ${textOf(part["callID"])}`)
        .join("")
    const inside = filled.filter((part) => part.type === "tool" && !answered.includes(part))
    return [`${index} assistant${idsOf(inside)}`, ...(answered.length > 0 ? [`${index} tool${idsOf(answered)}`] : [])]
  })
  const media = parts.some((part) => {
    const state = part["state"] as
      { time?: { compacted?: unknown }; attachments?: { mime: string }[]; status: string } | undefined
    if (state?.status !== "completed" || state.time?.compacted) return false
    return (state.attachments ?? []).some(
      ({ mime }) => /^image\/|^application\/pdf$/.test(mime) && model?.npm !== "@ai-sdk/anthropic",
    )
  })
  return media ? [...rows, `${index} user`] : rows
}

function isShownToModel({ type, text, ignored, mime }: Part): boolean {
  if (type === "text") return !ignored && text !== ""
  if (type === "file") return mime !== "text/plain" && mime !== "application/x-directory"
  return type === "compaction" || type === "subtask"
}

function isDropped({ type, text, metadata }: Part, parts: Part[], model: Model | undefined): boolean {
  if (model?.npm !== "@ai-sdk/anthropic") return false
  const signed = (fields: unknown): boolean =>
    Boolean((fields as { anthropic?: { signature?: unknown } } | undefined)?.anthropic?.signature)
  if (type === "reasoning") return isBlank(text) && !signed(metadata)
  return text === "" && !parts.some((part) => part.type === "reasoning" && signed(part["metadata"]))
}

/** An id that is no text is listed as none. */
function nameOf({ id }: { id: unknown }): string {
  return textOf(id)
}

/** What goes out as the placeholder is listed once, in the row that sends it; `cleared` is that but for stored marks. */
function assertClearedListed({ messages, cleared }: Projection, sources: Source[]): void {
  const listed = sources.flatMap((row) => (row.cleared ?? []).map(({ partID }) => `${row.messageIndex} ${partID}`))
  const rowsWithMessage = new Set(sources.map(({ messageIndex }) => messageIndex))
  const marked = messages.flatMap(({ parts }, index) =>
    parts.flatMap((part) => (rowsWithMessage.has(index) && isHidden(part) ? [`${index} ${nameOf(part)}`] : [])),
  )
  assert.deepEqual(listed.toSorted(), marked.toSorted(), "the map's cleared outputs are not those with a mark")
  for (const { messageIndex, partID } of cleared) assert.ok(listed.includes(`${messageIndex} ${partID}`))
}

function isHidden({ type, state }: Part): boolean {
  const { status, time } = (state ?? {}) as { status?: string; time?: { compacted?: unknown } }
  return type === "tool" && status === "completed" && Boolean(time?.compacted)
}

function assertCounted(messages: Message[], sources: Source[], historyMessageCount: number | undefined): void {
  const drafts = messages.filter(({ info }, index) => {
    const time = info["time"] as { completed?: unknown } | null | undefined
    const open = info.role === "assistant" && !info["error"] && typeof time?.completed !== "number"
    return open && sources.every(({ messageIndex }) => messageIndex !== index)
  })
  assert.equal(historyMessageCount, messages.length - drafts.length)
}

/** What costs something has a row; what costs nothing has none, unless an empty message is sent. */
function assertSized(message: Message, index: number, sources: Source[], { model, policy }: ProjectOptions): void {
  const size = estimateMessages([message], { model, estimateMedia: policy.estimateMedia })
  const sent = sources.some(({ messageIndex }) => messageIndex === index)
  const empty =
    message.info.role === "assistant" &&
    message.parts.some(({ type, text }) => (type === "text" || type === "reasoning") && isBlank(text))
  if (!empty) assert.equal(sent, size !== 0, `message ${index} costs ${size} and is ${sent ? "sent" : "not sent"}`)
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}

function isBlank(text: unknown): boolean {
  return typeof text === "string" && text.trim() === ""
}
