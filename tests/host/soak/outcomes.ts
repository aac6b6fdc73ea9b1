import { errorName, HostRefusal } from "../host.ts"
import { recordOf } from "../json.ts"
import type { StoredMessage } from "../stored.ts"
import type { Ending, PlannedAct, PlannedTurn } from "./plan-types.ts"

/** How a call of the host's API ended, in words that are the same in every run. */
export async function outcomeOf(answer: Promise<unknown>): Promise<string> {
  try {
    return describeAnswer(await answer)
  } catch (error) {
    if (error instanceof HostRefusal) return `http ${error.status}`
    const cause = error instanceof Error ? String(error.cause) : ""
    return cause.includes("no answer within") ? "no answer" : "cut"
  }
}

function describeAnswer(answer: unknown): string {
  const info = recordOf(recordOf(answer)["info"])
  if (info["role"] !== "assistant") return "done"
  const error = errorName(answer as StoredMessage)
  if (error !== "") return `error ${error}`
  return info["summary"] === true ? "summary" : "finished"
}

const ABORTED = "error MessageAbortedError"
const REFUSED = "error APIError"

/** What each kind of ending may come to, whatever the moment. */
const TURN_OUTCOMES: Readonly<Record<Ending["kind"], readonly string[]>> = {
  finish: ["finished"],
  retry: ["finished"],
  refuse: [REFUSED],
  // The host answers the first prompt after an interrupted summary with that summary, and with nothing else.
  resume: ["summary"],
  abort: [ABORTED],
  kill: ["cut"],
}

const ACT_OUTCOMES: Readonly<Record<string, readonly string[]>> = {
  "summarize finish": ["done"],
  "summarize abort": ["done"],
  "summarize kill": ["cut"],
  fork: ["done"],
  queue: ["done"],
}

export function isExpectedTurn({ ending, isEndangered }: PlannedTurn, outcome: string): boolean {
  const mayEndBefore = "at" in ending && ending.at === "any" && outcome === "finished"
  return TURN_OUTCOMES[ending.kind].includes(outcome) || mayEndBefore || (isEndangered && outcome === "cut")
}

export const isExpectedAct = (kind: string, outcome: string): boolean => ACT_OUTCOMES[kind]?.includes(outcome) ?? false

export const nameAct = (act: PlannedAct): string => (act.kind === "fork" ? act.kind : `${act.kind} ${act.ending}`)

/** Requests of the conversation that a turn makes when nothing comes between; `undefined`: that depends on the moment. */
export function countPlannedRequests({ steps, ending, isEndangered }: PlannedTurn): number | undefined {
  if (isEndangered || ("at" in ending && ending.at === "any")) return undefined
  if (ending.kind === "resume") return 0
  if (ending.kind === "retry") return steps.length + 2
  return "at" in ending && ending.at === "tool" ? steps.length : steps.length + 1
}

/** Steps that a turn with that outcome has surely made, with all that their tools put out. */
export function countSureSteps({ steps, ending }: PlannedTurn, outcome: string): number {
  if (outcome === "finished") return steps.length
  if (outcome !== ABORTED && outcome !== REFUSED) return 0
  if (!("at" in ending) || ending.at === "stream") return steps.length
  return Math.max(0, steps.length - 1)
}
