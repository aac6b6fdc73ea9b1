import { createDraw, type Draw } from "../../fuzz/mutate.ts"
import { planCall, planSleep } from "./call-kinds.ts"
import { atTurn, drawInteger, pickOne } from "./choose.ts"
import type { Ending, Interruption, Plan, PlannedAct, PlannedRound, PlannedTurn } from "./plan-types.ts"
import type { CallPlace, PlannedCall } from "./planned-call.ts"
import { Sessions } from "./plan-sessions.ts"

export const MODELS = ["chat/small", "claude/small"] as const
export const TURNS_AT_ONCE = 4

export interface PlanInput extends CallPlace {
  seed: number
  /** At least so many model calls. */
  steps: number
  sessions: number
  hosts: number
  /** False: nothing kills the host. */
  kills: boolean
}

const KILL_EVERY = 4
const SLEEP_SECONDS = 5
const KILL_MOMENTS: readonly Interruption["at"][] = ["tool", "stream", "any", "any"]
const ABORT_MOMENTS: readonly Interruption["at"][] = ["tool", "stream", "any"]
const SUMMARY_ENDINGS = ["finish", "abort", "finish", "kill", "finish"] as const
const MOST_FORKS_SHARE = 0.6
const FINISH: Ending = { kind: "finish" }

/** The whole run, from the seed alone: nothing in it depends on what happens. */
export function createPlan(input: PlanInput): Plan {
  const planner = new Planner(input)
  while (planner.certainSteps < input.steps) planner.planRound()
  planner.planFarewell()
  return planner.finish()
}

class Planner {
  certainSteps = 0
  readonly #input: PlanInput
  readonly #draw: Draw
  readonly #sessions: Sessions
  readonly #rounds: PlannedRound[] = []
  readonly #counts = { summaries: 0, kills: 0, aborts: 0 }

  constructor(input: PlanInput) {
    this.#input = input
    this.#draw = createDraw(input.seed)
    this.#sessions = new Sessions(input.sessions, this.#draw)
  }

  planRound(): void {
    const index = this.#rounds.length
    const acts = this.#planActs(index)
    const interrupted = acts.flatMap((act) =>
      act.kind === "summarize" && act.ending !== "finish" ? [act.session] : [],
    )
    const resumed = interrupted.map((session) => this.#planTurn(index, session, { kind: "resume" }, 0))
    const chosen = this.#sessions.choose(TURNS_AT_ONCE, interrupted)
    const kill = this.#input.kills && index % KILL_EVERY === 1 ? this.#planKill() : undefined
    const turns = chosen.map((session, place) => this.#planTurn(index, session, this.#planEnding(index, place, kill)))
    this.#add({ index, acts, turns: markEndangered([...resumed, ...turns]) })
  }

  /** One more ordinary turn for each session, so that one that was left unusable would show. */
  planFarewell(): void {
    const all = this.#sessions.all()
    for (let start = 0; start < all.length; start += TURNS_AT_ONCE) {
      const index = this.#rounds.length
      const turns = all.slice(start, start + TURNS_AT_ONCE).map((session) => this.#planTurn(index, session, FINISH, 1))
      this.#add({ index, acts: [], turns })
    }
  }

  finish(): Plan {
    const turns = this.#rounds.flatMap((round) => round.turns)
    const calls = turns.flatMap((turn) => turn.steps.flat().map((call) => [call.id, { call, turn }] as const))
    return {
      rounds: this.#rounds,
      calls: new Map(calls),
      sessionCount: this.#sessions.all().length,
      certainSteps: this.certainSteps,
    }
  }

  #add(round: PlannedRound): void {
    this.#rounds.push(round)
    for (const turn of round.turns) this.certainSteps += countCertainSteps(turn)
  }

  #planActs(index: number): PlannedAct[] {
    const acts: PlannedAct[] = []
    const used = this.#sessions.used()
    if (used.length === 0) return acts
    const host = this.#drawHost()
    let unfinished: number | undefined
    if (index % KILL_EVERY === 2 || index % KILL_EVERY === 3) {
      const planned = atTurn(SUMMARY_ENDINGS, this.#counts.summaries++)
      const ending = planned === "kill" && !this.#input.kills ? "finish" : planned
      const session = pickOne(used, this.#draw)
      acts.push({ kind: "summarize", session, host, model: this.#drawModel(), ending })
      if (ending !== "finish") unfinished = session
    }
    const mostForks = Math.ceil(this.#input.sessions * MOST_FORKS_SHARE)
    if (index % 5 === 2 && used.length > 1 && this.#sessions.forkCount < mostForks) {
      const session = pickOne(
        used.filter((one) => one !== unfinished),
        this.#draw,
      )
      const share = this.#draw() < 0.5 ? { share: this.#draw() } : {}
      acts.push({ kind: "fork", session, host: this.#drawHost(), fork: this.#sessions.addFork(), ...share })
    }
    return acts
  }

  #planKill(): Interruption {
    const at = atTurn(KILL_MOMENTS, this.#counts.kills++)
    return { kind: "kill", at, delayMs: drawInteger(this.#draw, 0, at === "tool" ? 500 : 150) }
  }

  #planEnding(index: number, place: number, kill: Interruption | undefined): Ending {
    if (kill) return place === 0 ? kill : FINISH
    if (place === 1 && index % 2 === 0) {
      const at = atTurn(ABORT_MOMENTS, this.#counts.aborts++)
      return { kind: "abort", at, delayMs: drawInteger(this.#draw, at === "any" ? 0 : 60, 400) }
    }
    if (place !== 2 || index % 3 !== 1) return FINISH
    return { kind: index % 6 === 4 ? "refuse" : "retry" }
  }

  #planTurn(round: number, session: number, ending: Ending, length = drawInteger(this.#draw, 3, 8)): PlannedTurn {
    const key = `s${session}r${round}`
    const steps = Array.from({ length }, (_, step) => this.#planCalls(`${key}k${step}`))
    if ("at" in ending && ending.at === "tool")
      steps.push([planSleep(`${key}sleep`, SLEEP_SECONDS), ...this.#planCalls(`${key}beside`)])
    const isQueued = ending.kind === "finish" && length > 3 && this.#draw() < 0.12
    const queued = isQueued
      ? { queued: { step: drawInteger(this.#draw, 0, length - 2), model: this.#drawModel() } }
      : {}
    return {
      key,
      session,
      host: this.#drawHost(),
      model: this.#drawModel(),
      steps,
      ending,
      ...queued,
      isEndangered: false,
    }
  }

  #planCalls(prefix: string): PlannedCall[] {
    const share = this.#draw()
    const count = share < 0.68 ? 1 : share < 0.88 ? 2 : 3
    return Array.from({ length: count }, (_, index) => planCall(`${prefix}c${index}`, this.#input, this.#draw))
  }

  #drawHost = (): number => drawInteger(this.#draw, 0, this.#input.hosts - 1)
  #drawModel = (): string => pickOne(MODELS, this.#draw)
}

function markEndangered(turns: readonly PlannedTurn[]): PlannedTurn[] {
  const killed = turns.find(({ ending }) => ending.kind === "kill")?.host
  return turns.map((turn) => ({ ...turn, isEndangered: turn.host === killed }))
}

function countCertainSteps({ steps, ending, isEndangered }: PlannedTurn): number {
  if (isEndangered) return 0
  if (ending.kind === "finish" || ending.kind === "retry") return steps.length + 1
  return ending.kind === "resume" ? 0 : steps.length
}
