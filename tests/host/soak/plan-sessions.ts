import type { Draw } from "../../fuzz/mutate.ts"
import { pickOne } from "./choose.ts"

const FORK_SHARE = 0.3

/** Which sessions there are as the plan goes on, by number: first the ordinary ones, then the forks. */
export class Sessions {
  readonly #ordinary: number
  readonly #draw: Draw
  readonly #turns: number[]

  constructor(ordinary: number, draw: Draw) {
    this.#ordinary = ordinary
    this.#draw = draw
    this.#turns = Array.from({ length: ordinary }, () => 0)
  }

  get forkCount(): number {
    return this.#turns.length - this.#ordinary
  }

  all(): number[] {
    return [...this.#turns.keys()]
  }

  used(): number[] {
    return this.all().filter((session) => this.#turnsOf(session) > 0)
  }

  addFork(): number {
    this.#turns.push(0)
    return this.#turns.length - 1
  }

  /** Different ones: the ordinary sessions evenly, a fork at times and surely when it is new. */
  choose(count: number, except: readonly number[]): number[] {
    const chosen: number[] = []
    while (chosen.length < Math.min(count, this.#ordinary)) {
      const free = this.all().filter((session) => !chosen.includes(session) && !except.includes(session))
      if (free.length === 0) break
      const session = this.#chooseFrom(free)
      chosen.push(session)
      this.#turns[session] = this.#turnsOf(session) + 1
    }
    return this.#shuffle(chosen)
  }

  #chooseFrom(free: readonly number[]): number {
    const forks = free.filter((session) => session >= this.#ordinary)
    const unused = forks.find((session) => this.#turnsOf(session) === 0)
    if (unused !== undefined) return unused
    const ordinary = free.filter((session) => session < this.#ordinary)
    if (ordinary.length === 0 || (forks.length > 0 && this.#draw() < FORK_SHARE / 2)) return pickOne(forks, this.#draw)
    const fewest = Math.min(...ordinary.map((session) => this.#turnsOf(session)))
    return pickOne(
      ordinary.filter((session) => this.#turnsOf(session) === fewest),
      this.#draw,
    )
  }

  #shuffle(sessions: readonly number[]): number[] {
    return sessions
      .map((session) => ({ session, at: this.#draw() }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ session }) => session)
  }

  #turnsOf = (session: number): number => this.#turns[session] ?? 0
}
