import { median, round } from "../project/figures.ts"
import type { Contestant, Installed } from "./contestants.ts"
import type { FirstCalls } from "./existing.ts"
import type { StepTimes } from "./steps.ts"

/** What a plugin costs, in milliseconds. */
export interface PluginCost {
  /** In one step of the long session: in its hooks, on the median and at most, and in the one that changes messages. */
  stepHooksMedianMs: number
  stepHooksMaxMs: number
  stepTransformMedianMs: number
  /** From outside: what lies between a reply and the next request, less the same without a plugin. */
  stepAddedMedianMs: number
  /** At its first call on an existing session, by the session's messages. */
  existing: Record<string, ExistingCost>
}

export interface ExistingCost {
  firstHooksMs: number
  secondHooksMs: number
  /** From the prompt to its request, less the same without a plugin. */
  firstAddedMs: number
  secondAddedMs: number
}

export interface UpstreamFigures {
  aimMs: number
  host: string
  versions: Installed["versions"]
  steps: number
  rounds: number
  /** The same interval without any plugin. */
  stepMedianMs: number
  cost: Record<"ours" | "upstream", PluginCost>
}

export interface Measurements {
  /** By contestant, each of its rounds. */
  steps: Record<Contestant, StepTimes[]>
  /** By the existing session's messages. */
  existing: Record<string, Record<Contestant, FirstCalls[]>>
}

export function describeCost(contestant: "ours" | "upstream", { steps, existing }: Measurements): PluginCost {
  const hooks = steps[contestant].flatMap(({ hooksMs }) => hooksMs)
  const [own, without] = [medianBetween(steps[contestant]), medianBetween(steps.none)]
  return {
    stepHooksMedianMs: round(median(hooks)),
    stepHooksMaxMs: round(Math.max(...hooks)),
    stepTransformMedianMs: round(median(steps[contestant].flatMap(({ transformMs }) => transformMs))),
    stepAddedMedianMs: round(median(own.map((ms, step) => ms - (without[step] ?? 0)))),
    existing: Object.fromEntries(
      Object.entries(existing).map(([messages, calls]) => [messages, describeExisting(calls[contestant], calls.none)]),
    ),
  }
}

function describeExisting(own: readonly FirstCalls[], without: readonly FirstCalls[]): ExistingCost {
  const hooks = (call: number): number => round(median(own.map(({ hooksMs }) => hooksMs[call] ?? 0)))
  const prompt = (calls: readonly FirstCalls[], call: number): number =>
    median(calls.map(({ promptMs }) => promptMs[call] ?? 0))
  return {
    firstHooksMs: hooks(0),
    secondHooksMs: hooks(1),
    firstAddedMs: round(prompt(own, 0) - prompt(without, 0)),
    secondAddedMs: round(prompt(own, 1) - prompt(without, 1)),
  }
}

/** Of each step over the rounds. */
export function medianBetween(rounds: readonly StepTimes[]): number[] {
  const steps = rounds[0]?.betweenMs ?? []
  return steps.map((_, step) => median(rounds.map(({ betweenMs }) => betweenMs[step] ?? 0)))
}
