import { sleep } from "../wait.ts"
import { outcomeOf } from "./outcomes.ts"
import type { Interruption, PlannedTurn } from "./plan-types.ts"
import type { ActRecord } from "./record-types.ts"
import type { StageContext } from "./stage-context.ts"

/** What is done to the turns of one round from outside, while they run. */
export class Interruptions {
  readonly #stage: StageContext
  readonly #running: Promise<void>[] = []
  readonly #killed = new Set<number>()
  readonly acts: ActRecord[] = []

  constructor(stage: StageContext) {
    this.#stage = stage
  }

  get kills(): number {
    return this.#killed.size
  }

  interrupt({ kind, delayMs }: Omit<Interruption, "at">, hostIndex: number, sessionID: string): void {
    this.#running.push(
      sleep(delayMs).then(async () => {
        const { hosts } = this.#stage.rooms
        if (kind === "abort") await hosts.at(hostIndex).abort(sessionID)
        else {
          this.#killed.add(hostIndex)
          await hosts.kill(hostIndex)
        }
      }),
    )
  }

  /** A prompt more for a session that is busy. */
  queue({ key, host, queued }: PlannedTurn, sessionID: string): void {
    if (queued === undefined) return
    const answer = this.#stage.rooms.hosts
      .at(host)
      .promptAsync(sessionID, `And ${key}, please.`, { model: queued.model })
    this.#running.push(
      outcomeOf(answer).then((outcome) => void this.acts.push({ key: `${key} queue`, kind: "queue", outcome })),
    )
  }

  /** Until all is done, with the killed hosts alive again. */
  async settle(): Promise<void> {
    await Promise.all(this.#running)
    await Promise.all([...this.#killed].map((index) => this.#stage.rooms.hosts.revive(index)))
  }
}
