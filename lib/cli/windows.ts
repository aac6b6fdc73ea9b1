import { isRecord } from "../dtc/plain.ts"
import type { Message, MessageInfo, Part } from "../dtc/types.ts"

/**
 * Cuts a session into its active windows, each as the host would have sent it just before the next compaction: what
 * stands before the first completed compaction, then, for each completed compaction, its pair, the retained tail and
 * everything newer. Unfinished and failed compactions end no window.
 */
export function splitWindows(messages: readonly Message[]): Message[][] {
  const completed = findCompletedCompactions(messages)
  const ends = messages.flatMap((message, index) => (isCompletedCompaction(message, completed) ? [index] : []))
  return [...ends, messages.length].map((end) => filterCompacted(messages.slice(0, end))).filter((w) => w.length > 0)
}

/**
 * The host's compaction filter (OpenCode 1.18.33): from the newest completed compaction on; with a retained tail the pair
 * moves in front of the tail.
 */
export function filterCompacted(messages: readonly Message[]): Message[] {
  const completed = findCompletedCompactions(messages)
  const pairStart = messages.findLastIndex((message) => isCompletedCompaction(message, completed))
  const pair = messages[pairStart]
  if (!pair) return [...messages]
  const tailID = findCompactionPart(pair)?.["tail_start_id"]
  const tailStart = messages.findIndex(({ info }) => info.id === tailID)
  const summary = messages.findIndex(({ info }, index) => index > pairStart && isCompletedSummary(info, pair.info.id))
  if (tailStart < 0 || tailStart >= pairStart) return messages.slice(pairStart)
  return [
    ...messages.slice(pairStart, summary + 1),
    ...messages.slice(tailStart, pairStart),
    ...messages.slice(summary + 1),
  ]
}

/** When the newest completed summary of a window was written: older messages start no request of it. */
export function findWindowStartMs(messages: readonly Message[]): number {
  const times = messages.filter(({ info }) => isCompletedSummary(info)).map(({ info }) => createdAtMs(info))
  return Math.max(0, ...times)
}

/** 0 when the message has no usable time. */
export function createdAtMs({ time }: MessageInfo): number {
  return isRecord(time) && typeof time["created"] === "number" ? time["created"] : 0
}

function findCompletedCompactions(messages: readonly Message[]): ReadonlySet<unknown> {
  return new Set(messages.filter(({ info }) => isCompletedSummary(info)).map(({ info }) => info["parentID"]))
}

function isCompletedCompaction(message: Message, completed: ReadonlySet<unknown>): boolean {
  return message.info.role === "user" && completed.has(message.info.id) && findCompactionPart(message) !== undefined
}

function isCompletedSummary(info: MessageInfo, parentID: unknown = info["parentID"]): boolean {
  return info["summary"] === true && Boolean(info["finish"]) && !info["error"] && info["parentID"] === parentID
}

function findCompactionPart({ parts }: Message): Part | undefined {
  return parts.find(({ type }) => type === "compaction")
}
