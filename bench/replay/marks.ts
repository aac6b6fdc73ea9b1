import { isRecord } from "../../lib/dtc/plain.ts"
import type { Message, Part } from "../../lib/dtc/types.ts"
import type { WindowRequest } from "./requests.ts"
import type { ReplayWindow, WindowOutput } from "./window.ts"

/** The messages as the hook received them at that request: the host's marks of later times are not there yet. */
export function findSentMessages(window: ReplayWindow, { messageEnd, partEnd, hostCleared }: WindowRequest): Message[] {
  const sent = window.messages.slice(0, messageEnd)
  const cut = window.messages[messageEnd]
  if (cut && partEnd > 0) {
    const { error: _later, ...info } = cut.info
    sent.push({ info, parts: cut.parts.slice(0, partEnd) })
  }
  for (const index of hostCleared) markPart(sent, window.outputs[index])
  return sent
}

function markPart(messages: Message[], marked: WindowOutput | undefined): void {
  const message = marked && messages[marked.output.messageIndex]
  if (!message) return
  const parts = message.parts.with(marked.output.partIndex, markedCopy(message, marked))
  messages[marked.output.messageIndex] = { info: message.info, parts }
}

function markedCopy({ parts }: Message, { output, markedAtMs }: WindowOutput): Part {
  const part = parts[output.partIndex] as Part
  const state = part["state"] as { time?: object }
  return { ...part, state: { ...state, time: { ...state.time, compacted: markedAtMs } } }
}

/** The message as it was before the host cleared any of its outputs. */
export function withoutMarks(message: Message): Message {
  if (message.parts.every((part) => findMarkMs(part) === Infinity)) return message
  return { info: message.info, parts: message.parts.map((part) => (findMarkMs(part) < Infinity ? unmark(part) : part)) }
}

function unmark(part: Part): Part {
  const state = part["state"] as { time: Record<string, unknown> }
  const { compacted: _mark, ...time } = state.time
  return { ...part, state: { ...state, time } }
}

/** When the host cleared the part's output; `Infinity`: never. */
export function findMarkMs({ type, state }: Part): number {
  if (type !== "tool" || !isRecord(state) || !isRecord(state["time"])) return Infinity
  const mark = state["time"]["compacted"]
  return typeof mark === "number" && mark > 0 ? mark : Infinity
}
