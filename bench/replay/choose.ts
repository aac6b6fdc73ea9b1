import type { Policy } from "../../lib/dtc/types.ts"
import { findLimits, type Scope } from "./benchmark.ts"
import { freeBreaksCost, inputCost, PRICE_ROWS } from "./cost.ts"
import { addMeasures, measurePolicy, type Measure } from "./measure.ts"
import { RESELECT } from "./policies.ts"
import { NONE, type ClearingPolicy } from "./policy.ts"
import { listGrid } from "./grid.ts"
import { describeChoices, sketchPolicy, type SketchChoices } from "./sketch.ts"
import { finalTokens, type ReplayWindow } from "./window.ts"

const PRICE = PRICE_ROWS[0]!

/** Measures of one way to clear, by session and target. */
type Measures = ReadonlyMap<string, readonly Measure[]>

interface Setting {
  choices: SketchChoices
  measures: Measures
  /** Further settings of the grid that measure the same everywhere. */
  equal: number
}

/** How a setting does on some sessions, targets in order. */
export interface Score {
  name: string
  /** Relative to never clearing, and relative to selecting afresh. */
  costs: number[]
  reselectCosts: number[]
  freeBreaksCosts: number[]
  breaks: number[]
  evidenceLost: number[]
  overBudget: number[]
}

export interface LeftOut {
  session: string
  /** What the other sessions would choose, on this session. */
  chosen: Score
  /** What the whole set would choose, on this session. */
  overall: Score
  reselect: Score
}

export interface Choices {
  targetRatios: readonly number[]
  reselect: Score
  /** Cheapest first. */
  ranking: (Score & { equal: number; admissible: boolean })[]
  leftOut: LeftOut[]
  /** The left-out sessions together, each with what the others chose: no setting is judged by what chose it. */
  pooled: Score
}

/**
 * Measures every setting of the grid once per session, then lets each set of all sessions but one choose: the lowest
 * cost (mean of the targets, relative to `none`) among the settings that, at each target, lose no more evidence than
 * selecting afresh, exceed the budget at most 5 % more often and break the prefix at most a quarter as often; among all
 * settings when there is none.
 */
export function chooseSettings(windows: readonly ReplayWindow[], settings: Policy, scope: Scope): Choices {
  const { targetRatios } = scope
  const measured = windows.filter((window) => finalTokens(window) >= scope.minWindowTokens)
  const measure = (policy: ClearingPolicy): Measures => measureSessions(measured, policy, settings, scope)
  const none = measure(NONE)
  const reselect = measure(RESELECT)
  const grid = mergeEqual(
    listGrid(scope).map((choices) => ({ choices, measures: measure(sketchPolicy(choices)), equal: 0 })),
  )
  const sessions = [...none.keys()]

  const score = (setting: Measures, name: string, over: readonly string[]): Score =>
    scoreSessions(name, setting, none, reselect, over)
  const rank = (over: readonly string[]): { setting: Setting; admissible: boolean }[] => {
    const afresh = score(reselect, "", over)
    const scored = grid.map((setting) => ({ setting, own: score(setting.measures, "", over) }))
    return scored
      .toSorted((a, b) => mean(a.own.costs) - mean(b.own.costs))
      .map(({ setting, own }) => ({ setting, admissible: isAdmissible(own, afresh) }))
  }
  const choose = (over: readonly string[]): Setting => {
    const ranked = rank(over)
    return (ranked.find(({ admissible }) => admissible) ?? ranked[0]!).setting
  }
  const overall = choose(sessions)
  const chosen = new Map(sessions.map((left) => [left, choose(sessions.filter((session) => session !== left))]))
  const pooled = new Map([...chosen].map(([session, { measures }]) => [session, measures.get(session) ?? []]))
  const describe = ({ choices, measures }: Setting, over: readonly string[]): Score =>
    score(measures, describeChoices(choices), over)
  return {
    targetRatios,
    reselect: score(reselect, "re-select", sessions),
    ranking: rank(sessions).map(({ setting, admissible }) => ({
      ...describe(setting, sessions),
      equal: setting.equal,
      admissible,
    })),
    pooled: score(pooled, "all left-out sessions", sessions),
    leftOut: sessions.map((session) => ({
      session,
      chosen: describe(chosen.get(session)!, [session]),
      overall: describe(overall, [session]),
      reselect: score(reselect, "re-select", [session]),
    })),
  }
}

/** Settings that measure the same everywhere are one; the first of them stands for all. */
function mergeEqual(grid: readonly Setting[]): Setting[] {
  const merged = new Map<string, Setting>()
  for (const setting of grid) {
    const key = JSON.stringify([...setting.measures])
    const first = merged.get(key)
    if (first) first.equal += 1
    else merged.set(key, setting)
  }
  return [...merged.values()]
}

function measureSessions(
  windows: readonly ReplayWindow[],
  policy: ClearingPolicy,
  settings: Policy,
  { targetRatios, cacheTtlMs }: Scope,
): Measures {
  const sessions = [...new Set(windows.map(({ session }) => session))]
  return new Map(
    sessions.map((session) => [
      session,
      targetRatios.map((ratio) =>
        addMeasures(
          windows
            .filter((window) => window.session === session)
            .map((window) => measurePolicy(window, policy, findLimits(window, ratio, settings), settings, cacheTtlMs)),
        ),
      ),
    ]),
  )
}

function scoreSessions(
  name: string,
  setting: Measures,
  none: Measures,
  reselect: Measures,
  sessions: readonly string[],
): Score {
  const sum = (measures: Measures): Measure[] => sumSessions(measures, sessions)
  const own = sum(setting)
  const relate = (base: readonly Measure[], cost: (measure: Measure) => number): number[] =>
    own.map((measure, target) => cost(measure) / inputCost(base[target] as Measure, PRICE))
  return {
    name,
    costs: relate(sum(none), (measure) => inputCost(measure, PRICE)),
    reselectCosts: relate(sum(reselect), (measure) => inputCost(measure, PRICE)),
    freeBreaksCosts: relate(sum(none), (measure) => freeBreaksCost(measure, PRICE)),
    breaks: own.map(({ prefixBreaks }) => prefixBreaks),
    evidenceLost: own.map(({ evidenceLost }) => evidenceLost),
    overBudget: own.map(({ overBudget }) => overBudget),
  }
}

function sumSessions(measures: Measures, sessions: readonly string[]): Measure[] {
  const chosen = sessions.map((session) => measures.get(session) ?? [])
  return (chosen[0] ?? []).map((_measure, target) => addMeasures(chosen.map((own) => own[target] as Measure)))
}

function isAdmissible(score: Score, reselect: Score): boolean {
  const within = (own: readonly number[], other: readonly number[], factor: number): boolean =>
    own.every((value, target) => value <= (other[target] ?? 0) * factor)
  return (
    within(score.evidenceLost, reselect.evidenceLost, 1) &&
    within(score.overBudget, reselect.overBudget, 1.05) &&
    within(score.breaks, reselect.breaks, 0.25)
  )
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
