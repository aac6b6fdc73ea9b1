import { findKeptReason } from "./eligibility.ts"
import type {
  CompactionSource,
  HistorySource,
  KeptCounts,
  Origin,
  Policy,
  Source,
  SourceMap,
  SourceOutput,
  SourcePlace,
  ToolOutput,
  TracedHistory,
} from "./types.ts"

/**
 * Where each message comes from that the host makes of the history, once the given outputs are cleared in it. By index and
 * id alone, so repeated texts and equal times confuse nothing. `undefined`: some row cannot be told, and a wrong map is worse
 * than none.
 */
export function describeSources(
  { origins }: TracedHistory,
  cleared: readonly { output: ToolOutput }[],
): SourceMap | undefined {
  if (!origins.every(isTold) || !haveOwnIDs(origins)) return undefined
  const writer = new SourceWriter(new Set(cleared.map(({ output }) => output)))
  for (const [index, origin] of origins.entries()) {
    writer.begin(origin)
    writer.addMessage(origin)
    writer.addResults(origin)
    if (origins[index + 1]?.messageIndex !== origin.messageIndex) writer.finishStored(origin)
  }
  return { historyMessageCount: writer.historyMessageCount, sources: writer.sources }
}

/** Every output that is not cleared, by the reason why it stays. */
export function countKept(
  outputs: readonly ToolOutput[],
  { cleared, protectedFrom }: { cleared: readonly { output: ToolOutput }[]; protectedFrom: number },
  policy: Policy,
): KeptCounts {
  const gone = new Set(cleared.map(({ output }) => output))
  const counts: KeptCounts = {}
  for (const output of outputs) {
    if (gone.has(output)) continue
    const reason = findKeptReason(output, policy) ?? (output.segment >= protectedFrom ? "recent" : "waiting")
    counts[reason] = (counts[reason] ?? 0) + 1
  }
  return counts
}

type Checkpoint = Pick<CompactionSource, "checkpointId" | "summarizedBefore">

/** Writes the rows of one history in order and keeps what earlier messages mean for later ones. */
class SourceWriter {
  readonly sources: Source[] = []
  historyMessageCount = 0
  private readonly cleared: ReadonlySet<ToolOutput>
  private readonly checkpoints = new Map<string, Checkpoint>()
  private latestCheckpoint: Checkpoint | undefined
  private userTurns = 0
  /** Of the stored message at hand. */
  private isDraft = true
  private movesMedia = false

  constructor(cleared: ReadonlySet<ToolOutput>) {
    this.cleared = cleared
  }

  begin(origin: Origin): void {
    if (origin.kind === "prompt") this.userTurns++
    if (origin.summarizedBefore === undefined) return
    this.latestCheckpoint = { checkpointId: origin.messageID, summarizedBefore: origin.summarizedBefore }
    this.checkpoints.set(origin.messageID, this.latestCheckpoint)
  }

  addMessage(origin: Origin): void {
    this.isDraft &&= origin.isUnfinished && origin.sends === false
    this.movesMedia ||= origin.movesMedia === true
    if (origin.sends === true) this.sources.push(this.describeMessage(origin))
  }

  /** The host answers all calls of a step in one message. A result that no tool has given is made up for the request. */
  addResults(origin: Origin): void {
    const { answers } = origin
    if (answers.length === 0) return
    const row = this.describeRow(origin, "tool", answers)
    const [toolCallId, ...others] = row.repairedCallIds ?? []
    const repairsAll = toolCallId !== undefined && others.length + 1 === answers.length
    this.sources.push(repairsAll ? { ...row, type: "tool-repair", toolCallId } : row)
  }

  /** After the last step of a stored message. */
  finishStored(origin: Origin): void {
    if (this.movesMedia) this.sources.push(this.describeAdded(origin))
    if (!this.isDraft) this.historyMessageCount++
    this.isDraft = true
    this.movesMedia = false
  }

  private describeMessage(origin: Origin): Source {
    if (origin.kind === "added") return this.describeAdded(origin)
    const row = this.describeRow(origin, origin.step === undefined ? "user" : "assistant", origin.answersInside)
    const checkpoint = this.findCheckpoint(origin)
    return checkpoint ? { ...row, type: "compaction", ...checkpoint } : row
  }

  private describeAdded({ messageIndex, messageID }: Origin): Source {
    const userTurn = this.userTurns > 0 ? { userTurn: this.userTurns - 1 } : {}
    return { type: "runtime-context", messageIndex, messageID, role: "user", ...userTurn }
  }

  /** A summary names the message that asked for it; the host's own faults leave summaries under other messages. */
  private findCheckpoint({ kind, messageID, checkpointID }: Origin): Checkpoint | undefined {
    if (kind === "checkpoint") return this.checkpoints.get(messageID)
    if (kind !== "summary") return undefined
    return checkpointID === undefined ? this.latestCheckpoint : this.checkpoints.get(checkpointID)
  }

  private describeRow(origin: Origin, role: SourcePlace["role"], answers: readonly ToolOutput[]): HistorySource {
    const { messageIndex, messageID, step } = origin
    const row: HistorySource = { type: "history", messageIndex, messageID, role }
    if (step !== undefined) row.step = step
    for (const output of answers) {
      if (this.isCleared(output)) row.cleared = appended(row.cleared, describeOutput(output))
      if (output.facts.outcome === "unfinished") row.repairedCallIds = appended(row.repairedCallIds, output.callID)
    }
    return row
  }

  private isCleared(output: ToolOutput): boolean {
    const { mark, outcome } = output.facts
    return this.cleared.has(output) || (mark === "placeholder" && outcome === "completed")
  }
}

/** Rows are kept, and most lists in them have one item: a list that begins with it holds no room for more. */
function appended<T>(list: T[] | undefined, item: T): T[] {
  if (!list) return [item]
  list.push(item)
  return list
}

function describeOutput({ callID, partID, tool }: ToolOutput): SourceOutput {
  return { callID, partID, tool }
}

function isTold({ sends, movesMedia }: Origin): boolean {
  return sends !== undefined && movesMedia !== undefined
}

/** Each stored message has an id, and no two have the same. */
function haveOwnIDs(origins: readonly Origin[]): boolean {
  const owners = new Map<unknown, number>()
  return origins.every(({ messageID, messageIndex }) => {
    const owner = owners.get(messageID) ?? messageIndex
    owners.set(messageID, messageIndex)
    return typeof messageID === "string" && messageID !== "" && owner === messageIndex
  })
}
