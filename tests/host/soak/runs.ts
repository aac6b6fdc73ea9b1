import { createPlan } from "./plan.ts"
import type { Plan } from "./plan-types.ts"
import type { PluginSwitch } from "./planned-call.ts"
import { projectTextsOf } from "./project-files.ts"

/** What all runs of one seed have in common. */
export interface SoakScope {
  seed: number
  steps: number
  sessions: number
}

export type RunKind = "faults" | "memory-1" | "memory-2" | "memory-3"

export interface RunSpec {
  kind: RunKind
  plugin: PluginSwitch
}

export const PAIRS = ["memory-1", "memory-2", "memory-3"] as const

/** In the order in which they are played. Of the pairs each begins with what the one before it ended with. */
export const RUNS: readonly RunSpec[] = [
  { kind: "faults", plugin: "on" },
  { kind: "faults", plugin: "off" },
  { kind: "memory-1", plugin: "on" },
  { kind: "memory-1", plugin: "off" },
  { kind: "memory-2", plugin: "off" },
  { kind: "memory-2", plugin: "on" },
  { kind: "memory-3", plugin: "on" },
  { kind: "memory-3", plugin: "off" },
]

export const nameRun = ({ kind, plugin }: RunSpec): string => `${kind}-${plugin}`

/** Two hosts on one home and kills, or one host process that lives as long as the run. */
export const isMemoryRun = ({ kind }: Pick<RunSpec, "kind">): boolean => kind !== "faults"

export const countHosts = (spec: RunSpec): number => (isMemoryRun(spec) ? 1 : 2)

export const planRun = (spec: RunSpec, { seed, steps, sessions }: SoakScope, root: string): Plan =>
  createPlan({
    seed,
    steps,
    sessions,
    root,
    texts: projectTextsOf(seed),
    hosts: countHosts(spec),
    kills: !isMemoryRun(spec),
  })
