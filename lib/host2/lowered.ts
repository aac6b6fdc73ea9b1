import { types } from "node:util"
import { copyPlain, isRecord } from "../dtc/plain.ts"
import type { LoweredMessage, LoweredPart, LoweredRole } from "./types.ts"

const ROLES: ReadonlySet<unknown> = new Set<LoweredRole>(["assistant", "system", "tool", "user"])

/** Stands for a part that is no plain data: it reaches the model, and nothing can be said about it. */
const OPAQUE: LoweredPart = { type: "opaque" }

/**
 * Copies the messages of an event, whose own values are read without calling an accessor. `undefined`: one of them is no
 * message. The host's messages are class instances, their parts plain objects.
 */
export function copyMessages(messages: readonly unknown[]): LoweredMessage[] | undefined {
  const copies = messages.map(copyMessage)
  return copies.every((copy) => copy !== undefined) ? copies : undefined
}

/** The own value under a key, or `undefined`; no accessor is called. */
export function ownValue(holder: unknown, key: string): unknown {
  if (typeof holder !== "object" || holder === null || types.isProxy(holder)) return undefined
  const descriptor = Object.getOwnPropertyDescriptor(holder, key)
  return descriptor && "value" in descriptor ? descriptor.value : undefined
}

function copyMessage(message: unknown): LoweredMessage | undefined {
  const role = ownValue(message, "role")
  const id = ownValue(message, "id")
  const parts = copyContent(ownValue(message, "content"))
  return isRole(role) && parts ? { role, id: typeof id === "string" ? id : undefined, parts } : undefined
}

/** A text alone stands for one text part. */
function copyContent(content: unknown): LoweredPart[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (!Array.isArray(content) || types.isProxy(content)) return undefined
  return Array.from(content.keys(), (index) => copyPart(ownValue(content, String(index))))
}

function copyPart(part: unknown): LoweredPart {
  if (types.isProxy(part)) return OPAQUE
  const [copy] = copyPlain([part]) ?? []
  return isPart(copy) ? copy : OPAQUE
}

function isPart(part: unknown): part is LoweredPart {
  return isRecord(part) && typeof part["type"] === "string"
}

function isRole(role: unknown): role is LoweredRole {
  return ROLES.has(role)
}
