import { playAct } from "./act.ts"
import { Interruptions } from "./interruptions.ts"
import type { PlannedRound } from "./plan-types.ts"
import type { ActRecord, RoundRecord } from "./record-types.ts"
import type { StageContext } from "./stage-context.ts"
import { playTurn } from "./turn.ts"

/** Leaves every host alive and every session at rest. */
export async function playRound(stage: StageContext, { index, acts, turns }: PlannedRound): Promise<RoundRecord> {
  const records: ActRecord[] = []
  let kills = 0
  for (const act of acts) {
    const played = await playAct(stage, act, index)
    records.push(played.record)
    kills += played.kills
  }
  const interruptions = new Interruptions(stage)
  const played = await Promise.all(turns.map((turn) => playTurn(stage, interruptions, turn)))
  await interruptions.settle()
  stage.rooms.model.forgetRequests()
  return { round: index, acts: [...records, ...interruptions.acts], turns: played, kills: kills + interruptions.kills }
}
