import type { Answer, Step } from "../model-script.ts"
import type { Interruptions } from "./interruptions.ts"
import { outcomeOf } from "./outcomes.ts"
import type { PlannedTurn } from "./plan-types.ts"
import { scriptedCall } from "./planned-call.ts"
import type { TurnRecord } from "./record-types.ts"
import type { StageContext } from "./stage-context.ts"

const PROMPT_TIMEOUT_MS = 60_000
const IDLE_TIMEOUT_MS = 10_000
/** A queued prompt has this long to be accepted while its step still runs. */
const QUEUE_PAUSE_MS = 150

const LAST_WORDS: Step = { text: "That is done." }
/** Of a kind that the host tries again after a pause. */
const FAILURE: Step = { fail: { status: 503 } }
const REFUSAL_BODY = { type: "error", error: { type: "invalid_request_error", message: "This request is refused." } }
const REFUSAL: Step = { fail: { status: 400, body: REFUSAL_BODY } }

/** One prompt to its end, however that comes. */
export async function playTurn(
  stage: StageContext,
  interruptions: Interruptions,
  turn: PlannedTurn,
): Promise<TurnRecord> {
  const { hosts, home, model, watch } = stage.rooms
  const host = hosts.at(turn.host)
  const id = await stage.findSession(turn.session, host)
  stage.servedBy.set(id, host)
  const before = watch.countRequests(id)
  for (const { prepared } of turn.steps.flat()) if (prepared) home.write(prepared.path, prepared.content)

  model.script("main", scriptTurn(stage, interruptions, turn, id), id)
  const options = { model: turn.model, timeoutMs: PROMPT_TIMEOUT_MS }
  const outcome = await outcomeOf(host.prompt(id, `Turn ${turn.key}: look around.`, options))
  const isIdle = outcome === "cut" || (await becomesIdle(stage, turn, id))
  model.clearScript("main", id)
  return {
    key: turn.key,
    outcome: isIdle ? outcome : `${outcome}, still busy`,
    requests: watch.countRequests(id) - before,
  }
}

async function becomesIdle(stage: StageContext, turn: PlannedTurn, id: string): Promise<boolean> {
  return stage.rooms.hosts
    .at(turn.host)
    .waitUntilIdle(id, IDLE_TIMEOUT_MS)
    .then(
      () => true,
      // A host that has been killed in the meantime is at work on nothing.
      () => turn.isEndangered,
    )
}

function scriptTurn(stage: StageContext, interruptions: Interruptions, turn: PlannedTurn, id: string): Answer[] {
  const { ending, queued } = turn
  const steps = turn.steps.map((calls, index): Answer => {
    return () => {
      const isLast = index === turn.steps.length - 1
      const isQueued = queued?.step === index
      if (isQueued) interruptions.queue(turn, id)
      if ("at" in ending && ending.at !== "stream" && isLast) interruptions.interrupt(ending, turn.host, id)
      const tools = calls.map((call) => scriptedCall(call, stage.rooms.plugin))
      return { tools, ...(isQueued && { delayMs: QUEUE_PAUSE_MS }) }
    }
  })
  return [...steps, ...(ending.kind === "retry" ? [() => FAILURE] : []), () => finishTurn(interruptions, turn, id)]
}

function finishTurn(interruptions: Interruptions, { ending, host }: PlannedTurn, id: string): Step {
  if (ending.kind === "refuse") return REFUSAL
  if (!("at" in ending) || ending.at !== "stream") return LAST_WORDS
  interruptions.interrupt(ending, host, id)
  return { text: "I was about to say", hang: true }
}
