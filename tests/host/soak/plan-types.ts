import type { PlannedCall } from "./planned-call.ts"

/** How a turn is meant to end. */
export type Ending =
  | { kind: "finish" }
  /** The model's endpoint fails once, in a way that the host tries again. */
  | { kind: "retry" }
  /** The model's endpoint refuses the request. */
  | { kind: "refuse" }
  /** The first prompt after a summary that was interrupted. */
  | { kind: "resume" }
  | Interruption

export interface Interruption {
  kind: "abort" | "kill"
  /** While a tool runs, while the model speaks, or at any moment after the request. */
  at: "tool" | "stream" | "any"
  delayMs: number
}

export interface PlannedTurn {
  /** Names it in both runs. */
  key: string
  session: number
  host: number
  /** `provider/model` */
  model: string
  steps: readonly (readonly PlannedCall[])[]
  ending: Ending
  /** A second prompt, for `model`, while the step runs. */
  queued?: { step: number; model: string }
  /** Another turn's interruption kills the host that serves this one. */
  isEndangered: boolean
}

export type PlannedAct =
  | { kind: "summarize"; session: number; host: number; model: string; ending: "finish" | "abort" | "kill" }
  /** Up to the prompt that stands at that share of the session; absent: all of it. */
  | { kind: "fork"; session: number; host: number; fork: number; share?: number }

/** First its acts, one by one; then its turns at once, each in a session of its own. */
export interface PlannedRound {
  index: number
  acts: readonly PlannedAct[]
  turns: readonly PlannedTurn[]
}

export interface Plan {
  rounds: readonly PlannedRound[]
  calls: ReadonlyMap<string, { call: PlannedCall; turn: PlannedTurn }>
  /** Forks included. */
  sessionCount: number
  /** Model calls that happen whatever an interruption cuts short. */
  certainSteps: number
}
