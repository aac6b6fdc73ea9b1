import type { Message } from "../../lib/dtc/types.ts"

/** The history as each of its requests saw it, oldest first: cut before every step, and whole for the one about to be made. */
export function cutAtRequests(messages: readonly Message[]): Message[][] {
  const cuts = messages.flatMap((message, index) => {
    if (message.info.role !== "assistant" || message.info["summary"] === true) return []
    if (createdAt(message) < windowStart(messages.slice(0, index))) return []
    const starts = message.parts.flatMap(({ type }, position) =>
      type === "step-start" && position > 0 ? [position] : [],
    )
    return [0, ...starts].map((position) => {
      const before = messages.slice(0, index)
      return position === 0 ? before : [...before, { ...message, parts: message.parts.slice(0, position) }]
    })
  })
  return [...cuts, [...messages]]
}

/** Older responses behind a summary are its retained tail: their requests belong to the window before. */
function windowStart(messages: readonly Message[]): number {
  return Math.max(0, ...messages.filter(({ info }) => info["summary"] === true).map(createdAt))
}

function createdAt({ info }: Message): number {
  return (info["time"] as { created: number }).created
}

/** Which summaries a history holds: a new one opens a new window. */
export function windowOf(messages: readonly Message[]): string {
  return messages
    .filter(({ info }) => info["summary"] === true)
    .map(({ info }) => info.id)
    .join()
}
