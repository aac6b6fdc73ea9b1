import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Home } from "./home.ts"
import { bash, type ScriptedCall } from "./model-script.ts"
import { until } from "./wait.ts"

/** How long a slow command sleeps: long after the model's stream has ended and the host knows that it must compact. */
export const SLOW_COMMAND_MS = 3_000

const LEDGER = "ledger.txt"

/**
 * A shell command that leaves traces of its own course on disk. The host rewrites the times of a tool when it settles, so
 * only such traces say when a command ran and whether it ran to its end.
 */
export class TracedCommand {
  readonly callID: string
  readonly call: ScriptedCall
  readonly #home: Home

  private constructor(home: Home, callID: string, body: string) {
    this.#home = home
    this.callID = callID
    const trace = `"$TMPDIR/${callID}`
    const lines = [
      `echo $$ > ${trace}.pid"`,
      `: > ${trace}.started"`,
      body,
      `: > ${trace}.ended"`,
      `echo "${callID} done"`,
    ]
    this.call = bash(lines.join(" && "), callID)
  }

  /** Sleeps, then appends its name to the ledger. */
  static slow(home: Home, callID: string): TracedCommand {
    return new TracedCommand(home, callID, `sleep ${SLOW_COMMAND_MS / 1000} && echo ${callID} >> ${LEDGER}`)
  }

  /** Goes on only when it is let go, but not for longer than a minute. */
  static waiting(home: Home, callID: string): TracedCommand {
    const wait = `n=0; until [ -e "$TMPDIR/${callID}.go" ] || [ $n -ge 1200 ]; do n=$((n+1)); sleep 0.05; done`
    return new TracedCommand(home, callID, `{ ${wait}; }`)
  }

  get startedAt(): number | undefined {
    return this.#timeOf("started")
  }

  get endedAt(): number | undefined {
    return this.#timeOf("ended")
  }

  /** Its shell, and only while that is still there. */
  get runningPid(): number | undefined {
    if (!existsSync(this.#trace("pid"))) return undefined
    const pid = Number(readFileSync(this.#trace("pid"), "utf8"))
    try {
      process.kill(pid, 0)
      return pid
    } catch {
      return undefined
    }
  }

  /** Often enough in the ledger to tell a replay. */
  get appends(): number {
    return readLedger(this.#home).filter((line) => line === this.callID).length
  }

  async waitUntilStarted(): Promise<void> {
    await until(`${this.callID} started`, 60_000, () => this.startedAt)
  }

  letGo(): void {
    writeFileSync(this.#trace("go"), "")
  }

  #timeOf(trace: string): number | undefined {
    const file = this.#trace(trace)
    return existsSync(file) ? statSync(file).mtimeMs : undefined
  }

  #trace(kind: string): string {
    return this.#home.path("tmp", `${this.callID}.${kind}`)
  }
}

export function readLedger(home: Home): string[] {
  const file = join(home.project, LEDGER)
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []
}
