import { countPlannedRequests, isExpectedAct, isExpectedTurn, nameAct } from "./outcomes.ts"
import type { Plan } from "./plan-types.ts"
import type { Progress } from "./progress.ts"

/** One thing that went otherwise than planned. */
export interface Deviation {
  key: string
  what: string
}

/**
 * What went otherwise than planned in one run: turns and acts with another outcome, requests that are missing or too many
 * where their number does not depend on a moment, `session.error` events that no outcome explains, and errors in the
 * hosts' logs by their message.
 */
export function findDeviations(plan: Plan, progress: Progress): Deviation[] {
  return [
    ...findTurnDeviations(plan, progress),
    ...findActDeviations(plan, progress),
    ...findUnexplainedErrors(progress),
    ...findLogErrors(progress),
  ]
}

/** What the first run has and the second has not. The number of turns in a kind of trouble counts, not only the kind. */
export function findExcess(mine: readonly Deviation[], others: readonly Deviation[]): Deviation[] {
  const left = new Map<string, number>()
  for (const other of others) left.set(nameDeviation(other), (left.get(nameDeviation(other)) ?? 0) + 1)
  return mine.filter((one) => {
    const count = left.get(nameDeviation(one)) ?? 0
    left.set(nameDeviation(one), count - 1)
    return count <= 0
  })
}

const nameDeviation = ({ key, what }: Deviation): string => `${key}: ${what}`

function findTurnDeviations(plan: Plan, { turns }: Progress): Deviation[] {
  return plan.rounds
    .flatMap((round) => round.turns)
    .flatMap((turn) => {
      const record = turns.get(turn.key)
      if (record === undefined) return [{ key: turn.key, what: "never played to its end" }]
      if (!isExpectedTurn(turn, record.outcome))
        return [{ key: turn.key, what: `${turn.ending.kind} came to ${record.outcome}` }]
      const planned = countPlannedRequests(turn)
      if (planned === undefined || planned === record.requests) return []
      return [{ key: turn.key, what: `${record.requests} requests, ${planned} planned` }]
    })
}

function findActDeviations(plan: Plan, { acts }: Progress): Deviation[] {
  const planned = plan.rounds.flatMap((round) =>
    round.acts.map((act) => ({ key: `r${round.index} ${nameAct(act)} s${act.session}`, name: nameAct(act) })),
  )
  const queued = plan.rounds
    .flatMap((round) => round.turns)
    .filter((turn) => turn.queued !== undefined && !turn.isEndangered)
    .map(({ key }) => ({ key: `${key} queue`, name: "queue" }))
  return [...planned, ...queued].flatMap(({ key, name }) => {
    const outcome = acts.get(key)?.outcome ?? "nothing"
    return isExpectedAct(name, outcome) ? [] : [{ key, what: `came to ${outcome}` }]
  })
}

/** Each turn and each aborted summary that ended with an error explains one event of its session. */
function findUnexplainedErrors({ turns, acts, traces }: Progress): Deviation[] {
  const explained = [
    ...[...turns.values()].flatMap(({ key, outcome }) =>
      outcome.startsWith("error ") ? [`${/^s(\d+)r/.exec(key)?.[1]} ${outcome.slice(6)}`] : [],
    ),
    ...[...acts.keys()].flatMap((key) => {
      const session = / abort s(\d+)$/.exec(key)?.[1]
      return session === undefined ? [] : [`${session} MessageAbortedError`]
    }),
  ].map((what) => ({ key: "session.error", what }))
  const seen = traces.flatMap(({ sessionErrors }) => sessionErrors).map((what) => ({ key: "session.error", what }))
  return findExcess(seen, explained)
}

/** By their message alone, each once: how often an interruption is told depends on the moment. */
function findLogErrors({ traces }: Progress): Deviation[] {
  const lines = traces.flatMap(({ logs }) => logs).flatMap(({ errors }) => errors)
  return [...new Set(lines.map(readMessage))].map((what) => ({ key: "log", what }))
}

const readMessage = (line: string): string => {
  const message = /message=("(?:[^"\\]|\\.)*"|\S*)/.exec(line)?.[1] ?? line
  const error = /error(?:\.error)?=("(?:[^"\\]|\\.)*"|\S*)/.exec(line)?.[1] ?? ""
  return `${message} ${error}`.replaceAll(/\b(?:ses|msg|prt)_\w+|\d{3,}/g, "*").trim()
}
