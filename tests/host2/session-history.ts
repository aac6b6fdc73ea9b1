/** Which rows of a session the host lowers, and how they come to be there: its store, in small. */
import type { AssistantEntry, AssistantRow, ModelRef, Row, RowType, StoredRow } from "./rows.ts"

/** The whole reading fails, and says where. */
export class MessageDecodeError extends Error {
  override name = "MessageDecodeError"
  readonly sessionID: string
  readonly messageID: string

  constructor(sessionID: string, messageID: string) {
    super(`Failed to decode message ${messageID} in session ${sessionID}`)
    this.sessionID = sessionID
    this.messageID = messageID
  }
}

export type Prompt = { id: string; text: string; delivery: "queue" | "steer" }

const TEXT_FIELDS: Readonly<Record<RowType, readonly string[]>> = {
  "agent-switched": ["agent"],
  "location-switched": [],
  "model-switched": [],
  user: ["text"],
  synthetic: ["text"],
  system: ["text"],
  shell: ["command"],
  assistant: [],
  compaction: ["summary", "recent"],
}

/** One session's events, projected into rows; a row keeps the number of the event that made it. */
export class SessionRows {
  readonly sessionID: string
  /** System rows up to here stand in the baseline text of the request. */
  baselineSeq = 0
  private readonly rows: StoredRow[] = []
  private readonly admitted: Prompt[] = []
  private seq = 0

  constructor(sessionID = "ses_1") {
    this.sessionID = sessionID
  }

  /** Stores a row as it is, decodable or not. */
  store(id: string, type: string, data: Record<string, unknown>): number {
    this.rows.push({ seq: ++this.seq, id, type, data })
    return this.seq
  }

  append({ id, type, ...data }: Row): number {
    return this.store(id, type, data)
  }

  /** A prompt waits until it is promoted. The same prompt again is the same one; another under its id is refused. */
  admit(prompt: Prompt): void {
    const known = this.admitted.find(({ id }) => id === prompt.id)
    if (known && known.text !== prompt.text) throw new Error(`Prompt conflict: ${prompt.id}`)
    if (!known) this.admitted.push(prompt)
  }

  /** Makes rows of the waiting prompts of one delivery, in the order of their admission. */
  promote(delivery: Prompt["delivery"]): void {
    for (const { id, text } of this.admitted.filter((prompt) => prompt.delivery === delivery))
      if (!this.rows.some((row) => row.id === id)) this.append({ id, type: "user", text })
  }

  /** A newer turn supersedes the newest assistant row when that is incomplete; no older one is ever resumed. */
  startStep(id: string, model: ModelRef): void {
    const current = this.findCurrentAssistant()
    if (current) current.data["completed"] = true
    this.append({ id, type: "assistant", model, content: [] })
  }

  /** Adds to an assistant row that is the current one; an older projection takes nothing any more. */
  write(...entries: AssistantEntry[]): void {
    const current = this.findCurrentAssistant()
    if (current) (current.data["content"] as AssistantEntry[]).push(...entries)
  }

  endStep(): void {
    const current = this.findCurrentAssistant()
    if (current) current.data["completed"] = true
  }

  /** The newest compaction and everything since; of system rows, those newer than the baseline, before it as well. */
  read(): Row[] {
    const boundary = this.rows.findLast(({ type }) => type === "compaction")?.seq ?? 0
    return this.rows
      .filter(({ seq, type }) => (type === "system" ? seq > this.baselineSeq : seq >= boundary))
      .map((row) => this.decode(row))
  }

  private findCurrentAssistant(): StoredRow | undefined {
    const newest = this.rows.findLast(({ type }) => type === "assistant")
    return newest?.data["completed"] === true ? undefined : newest
  }

  private decode({ id, type, data }: StoredRow): Row {
    const fields = Object.hasOwn(TEXT_FIELDS, type) ? TEXT_FIELDS[type as RowType] : undefined
    const sound = fields?.every((field) => typeof data[field] === "string")
    if (!sound || (type === "assistant" && !isAssistant(data))) throw new MessageDecodeError(this.sessionID, id)
    return { ...structuredClone(data), id, type } as Row
  }
}

function isAssistant(data: Record<string, unknown>): data is Record<string, unknown> & AssistantRow {
  return Array.isArray(data["content"]) && typeof data["model"] === "object" && data["model"] !== null
}
