import type { Home } from "../home.ts"
import type { Host } from "../host.ts"
import type { ModelServer } from "../model-server.ts"
import type { Hosts } from "./hosts.ts"
import type { Journal, JournalLine } from "./journal.ts"
import type { Plan } from "./plan-types.ts"
import type { PluginSwitch } from "./planned-call.ts"
import { takeLine, type Progress } from "./progress.ts"
import type { SessionRecord } from "./record-types.ts"
import type { Watch } from "./watch.ts"

export interface StageRooms {
  plan: Plan
  plugin: PluginSwitch
  home: Home
  hosts: Hosts
  model: ModelServer
  watch: Watch
  journal: Journal
  progress: Progress
}

/** What the rounds of one stage work with. */
export class StageContext {
  readonly rooms: StageRooms
  /** The host that serves a session now, by the session's id. */
  readonly servedBy = new Map<string, Host>()

  constructor(rooms: StageRooms) {
    this.rooms = rooms
    for (const { id, session } of rooms.progress.sessions.values()) rooms.watch.know(id, session)
  }

  /** Creates it when it is asked for the first time. */
  async findSession(session: number, host: Host): Promise<string> {
    const known = this.rooms.progress.sessions.get(session)
    if (known !== undefined) return known.id
    const { id } = await host.createSession(`soak ${session}`)
    this.keepSession({ session, id })
    return id
  }

  keepSession(record: SessionRecord): void {
    this.rooms.watch.know(record.id, record.session)
    this.write({ type: "session", session: record })
  }

  write(line: JournalLine): void {
    this.rooms.journal.append(line)
    takeLine(this.rooms.progress, line)
  }

  /** Everything that was seen since the last time. */
  writeTrace(): void {
    const { hosts, journal, watch } = this.rooms
    watch.seeEvents(hosts.takeEvents())
    journal.appendSights(watch.takeFresh())
    this.write({ type: "trace", trace: { ...watch.takeTrace(), logs: hosts.takeLogs() } })
  }
}
