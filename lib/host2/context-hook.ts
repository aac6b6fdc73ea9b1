import { policyFor } from "../config/policy.ts"
import type { Config } from "../config/types.ts"
import { isName } from "../dtc/plain.ts"
import { findInputBudget, isWritableList } from "../request.ts"
import type { ContextCatalog } from "./catalog.ts"
import { ownValue } from "./lowered.ts"
import { projectLowered, type LoweredProjection } from "./project.ts"
import type { ContextEvent } from "./types.ts"

/** Why a request went out as it was. A closed list. */
export type ContextSkip =
  | "disabled"
  | "empty-history"
  | "failed"
  | "malformed-message"
  | "model-changed"
  | "not-plain-data"
  | "other-request"
  | "request-changed"
  | "unavailable-budget"
  | "unidentified-session"
  | "unknown-model"

export interface ContextRooms {
  catalog: ContextCatalog
  loadConfig: () => Promise<Config>
  outputTokenMax: number
}

/** Requests of the host that are no part of the agent loop; each has a hook of its own. */
const OTHER_KINDS: ReadonlySet<unknown> = new Set(["compaction", "generate", "title"])

/**
 * The context hook. Contract: the answer never rejects, since the host fails the user's request on it, and the event's
 * messages are either projected completely, in one segment without an await, or left as they were.
 */
export function createContextHook(
  rooms: ContextRooms,
): (event: ContextEvent) => Promise<LoweredProjection | ContextSkip> {
  let settled: Config | undefined
  return async (event) => {
    try {
      const request = identifyEvent(event)
      if (typeof request === "string") return request
      settled ??= await rooms.loadConfig()
      if (!settled.enabled || !settled.dtc.enabled) return "disabled"
      if (!rooms.catalog.known) await rooms.catalog.ask()
      return findChange(event, request) ?? projectAndCommit(rooms, settled, request)
    } catch {
      return "failed"
    }
  }
}

interface EventIdentity {
  sessionID: string
  providerID: string
  modelID: string
  messages: unknown[]
}

/** Whose request the event is, which model it goes to, and its messages, whose every slot can be written. */
function identifyEvent(event: unknown): EventIdentity | ContextSkip {
  const messages = ownValue(event, "messages")
  const sessionID = ownValue(event, "sessionID")
  const model = ownValue(event, "model")
  const [providerID, modelID] = [ownValue(model, "providerID"), ownValue(model, "id")]
  if (OTHER_KINDS.has(ownValue(event, "kind"))) return "other-request"
  if (!isWritableList(messages)) return "not-plain-data"
  if (messages.length === 0) return "empty-history"
  if (!isName(sessionID)) return "unidentified-session"
  return isName(providerID) && isName(modelID) ? { sessionID, providerID, modelID, messages } : "unknown-model"
}

/** Other hooks may run while the catalog is asked. */
function findChange(event: unknown, before: EventIdentity): ContextSkip | undefined {
  const after = identifyEvent(event)
  if (typeof after === "string") return after
  if (after.messages !== before.messages || after.sessionID !== before.sessionID) return "request-changed"
  return after.providerID === before.providerID && after.modelID === before.modelID ? undefined : "model-changed"
}

function projectAndCommit(
  { catalog, outputTokenMax }: ContextRooms,
  config: Config,
  { providerID, modelID, messages }: EventIdentity,
): LoweredProjection | ContextSkip {
  const { policy, limit } = policyFor(config, { providerID, modelID })
  const known = catalog.recall(providerID, modelID)
  const inputBudget = known ?? (limit && findInputBudget(limit, outputTokenMax))
  if (inputBudget === undefined) return "unavailable-budget"
  const projection = projectLowered(messages, { inputBudget, policy })
  if (!projection) return "malformed-message"
  for (const [index, message] of projection.replacements) messages[index] = message
  return projection
}
