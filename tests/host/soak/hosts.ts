import type { HostBinary } from "../host-binary.ts"
import type { HostEvent } from "../host-events.ts"
import { Host } from "../host.ts"
import type { Home } from "../home.ts"
import { readLogRecord } from "./log-record.ts"
import type { LogRecord } from "./record-types.ts"

export interface HostsSetup {
  home: Home
  binary: HostBinary
  config: Record<string, unknown>
  count: number
}

/** Several hosts that live at once on one home and one database. */
export class Hosts {
  readonly #setup: HostsSetup
  readonly #hosts: Host[]
  #logs: LogRecord[] = []
  #lateEvents: HostEvent[] = []

  private constructor(setup: HostsSetup, hosts: Host[]) {
    this.#setup = setup
    this.#hosts = hosts
  }

  static async start(setup: HostsSetup): Promise<Hosts> {
    const hosts: Host[] = []
    // One after the other: the first makes the database.
    for (let index = 0; index < setup.count; index++) hosts.push(await startHost(setup))
    return new Hosts(setup, hosts)
  }

  at(index: number): Host {
    const host = this.#hosts[index]
    if (host === undefined) throw new Error(`there is no host ${index}`)
    return host
  }

  /** Without warning. */
  async kill(index: number): Promise<void> {
    const host = this.at(index)
    await host.stop("SIGKILL")
    this.#keepTraces(host)
  }

  async revive(index: number): Promise<void> {
    this.#hosts[index] = await startHost(this.#setup)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.stop("SIGTERM")))
    for (const host of this.#hosts) this.#keepTraces(host)
  }

  /** What was not given out before. */
  takeEvents(): HostEvent[] {
    const events = [...this.#lateEvents, ...this.#hosts.flatMap((host) => host.events.all.splice(0))]
    this.#lateEvents = []
    return events
  }

  /** Of the hosts that have ended since the last time. */
  takeLogs(): LogRecord[] {
    const logs = this.#logs
    this.#logs = []
    return logs
  }

  #keepTraces(host: Host): void {
    this.#logs.push(readLogRecord(host.log, host.stdout))
    this.#lateEvents.push(...host.events.all.splice(0))
  }
}

const startHost = async ({ home, binary, config }: HostsSetup): Promise<Host> => Host.start({ home, binary, config })
