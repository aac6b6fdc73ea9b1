import { isDeepStrictEqual } from "node:util"
import type { Source } from "../../lib/dtc/types.ts"
import { excerpt, listOf, recordOf, textOf, type JsonRecord } from "./json.ts"
import { PLACEHOLDER, type ModelRequest } from "./model-request.ts"
import type { StoredMessage } from "./stored.ts"
import { WireFault } from "./wire-assertions.ts"

/** A piece of content as both APIs carry it. Thinking is left out: who gets it depends on signatures. */
type Piece = `call ${string}` | `result ${string}` | `media` | `text ${string}`

interface WireMessage {
  role: string
  pieces: Piece[]
}

/**
 * The host's model messages are not the wire's. Beside the system prompt, both APIs keep their order; but in OpenAI's form each
 * tool result is a message of its own, and in Anthropic's form results are content of user messages, and neighbours of the
 * same role are one message. So the rows are laid onto the wire: each must find exactly what is stored for it, in the place
 * where its turn is, and at the end nothing of the wire is left.
 */
export function assertRowsOnWire(
  request: ModelRequest,
  sources: readonly Source[],
  stored: readonly StoredMessage[],
  model: string,
): void {
  const rows = sources.map((row) => ({ row, wanted: describeRow(row, findMessage(request, row, stored), model) }))
  const expected = request.api === "openai" ? rows.flatMap(asOpenAI) : mergeNeighbours(rows.map(asAnthropic))
  const wire = listOf(request.body["messages"])
    .map(recordOf)
    .filter(({ role }) => role !== "system")
    .map(readWireMessage)
  if (isDeepStrictEqual(wire, expected)) return
  const at = wire.findIndex((message, index) => !isDeepStrictEqual(message, expected[index]))
  const [sent, due] = [wire, expected].map((list) =>
    excerpt(JSON.stringify(list[at < 0 ? list.length - 1 : at]) ?? "nothing", 600),
  )
  throw new WireFault(
    request,
    `${sources.length} rows do not fit ${wire.length} messages on the wire\nsent: ${sent}\nmap:  ${due}`,
  )
}

/** Cleared and made-up results in the map are those on the wire. */
export function assertResultsAsListed(
  request: ModelRequest,
  sources: readonly Source[],
  results: ReadonlyMap<string, string>,
): void {
  const listed = {
    cleared: sources.flatMap(({ cleared = [] }) => cleared.map(({ callID }) => callID)),
    repaired: sources.flatMap(({ repairedCallIds = [] }) => repairedCallIds),
  }
  const withText = (text: string): string[] =>
    [...results].flatMap(([callID, result]) => (result === text ? [callID] : []))
  const sent = { cleared: withText(PLACEHOLDER), repaired: withText("[Tool execution was interrupted]") }
  if (!isDeepStrictEqual(sent, listed))
    throw new WireFault(request, `the wire has ${JSON.stringify(sent)}, the map lists ${JSON.stringify(listed)}`)
}

type Row = { row: Source; wanted: Piece[] }

function asOpenAI({ row, wanted }: Row): WireMessage[] {
  if (row.role === "tool") return wanted.map((piece) => ({ role: "tool", pieces: [piece] }))
  if (row.role === "user") return [{ role: "user", pieces: wanted }]
  const isText = (piece: Piece): boolean => piece.startsWith("text ")
  const text = wanted.filter(isText).map((piece) => piece.slice("text ".length))
  return [{ role: "assistant", pieces: [`text ${text.join("")}`, ...wanted.filter((piece) => !isText(piece))] }]
}

const asAnthropic = ({ row, wanted }: Row): WireMessage => ({
  role: row.role === "tool" ? "user" : row.role,
  pieces: wanted.filter((piece) => piece !== "text "),
})

function mergeNeighbours(messages: readonly WireMessage[]): WireMessage[] {
  const merged: WireMessage[] = []
  for (const { role, pieces } of messages) {
    const last = merged.at(-1)
    if (last?.role === role) last.pieces.push(...pieces)
    else merged.push({ role, pieces: [...pieces] })
  }
  return merged
}

function readWireMessage(message: JsonRecord): WireMessage {
  const role = textOf(message["role"])
  const { content } = message
  if (role === "tool") return { role, pieces: [`result ${textOf(message["tool_call_id"])}`] }
  const pieces =
    typeof content === "string" ? [`text ${content}` as const] : listOf(content).map(recordOf).flatMap(readBlock)
  const calls = listOf(message["tool_calls"]).map((one) => `call ${textOf(recordOf(one)["id"])}` as const)
  return { role, pieces: [...pieces, ...calls] }
}

function readBlock(block: JsonRecord): Piece[] {
  switch (block["type"]) {
    case "text":
      return [`text ${textOf(block["text"])}`]
    case "tool_use":
      return [`call ${textOf(block["id"])}`]
    case "tool_result":
      return [`result ${textOf(block["tool_use_id"])}`]
    case "thinking":
      return []
    default:
      return ["media"]
  }
}

function findMessage(request: ModelRequest, { messageID }: Source, stored: readonly StoredMessage[]): StoredMessage {
  const message = stored.find(({ info }) => info.id === messageID)
  if (message === undefined) throw new WireFault(request, `the map names ${messageID}, which is not stored`)
  return message
}

/** What the row's message must hold, from what is stored. */
function describeRow({ type, role, step = 0 }: Source, { info, parts }: StoredMessage, model: string): Piece[] {
  if (role === "user" && info.role === "assistant")
    return ["text Attached media from tool result:", ...findMedia(parts)]
  if (role === "user" && type === "compaction") return ["text What did we do so far?"]
  if (role === "user") return parts.flatMap(describeUserPart)
  const foreign = info.role === "assistant" && `${info.providerID}/${info.modelID}` !== model
  const own = splitSteps(parts)[step] ?? []
  return own.flatMap((part): Piece[] => {
    if (part.type === "tool") return [`${role === "tool" ? "result" : "call"} ${part.callID}`]
    if (role === "tool") return []
    const isText = part.type === "text" || (part.type === "reasoning" && foreign && part.text.trim() !== "")
    return isText ? [`text ${part.text}`] : []
  })
}

function describeUserPart(part: StoredMessage["parts"][number]): Piece[] {
  if (part.type === "text") return part.ignored === true || part.text === "" ? [] : [`text ${part.text}`]
  if (part.type === "file")
    return part.mime === "text/plain" || part.mime === "application/x-directory" ? [] : ["media"]
  return []
}

const findMedia = (parts: StoredMessage["parts"]): Piece[] =>
  parts.flatMap((part) => {
    if (part.type !== "tool" || part.state.status !== "completed") return []
    return (part.state.attachments ?? []).map(() => "media" as const)
  })

function splitSteps(parts: StoredMessage["parts"]): StoredMessage["parts"][] {
  const steps: StoredMessage["parts"][] = [[]]
  for (const part of parts) {
    if (part.type === "step-start" && steps.at(-1)?.length) steps.push([])
    steps.at(-1)?.push(part)
  }
  return steps
}
