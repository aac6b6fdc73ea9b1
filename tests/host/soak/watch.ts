import { createHash } from "node:crypto"
import type { HostEvent } from "../host-events.ts"
import { excerpt, recordOf, textOf } from "../json.ts"
import { conversationText, findPairingFaults, PLACEHOLDER, readMessages, type ModelRequest } from "../model-request.ts"
import { FEW_STEPS } from "../small-window.ts"
import type { PluginSwitch } from "./planned-call.ts"
import type { Trace } from "./record-types.ts"

/** What was seen of a call, the first time: in a request in full, in the event of its end, or as a placeholder. */
export interface Sight {
  where: "wire" | "event" | "placeholder"
  /** The call; for events and placeholders with the session before it. */
  key: string
  hash: string
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32)

const sightKey = ({ where, key }: Pick<Sight, "where" | "key">): string => `${where} ${key}`

/** Looks at everything that the model's endpoint and the hosts' events show, and remembers what it saw first. */
export class Watch {
  readonly #plugin: PluginSwitch
  readonly #seen: Map<string, string>
  readonly #numbers = new Map<string, number>()
  readonly #apis = new Map<string, string>()
  #fresh: Sight[] = []
  #trace = emptyTrace()
  readonly #requestsOf = new Map<string, number>()

  constructor(plugin: PluginSwitch, sights: readonly Sight[]) {
    this.#plugin = plugin
    this.#seen = new Map(sights.map((sight) => [sightKey(sight), sight.hash]))
  }

  know(sessionID: string, session: number): void {
    this.#numbers.set(sessionID, session)
  }

  countRequests(sessionID: string): number {
    return this.#requestsOf.get(sessionID) ?? 0
  }

  seeRequest(request: ModelRequest): void {
    const { lane, sessionID, api } = request
    this.#trace.requests[lane] = (this.#trace.requests[lane] ?? 0) + 1
    if (lane === "compaction" && conversationText(request).includes(PLACEHOLDER))
      this.#complain(sessionID, "a summary was given a placeholder")
    if (lane !== "main") return
    this.#requestsOf.set(sessionID, this.countRequests(sessionID) + 1)
    if ((this.#apis.get(sessionID) ?? api) !== api) this.#trace.switches++
    this.#apis.set(sessionID, api)
    for (const fault of findPairingFaults(request)) this.#complain(sessionID, fault)
    this.#seeResults(request)
  }

  seeEvents(events: readonly HostEvent[]): void {
    for (const { type, properties } of events) {
      if (type === "session.error") this.#seeError(properties)
      if (type === "message.part.updated") this.#seePart(recordOf(properties["part"]))
    }
  }

  /** The hash of what was seen first. */
  recall(where: Sight["where"], key: string): string | undefined {
    return this.#seen.get(sightKey({ where, key }))
  }

  /** Calls that requests of the session carried as placeholders. */
  listCleared(sessionID: string): string[] {
    const prefix = sightKey({ where: "placeholder", key: `${sessionID} ` })
    return [...this.#seen.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length))
  }

  /** What was seen for the first time since the last time. */
  takeFresh(): Sight[] {
    const fresh = this.#fresh
    this.#fresh = []
    return fresh
  }

  takeTrace(): Omit<Trace, "logs"> {
    const trace = this.#trace
    this.#trace = emptyTrace()
    return trace
  }

  #seeResults(request: ModelRequest): void {
    const recent = findRecentCalls(request)
    for (const { callID, text, placeholder } of readMessages(request).flatMap(({ results }) => results)) {
      if (!placeholder) {
        this.#see(request.sessionID, { where: "wire", key: callID, hash: hashOf(text) }, text)
        continue
      }
      this.#trace.placeholders++
      if (this.#plugin === "off") this.#complain(request.sessionID, `${callID} is a placeholder without the plugin`)
      if (recent.has(callID)) this.#complain(request.sessionID, `${callID} of a recent step is a placeholder`)
      this.#see(request.sessionID, { where: "placeholder", key: `${request.sessionID} ${callID}`, hash: "" }, text)
    }
  }

  #seePart(part: Record<string, unknown>): void {
    const state = recordOf(part["state"])
    const status = textOf(state["status"])
    if (part["type"] !== "tool" || (status !== "completed" && status !== "error")) return
    const sessionID = textOf(part["sessionID"])
    const text = textOf(state[status === "completed" ? "output" : "error"])
    const key = `${sessionID} ${textOf(part["callID"])}`
    this.#see(sessionID, { where: "event", key, hash: hashOf(`${status} ${text}`) }, text)
    if (recordOf(state["time"])["compacted"] !== undefined) this.#complain(sessionID, `${key} was stored with a mark`)
  }

  #seeError(properties: Record<string, unknown>): void {
    const name = textOf(recordOf(properties["error"])["name"])
    this.#trace.sessionErrors.push(`${this.#nameOf(textOf(properties["sessionID"]))} ${name}`)
  }

  #see(sessionID: string, sight: Sight, text: string): void {
    const key = sightKey(sight)
    const first = this.#seen.get(key)
    if (first === undefined) {
      this.#seen.set(key, sight.hash)
      this.#fresh.push(sight)
    } else if (first !== sight.hash) {
      this.#complain(sessionID, `${key} was seen with another text before: ${excerpt(text, 80)}`)
    }
  }

  #complain(sessionID: string, fault: string): void {
    this.#trace.faults.push(`session ${this.#nameOf(sessionID)}: ${fault}`)
  }

  #nameOf = (sessionID: string): string => String(this.#numbers.get(sessionID) ?? (sessionID || "?"))
}

const emptyTrace = (): Omit<Trace, "logs"> => ({
  requests: {},
  placeholders: 0,
  switches: 0,
  sessionErrors: [],
  faults: [],
})

/** Of the newest steps that no policy gives up. */
function findRecentCalls(request: ModelRequest): Set<string> {
  const steps = readMessages(request).filter(({ calls }) => calls.length > 0)
  return new Set(steps.slice(-FEW_STEPS.steps).flatMap(({ calls }) => calls.map(({ callID }) => callID)))
}
