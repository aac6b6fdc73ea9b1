import { spawn, type ChildProcess } from "node:child_process"
import { readFileSync } from "node:fs"
import type { HostBinary } from "./host-binary.ts"
import type { Home } from "./home.ts"
import { disownProcess, ownProcess } from "./leftovers.ts"
import { settles, until, within } from "./wait.ts"

const MAX_LOG_CHARS = 16_000_000

/** One run of `opencode serve`. */
export class HostProcess {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  #stdout = ""
  #stderr = ""

  private constructor(child: ChildProcess, pid: number) {
    this.pid = pid
    this.#child = child
    this.#ended = new Promise((resolve) => child.once("close", () => resolve()))
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.#stdout = keepTail(this.#stdout + text)))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#stderr = keepTail(this.#stderr + text)))
  }

  static async start(binary: HostBinary, home: Home, env: Record<string, string>): Promise<[HostProcess, string]> {
    const args = ["serve", "--hostname", "127.0.0.1", "--port", "0", "--print-logs", "--log-level", "DEBUG"]
    const child = spawn(binary.file, args, { cwd: home.project, env, stdio: ["ignore", "pipe", "pipe"] })
    if (child.pid === undefined) throw new Error(`${binary.file} could not be started`)
    ownProcess(child.pid)
    const host = new HostProcess(child, child.pid)
    try {
      return [host, await until("the host's address", 60_000, () => host.#readAddress())]
    } catch (error) {
      await host.kill("SIGKILL")
      throw error
    }
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resident memory; `undefined` where the system has no /proc. */
  get residentBytes(): number | undefined {
    return this.#readStatusBytes("VmRSS")
  }

  /** The most resident memory so far. */
  get peakResidentBytes(): number | undefined {
    return this.#readStatusBytes("VmHWM")
  }

  /** Ends it, politely for `patienceMs` unless the signal is SIGKILL, and waits until it has ended. */
  async kill(signal: "SIGTERM" | "SIGKILL", patienceMs = 5_000): Promise<void> {
    if (this.running) this.#child.kill(signal)
    if (!(await settles(patienceMs, this.#ended))) this.#child.kill("SIGKILL")
    await within("the end of the host", patienceMs, this.#ended)
    disownProcess(this.pid)
  }

  #readStatusBytes(field: "VmRSS" | "VmHWM"): number | undefined {
    if (process.platform !== "linux" || !this.running) return undefined
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8")
    const kilobytes = new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  }

  #readAddress(): string | undefined {
    if (!this.running) throw new Error(`the host ended at start\n${this.#stdout}\n${this.#stderr}`)
    return /listening on (http:\/\/\S+)/.exec(this.#stdout)?.[1]
  }
}

const keepTail = (text: string): string => (text.length > MAX_LOG_CHARS ? text.slice(-MAX_LOG_CHARS) : text)
