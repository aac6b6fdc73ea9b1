import type { JournalLine } from "./journal.ts"
import type { ActRecord, Checked, RoundRecord, SessionRecord, Trace, TurnRecord } from "./record-types.ts"

/** A run as its journal tells it. */
export interface Progress {
  /** By number. */
  sessions: Map<number, SessionRecord>
  /** Rounds that a stage began; one that did not end there has no record, and its turns were interrupted. */
  begun: Set<number>
  rounds: RoundRecord[]
  /** By key. */
  turns: Map<string, TurnRecord>
  acts: Map<string, ActRecord>
  traces: Trace[]
  stages: number
  hostVersion: string | undefined
  checked: Checked | undefined
}

export function readProgress(lines: readonly JournalLine[]): Progress {
  const progress: Progress = {
    sessions: new Map(),
    begun: new Set(),
    rounds: [],
    turns: new Map(),
    acts: new Map(),
    traces: [],
    stages: 0,
    hostVersion: undefined,
    checked: undefined,
  }
  for (const line of lines) takeLine(progress, line)
  return progress
}

/** The same for a line that is written now. */
export function takeLine(progress: Progress, line: JournalLine): void {
  switch (line.type) {
    case "stage":
      progress.stages++
      progress.hostVersion = line.hostVersion
      return
    case "session":
      progress.sessions.set(line.session.session, line.session)
      return
    case "begun":
      progress.begun.add(line.round)
      return
    case "round":
      progress.rounds.push(line.record)
      for (const turn of line.record.turns) progress.turns.set(turn.key, turn)
      for (const act of line.record.acts) progress.acts.set(act.key, act)
      return
    case "trace":
      progress.traces.push(line.trace)
      return
    case "checked":
      progress.checked = line.checked
  }
}
