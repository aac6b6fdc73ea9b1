import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import type { Checked, MemorySample, RoundRecord, SessionRecord, Trace } from "./record-types.ts"
import type { Sight } from "./watch.ts"

/** Outside any repository, so that a run goes on from any checkout. */
export function defaultStateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const stated = env["XDG_STATE_HOME"] ?? ""
  return join(isAbsolute(stated) ? stated : join(homedir(), ".local", "state"), "opencode-dcp", "soak")
}

export type JournalLine =
  | { type: "stage"; at: string; hostVersion: string }
  | { type: "session"; session: SessionRecord }
  | { type: "begun"; round: number }
  | { type: "round"; record: RoundRecord }
  | { type: "trace"; trace: Trace }
  | { type: "checked"; checked: Checked }

/** What is known of one run. Every line is written as soon as it is true, so that a stage can end at any moment. */
export class Journal {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
    mkdirSync(folder, { recursive: true })
  }

  get homeFolder(): string {
    return join(this.folder, "home")
  }

  append(line: JournalLine): void {
    this.#append("journal.jsonl", [line])
  }

  appendSights(sights: readonly Sight[]): void {
    this.#append("sights.jsonl", sights)
  }

  appendSamples(samples: readonly MemorySample[]): void {
    this.#append("memory.jsonl", samples)
  }

  readLines(): JournalLine[] {
    return this.#read("journal.jsonl") as JournalLine[]
  }

  readSights(): Sight[] {
    return this.#read("sights.jsonl") as Sight[]
  }

  readSamples(): MemorySample[] {
    return this.#read("memory.jsonl") as MemorySample[]
  }

  #append(name: string, lines: readonly unknown[]): void {
    if (lines.length > 0)
      appendFileSync(join(this.folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  }

  #read(name: string): unknown[] {
    const file = join(this.folder, name)
    const text = existsSync(file) ? readFileSync(file, "utf8") : ""
    return text.split("\n").flatMap((line): unknown[] => (line === "" ? [] : [JSON.parse(line)]))
  }
}
