import { types } from "node:util"
import type { Limit } from "./config/types.ts"
import { isRecord } from "./dtc/plain.ts"
import type { Message, Model } from "./dtc/types.ts"
import { findRequestedModel, isMessage } from "./dtc/wire.ts"

/** Whose request this is and which model it goes to. */
export interface RequestIdentity {
  sessionID: string
  /** Absent: no ordinary user message names one. */
  model: Model | undefined
}

/** Why a request's messages cannot be worked with. */
export type IdentityFault = "empty-history" | "malformed-message" | "not-plain-data" | "unidentified-session"

/** Why a request went out as it was. A closed list. */
export type SkipReason =
  | IdentityFault
  | "failed"
  | "guard-capacity"
  | "model-changed"
  | "native-compaction"
  | "request-changed"
  | "unavailable-budget"
  | "unknown-content"
  | "unknown-model"

/** Tokens that the host reserves for the answer at most, whatever the model could write. */
const OUTPUT_TOKEN_MAX = 32_000

/**
 * Reads whose request the messages are. They must form a plain dense array whose every slot can be written, since the
 * host keeps the array and only changes in place reach the wire; and every message must name the same session.
 */
export function identifyRequest(messages: unknown): RequestIdentity | IdentityFault {
  try {
    if (!isWritableList(messages)) return "not-plain-data"
    if (messages.length === 0) return "empty-history"
    if (messages.some(holdsProxy)) return "not-plain-data"
    if (!messages.every(isMessage)) return "malformed-message"
    const sessionID = findSessionID(messages)
    return sessionID === undefined ? "unidentified-session" : { sessionID, model: findRequestedModel(messages) }
  } catch {
    // An accessor or a proxy's trap threw.
    return "not-plain-data"
  }
}

/**
 * Tokens that the model accepts as input: its input limit, and no more than its context leaves beside the answer.
 * `undefined` when a limit is missing, not finite or not positive.
 */
export function findInputBudget({ context, input, output }: Limit, outputTokenMax: number): number | undefined {
  if (![context, input ?? context, output].every(isPositive)) return undefined
  const budget = Math.floor(Math.min(input ?? context, context - Math.min(output, outputTokenMax)))
  return budget > 0 ? budget : undefined
}

/** The host's ceiling for output tokens: its environment's override when that is a positive integer. */
export function findOutputTokenMax(env: Readonly<Record<string, string | undefined>>): number {
  const override = Number(env["OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"])
  return Number.isSafeInteger(override) && override > 0 ? override : OUTPUT_TOKEN_MAX
}

function isWritableList(value: unknown): value is unknown[] {
  if (!Array.isArray(value) || types.isProxy(value) || Object.getPrototypeOf(value) !== Array.prototype) return false
  for (let index = 0; index < value.length; index++)
    if (Object.getOwnPropertyDescriptor(value, index)?.writable !== true) return false
  return true
}

function holdsProxy(message: unknown): boolean {
  if (types.isProxy(message) || !isRecord(message)) return types.isProxy(message)
  const { info, parts } = message
  return types.isProxy(info) || types.isProxy(parts) || (Array.isArray(parts) && parts.some(types.isProxy))
}

function findSessionID(messages: readonly Message[]): string | undefined {
  const sessionID: unknown = messages[0]?.info.sessionID
  if (typeof sessionID !== "string" || sessionID === "") return undefined
  return messages.every(({ info }) => info.sessionID === sessionID) ? sessionID : undefined
}

function isPositive(limit: number): boolean {
  return Number.isFinite(limit) && limit > 0
}
