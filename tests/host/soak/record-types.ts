export interface SessionRecord {
  session: number
  id: string
  /** Of a fork: the calls that it was born with, in order, and the session that it was made from. */
  inherited?: readonly string[]
  source?: number
}

export interface TurnRecord {
  key: string
  /** See `outcomes.ts`. */
  outcome: string
  /** To the conversation's own lane. */
  requests: number
}

export interface ActRecord {
  key: string
  kind: "summarize" | "fork" | "queue"
  outcome: string
}

export interface RoundRecord {
  round: number
  acts: ActRecord[]
  turns: TurnRecord[]
  kills: number
}

/** Of the plugin, as far as one life of a host tells in its log. */
export interface LogRecord {
  projected: number
  skipped: Record<string, number>
  /** Lines of level WARN by this plugin. */
  warnings: string[]
  /** Lines of level ERROR by anyone, and stacks that name the plugin's files. */
  errors: string[]
}

/** What was seen since the last trace. */
export interface Trace {
  /** By lane. */
  requests: Record<string, number>
  /** Placeholders in conversations, counted in each request that carries them. */
  placeholders: number
  /** Requests to another API than the session's previous one. */
  switches: number
  /** `session.error` events: the session's number and the error's name. */
  sessionErrors: string[]
  /** What should never be. */
  faults: string[]
  logs: LogRecord[]
}

export interface MemorySample {
  residentBytes: number
  peakResidentBytes: number
}

/** The stored sessions, held against what was planned and seen. */
export interface Checked {
  sessions: number
  forks: number
  calls: number
  /** Calls by kind that ended as their tool had to. */
  right: Record<string, number>
  /** Calls of interrupted turns that the host stored as such. */
  interrupted: number
  /** Stored texts that equal what the event of their end said, and what the wire carried first. */
  equalToEvent: number
  equalToWire: number
  /** Different outputs that requests carried as placeholders. */
  cleared: number
  faults: string[]
}
