import type { ClearedOutput, ClearReason, KeptCounts, SourceMap, Stats } from "./dtc/types.ts"
import type { SkipReason } from "./request.ts"

/** Sessions whose last request is remembered. */
const CAPACITY = 64

/** By what `chat.params` shows that it belongs to a request. Absent where the history does not say. */
export interface RequestKey {
  sessionID: string
  /** Id of the latest user message. */
  promptID?: string | undefined
  agent?: string | undefined
  providerID?: string | undefined
  modelID?: string | undefined
}

/** An output that the request carries as the host's placeholder. */
export interface Placeholder {
  callID: string
  partID: string
  messageID: string
  tool: string
  /** `host`: the mark was stored before this plugin saw the request. */
  reason: ClearReason | "host"
  witnessCallID?: string
  savedTokens?: number
}

/** What one request was sent with. Metadata only: names, ids, counts and sizes. */
export interface RequestRecord {
  key: RequestKey
  /** Why it went out as it was; absent when it was projected. */
  skipped?: SkipReason
  forced?: boolean
  budgetFrom?: BudgetSource
  stats?: Stats
  kept?: KeptCounts
  cleared: readonly ClearedOutput[]
  /** Oldest first. */
  placeholders: readonly Placeholder[]
  map?: SourceMap
}

export type BudgetSource = "catalog" | "configuration"

/**
 * The last request of each session, in memory and bounded. It is prepared by the transform and counts once the host
 * dispatches it, which `chat.params` of the same request shows; after that neither the answer nor a failure changes it.
 *
 * The source map is dropped by a new prompt and by a change of the model, since it no longer says what the model will see.
 * What tools ask about, the request that the model has answered last, stays until the next one: a queued prompt blinds nobody.
 */
export class Dispatches {
  private readonly prepared = new Map<string, RequestRecord>()
  private readonly dispatched = new Map<string, RequestRecord>()
  /** Why the latest request without a known session was left alone. */
  private unattributed: SkipReason | undefined

  prepare(record: RequestRecord): void {
    const { key } = record
    const last = this.dispatched.get(key.sessionID)
    if (last && !isSameModel(last.key, key)) this.dropMap(key.sessionID)
    keepNewest(this.prepared, key.sessionID, record)
  }

  /** A request whose messages do not tell whose it is. */
  prepareUnattributed(reason: SkipReason): void {
    this.unattributed = reason
  }

  /** Answers the record that this dispatch published; nothing when the host only sends a request again. */
  dispatch(key: RequestKey): RequestRecord | undefined {
    const { sessionID } = key
    const prepared = this.prepared.get(sessionID)
    this.prepared.delete(sessionID)
    if (prepared && isSameRequest(prepared.key, key)) return this.publish(prepared)
    if (this.unattributed !== undefined) {
      const skipped = this.unattributed
      this.unattributed = undefined
      return this.publish({ key, skipped, cleared: [], placeholders: [] })
    }
    const last = this.dispatched.get(sessionID)
    if (last && !isSameRequest(last.key, key)) this.dispatched.delete(sessionID)
    return undefined
  }

  acceptPrompt(sessionID: string): void {
    this.dropMap(sessionID)
  }

  /** A copy of what the session's last request was sent with, for tools. */
  findRecord(sessionID: string): RequestRecord | undefined {
    return structuredClone(this.dispatched.get(sessionID))
  }

  /** A copy of its source map, while that holds. */
  findSourceMap(sessionID: string): SourceMap | undefined {
    return structuredClone(this.dispatched.get(sessionID)?.map)
  }

  forget(sessionID: string): void {
    this.prepared.delete(sessionID)
    this.dispatched.delete(sessionID)
  }

  forgetAll(): void {
    this.prepared.clear()
    this.dispatched.clear()
    this.unattributed = undefined
  }

  private publish(record: RequestRecord): RequestRecord {
    keepNewest(this.dispatched, record.key.sessionID, record)
    return record
  }

  private dropMap(sessionID: string): void {
    const last = this.dispatched.get(sessionID)
    if (!last?.map) return
    const { map: _map, ...record } = last
    this.dispatched.set(sessionID, record)
  }
}

/** The oldest one goes when there is no room. */
function keepNewest(records: Map<string, RequestRecord>, sessionID: string, record: RequestRecord): void {
  records.delete(sessionID)
  const [oldest] = records.keys()
  if (oldest !== undefined && records.size >= CAPACITY) records.delete(oldest)
  records.set(sessionID, record)
}

function isSameRequest(left: RequestKey, right: RequestKey): boolean {
  return isSameModel(left, right) && agree(left.promptID, right.promptID) && agree(left.agent, right.agent)
}

function isSameModel(left: RequestKey, right: RequestKey): boolean {
  return agree(left.providerID, right.providerID) && agree(left.modelID, right.modelID)
}

/** What one side does not say contradicts nothing. */
function agree(left: string | undefined, right: string | undefined): boolean {
  return left === undefined || right === undefined || left === right
}
