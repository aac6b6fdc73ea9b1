import type { Console } from "./console.ts"

/** Where nobody watches a line change, a word this often is enough. */
const QUIET_MS = 5_000
const REDRAW_MS = 100

/** Says on standard error what takes so long; nothing at all when it does not, unless it is a terminal. */
export class Progress {
  private readonly console: Pick<Console, "err" | "clock">
  private saidAt: number
  private said = ""
  private drawn = false

  constructor(console: Pick<Console, "err" | "clock">) {
    this.console = console
    this.saidAt = console.clock()
  }

  /** `done`: share, from 0 to 1; absent when there is no knowing. */
  say(what: string, done?: number): void {
    const { err, clock } = this.console
    const now = clock()
    const isNew = err.isTTY && what !== this.said
    if (!isNew && now - this.saidAt < (err.isTTY ? REDRAW_MS : QUIET_MS)) return
    this.saidAt = now
    this.said = what
    const text = done === undefined ? `${what} …` : `${what} ${Math.floor(done * 100)} %`
    err.write(err.isTTY ? `\r\u001B[K${text}` : `${text}\n`)
    this.drawn = err.isTTY
  }

  /** Leaves the terminal's line empty for what comes. */
  clear(): void {
    if (this.drawn) this.console.err.write("\r\u001B[K")
    this.drawn = false
  }
}
