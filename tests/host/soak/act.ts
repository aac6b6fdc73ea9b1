import type { Host } from "../host.ts"
import { findToolParts, type StoredMessage } from "../stored.ts"
import { Interruptions } from "./interruptions.ts"
import { nameAct, outcomeOf } from "./outcomes.ts"
import type { PlannedAct } from "./plan-types.ts"
import type { ActRecord } from "./record-types.ts"
import type { StageContext } from "./stage-context.ts"

type PlannedSummary = Extract<PlannedAct, { kind: "summarize" }>
type PlannedFork = Extract<PlannedAct, { kind: "fork" }>

const INTERRUPTED_AFTER_MS = 150
const IDLE_TIMEOUT_MS = 10_000

export interface PlayedAct {
  record: ActRecord
  kills: number
}

export async function playAct(stage: StageContext, act: PlannedAct, round: number): Promise<PlayedAct> {
  const interruptions = new Interruptions(stage)
  const host = stage.rooms.hosts.at(act.host)
  const id = await stage.findSession(act.session, host)
  const outcome =
    act.kind === "fork"
      ? await outcomeOf(fork(stage, host, id, act))
      : await outcomeOf(summarize(stage, host, id, act, interruptions))
  await interruptions.settle()
  const record = { key: `r${round} ${nameAct(act)} s${act.session}`, kind: act.kind, outcome }
  return { record, kills: interruptions.kills }
}

/** An interrupted one has begun to speak. */
async function summarize(
  stage: StageContext,
  host: Host,
  id: string,
  { ending, host: hostIndex, model: name }: PlannedSummary,
  interruptions: Interruptions,
): Promise<void> {
  const { model } = stage.rooms
  if (ending !== "finish")
    model.script(
      "compaction",
      [
        () => {
          interruptions.interrupt({ kind: ending, delayMs: INTERRUPTED_AFTER_MS }, hostIndex, id)
          return { text: "## Goal\nTo be", hang: true }
        },
      ],
      id,
    )
  try {
    await host.summarize(id, name)
    await host.waitUntilIdle(id, IDLE_TIMEOUT_MS)
  } finally {
    model.clearScript("compaction", id)
  }
}

async function fork(stage: StageContext, host: Host, id: string, act: PlannedFork): Promise<void> {
  const stored = await host.readMessages(id)
  const end = act.share === undefined ? undefined : findCut(stored, act.share)
  const copy = await host.fork(id, end?.info.id)
  const copied = end === undefined ? stored : stored.slice(0, stored.indexOf(end))
  const inherited = findToolParts(copied).map(({ callID }) => callID)
  stage.keepSession({ session: act.fork, id: copy.id, source: act.session, inherited })
}

/** A prompt at that share, but not one that follows a summary: the copy would begin with a summary that is still due. */
function findCut(stored: readonly StoredMessage[], share: number): StoredMessage | undefined {
  const cuts = stored.filter(({ info, parts }, index) => {
    const before = stored[index - 1]?.info
    const isPrompt = info.role === "user" && parts.some(({ type }) => type === "text")
    return isPrompt && before !== undefined && !(before.role === "assistant" && before.summary === true)
  })
  return cuts[Math.floor(share * cuts.length)]
}
