import { isDeepStrictEqual } from "node:util"
import type { Message, Part, Session, ToolPart } from "@opencode-ai/sdk"

import { excerpt, isRecord, recordOf } from "./json.ts"

export type { Session, ToolPart }

/** A message as the host's API and its export give it back. */
export interface StoredMessage {
  info: Message
  parts: Part[]
}

export interface ExportedSession {
  info: Session
  messages: StoredMessage[]
}

/** The frame is checked here; what stands inside is as the host's published types describe it. */
const isStoredMessage = (value: unknown): value is StoredMessage =>
  typeof recordOf(recordOf(value)["info"])["id"] === "string" && Array.isArray(recordOf(value)["parts"])

const isSession = (value: unknown): value is Session => isRecord(value) && typeof value["id"] === "string"

export function storedMessageOf(value: unknown): StoredMessage {
  if (!isStoredMessage(value)) throw new Error(`not a stored message: ${excerpt(JSON.stringify(value) ?? "", 200)}`)
  return value
}

export function sessionOf(value: unknown): Session {
  if (!isSession(value)) throw new Error(`not a session: ${excerpt(JSON.stringify(value) ?? "", 200)}`)
  return value
}

export const findToolParts = (messages: readonly StoredMessage[]): ToolPart[] =>
  messages.flatMap((message) => message.parts).filter((part): part is ToolPart => part.type === "tool")

export const findToolPart = (messages: readonly StoredMessage[], callID: string): ToolPart | undefined =>
  findToolParts(messages).find((part) => part.callID === callID)

/** The output of a completed call; anything else is a failure of the scenario. */
export function storedOutput(messages: readonly StoredMessage[], callID: string): string {
  const state = findToolPart(messages, callID)?.state
  if (state?.status !== "completed") throw new Error(`call ${callID} is ${state?.status ?? "not stored"}`)
  return state.output
}

/** Stored marks would mean that clearing reached the database. */
export const findStoredMarks = (messages: readonly StoredMessage[]): string[] =>
  findToolParts(messages)
    .filter((part) => part.state.status === "completed" && part.state.time.compacted !== undefined)
    .map((part) => part.callID)

/**
 * Differences between what was stored before and what the same messages are later. `info.summary` is left out: the
 * host writes a user message's diff summary there whenever it has computed it.
 */
export function findStoredChanges(before: readonly StoredMessage[], after: readonly StoredMessage[]): string[] {
  const later = new Map(after.map((message) => [message.info.id, message]))
  return before.flatMap((message) => {
    const { id } = message.info
    const present = later.get(id)
    if (present === undefined) return [`message ${id} is gone`]
    const changes = message.parts.flatMap((part, index) =>
      isDeepStrictEqual(part, present.parts[index]) ? [] : [`part ${part.id} (${part.type}) of message ${id} changed`],
    )
    if (present.parts.length !== message.parts.length)
      changes.push(`message ${id} had ${message.parts.length} parts and has ${present.parts.length}`)
    if (!isDeepStrictEqual(withoutSummary(message.info), withoutSummary(present.info)))
      changes.push(`info of message ${id} changed`)
    return changes
  })
}

function withoutSummary(info: Message): unknown {
  const { summary: _summary, ...rest } = info
  return rest
}
