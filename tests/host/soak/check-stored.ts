import { isDeepStrictEqual } from "node:util"
import type { Host } from "../host.ts"
import { excerpt, recordOf } from "../json.ts"
import { findStoredMarks, findToolPart, findToolParts, type StoredMessage, type ToolPart } from "../stored.ts"
import { countSureSteps } from "./outcomes.ts"
import { expectedOf, type Expected } from "./planned-call.ts"
import type { Checked, SessionRecord } from "./record-types.ts"
import type { StageRooms } from "./stage-context.ts"
import { hashOf } from "./watch.ts"

const CLEARABLE_TOOLS = ["read", "grep", "glob", "bash"]

interface StoredSession {
  record: SessionRecord
  messages: StoredMessage[]
  parts: ToolPart[]
}

export type CheckRooms = Pick<StageRooms, "plan" | "plugin" | "progress" | "watch">

/** What is asked of the host. */
export type StoredReader = Pick<Host, "listSessions" | "readMessages">

/** Holds every stored output against what its tool had to put out, and against what was seen of it on the way. */
export async function checkStored(rooms: CheckRooms, host: StoredReader): Promise<Checked> {
  const checker = new StoredChecker(rooms)
  const records = [...rooms.progress.sessions.values()]
  const listed = (await host.listSessions()).map(({ id }) => id)
  checker.checkList(listed)
  const stored = new Map<number, StoredSession>()
  for (const record of records) {
    const messages = await host.readMessages(record.id)
    stored.set(record.session, { record, messages, parts: findToolParts(messages) })
  }
  for (const session of stored.values()) checker.checkSession(session)
  for (const session of stored.values()) {
    const source = session.record.source === undefined ? undefined : stored.get(session.record.source)
    if (source !== undefined) checker.checkFork(session, source)
  }
  return checker.checked
}

class StoredChecker {
  readonly checked: Checked = {
    sessions: 0,
    forks: 0,
    calls: 0,
    right: {},
    interrupted: 0,
    equalToEvent: 0,
    equalToWire: 0,
    cleared: 0,
    faults: [],
  }
  readonly #rooms: CheckRooms

  constructor(rooms: CheckRooms) {
    this.#rooms = rooms
  }

  /** All of them, and no other: there are no subagents. */
  checkList(listed: readonly string[]): void {
    const own = [...this.#rooms.progress.sessions.values()].map(({ id }) => id)
    for (const id of own) if (!listed.includes(id)) this.#complain(`session ${id} is not listed`)
    for (const id of listed) if (!own.includes(id)) this.#complain(`session ${id} was never asked for`)
  }

  checkSession({ record, messages, parts }: StoredSession): void {
    this.checked.sessions++
    for (const callID of findStoredMarks(messages)) this.#complain(`session ${record.session}: ${callID} has a mark`)
    const ids = parts.map(({ callID }) => callID)
    if (new Set(ids).size !== ids.length) this.#complain(`session ${record.session} holds a call twice`)
    for (const callID of this.#findRequired(record))
      if (!ids.includes(callID)) this.#complain(`session ${record.session}: ${callID} is lost`)
    for (const part of parts) this.#checkPart(record, part)
    this.#checkCleared(record, messages)
  }

  /** The copy begins with what the source held, each call as the source still holds it. */
  checkFork({ record, parts }: StoredSession, source: StoredSession): void {
    this.checked.forks++
    const inherited = record.inherited ?? []
    const ids = parts.slice(0, inherited.length).map(({ callID }) => callID)
    if (ids.join() !== inherited.join()) this.#complain(`fork ${record.session} does not begin as its source`)
    for (const part of parts.slice(0, inherited.length)) {
      const original = findToolPart(source.messages, part.callID)
      if (!isDeepStrictEqual(part.state, original?.state))
        this.#complain(`fork ${record.session}: ${part.callID} is not what session ${source.record.session} holds`)
    }
  }

  /** Calls of turns that came so far. */
  #findRequired({ session }: SessionRecord): string[] {
    const turns = this.#rooms.plan.rounds.flatMap((round) => round.turns).filter((turn) => turn.session === session)
    return turns.flatMap((turn) => {
      const outcome = this.#rooms.progress.turns.get(turn.key)?.outcome ?? "lost"
      return turn.steps.slice(0, countSureSteps(turn, outcome)).flatMap((calls) => calls.map(({ id }) => id))
    })
  }

  #checkPart(record: SessionRecord, part: ToolPart): void {
    this.checked.calls++
    const planned = this.#rooms.plan.calls.get(part.callID)
    if (planned === undefined) return this.#complain(`session ${record.session}: nobody planned ${part.callID}`)
    const { call, turn } = planned
    const expected = expectedOf(call, this.#rooms.plugin)
    const name = `session ${record.session}: ${part.callID} (${call.kind})`
    if (isAsExpected(part, expected)) this.checked.right[call.kind] = (this.checked.right[call.kind] ?? 0) + 1
    else if (this.#rooms.progress.turns.get(turn.key)?.outcome !== "finished" && isInterrupted(part))
      this.checked.interrupted++
    else
      this.#complain(
        `${name} is not what its tool put out: ${part.tool} ${part.state.status} ${excerpt(textOf(part), 160)}`,
      )
    this.#checkSights(record, part, name)
  }

  #checkSights(record: SessionRecord, part: ToolPart, name: string): void {
    const { watch } = this.#rooms
    const { status } = part.state
    const told = watch.recall("event", `${record.id} ${part.callID}`)
    const isEqual = told === hashOf(`${status} ${textOf(part)}`)
    if (isEqual) this.checked.equalToEvent++
    else if (told !== undefined) this.#complain(`${name} is not what the event of its end said`)
    const sent = watch.recall("wire", part.callID)
    if (sent === hashOf(wireTextOf(part))) this.checked.equalToWire++
    else if (sent !== undefined) this.#complain(`${name} is not what the first request in full carried`)
  }

  /** Only outputs that the contract gives up were sent as placeholders. */
  #checkCleared(record: SessionRecord, messages: readonly StoredMessage[]): void {
    for (const callID of this.#rooms.watch.listCleared(record.id)) {
      this.checked.cleared++
      const part = findToolPart(messages, callID)
      const mayGo = part?.state.status === "completed" && CLEARABLE_TOOLS.includes(part.tool)
      const exit = part?.state.status === "completed" ? part.state.metadata["exit"] : undefined
      if (!mayGo || (part.tool === "bash" && exit !== 0))
        this.#complain(`session ${record.session}: ${callID} was cleared, and is ${part?.tool} ${part?.state.status}`)
    }
  }

  #complain(fault: string): void {
    this.checked.faults.push(fault)
  }
}

function textOf({ state }: ToolPart): string {
  return state.status === "completed" ? state.output : state.status === "error" ? state.error : ""
}

const isAsExpected = (part: ToolPart, { tool, status, isRight }: Expected): boolean =>
  part.tool === tool && part.state.status === status && isRight(textOf(part))

/** As the host leaves a call that it was not allowed to finish. */
function isInterrupted({ state, tool }: ToolPart): boolean {
  if (state.status === "pending" || state.status === "running") return true
  if (state.status === "error") return state.error === "Tool execution aborted"
  return tool === "bash" && state.output.endsWith("<shell_metadata>\nUser aborted the command\n</shell_metadata>")
}

/** What the host sends for a part that carries no mark. */
function wireTextOf(part: ToolPart): string {
  const { state } = part
  if (state.status === "pending" || state.status === "running") return "[Tool execution was interrupted]"
  const metadata = recordOf(recordOf(state)["metadata"])
  const isReused = state.status === "error" && metadata["interrupted"] === true
  return isReused && typeof metadata["output"] === "string" ? metadata["output"] : textOf(part)
}
