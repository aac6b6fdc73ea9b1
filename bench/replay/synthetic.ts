import type { Message, Part } from "../../lib/dtc/types.ts"
import type { Session } from "./session.ts"

/**
 * Made-up sessions of plausible shapes, the same for the same seed: they let the benchmark run anywhere. Their numbers
 * say nothing about real work.
 */
export function generateSessions(seed = 1): Session[] {
  return [
    { name: "synthetic-reading", messages: writeReadingTask(new Script(seed)) },
    { name: "synthetic-polling", messages: writePollingLoop(new Script(seed + 1)) },
    { name: "synthetic-editing", messages: writeEditingTask(new Script(seed + 2)) },
  ]
}

/** A long task that reads widely, a third of it again. */
function writeReadingTask(script: Script): Message[] {
  script.user("Explain how orders move through the service.")
  for (let step = 0; step < 110; step++) {
    const file = script.random() < 0.35 ? script.whole(Math.max(1, step)) : step
    const lines = 60 + ((file * 37) % 240)
    const calls = [script.read(`/srv/shop/src/module${file}.ts`, file, lines)]
    if (step % 4 === 0) calls.push(script.search(`handler${step % 12}`, step))
    script.step(calls)
    if (step % 40 === 39) script.user("Go on with the next part.")
  }
  return script.messages
}

/** Waits for a build: the same command and the same file over and over, between a few edits. */
function writePollingLoop(script: Script): Message[] {
  script.user("Get the build green.")
  for (let step = 0; step < 160; step++) {
    if (step % 10 === 0) script.step([script.edit("/srv/shop/build.ts", step)])
    else if (step % 3 === 0) script.step([script.read("/srv/shop/build.log", Math.floor(step / 20), 90)])
    else script.step([script.shell("make check", step, 60 + script.whole(120), step % 17 === 0 ? 1 : 0)])
  }
  return script.messages
}

/** Edits a handful of files and reads them again; the session is compacted halfway. */
function writeEditingTask(script: Script): Message[] {
  script.user("Rename the pricing rules.")
  for (let step = 0; step < 170; step++) {
    const file = script.whole(14)
    const revision = Math.floor(step / 9)
    if (step === 85) script.compact()
    const filePath = `/srv/shop/rules/rule${file}.ts`
    if (step % 3 === 2) script.step([script.edit(filePath, step)])
    else script.step([script.read(filePath, file * 100 + revision, 120 + file * 12)])
    if (step % 25 === 24) script.user("Now the tests.")
  }
  return script.messages
}

const WORDS =
  "order price rule total handler request queue retry amount currency invoice batch limit cursor token".split(" ")

const STEP_MS = 20_000

/** Writes a session message by message; every choice comes from its seed. */
class Script {
  readonly messages: Message[] = []
  private state: number
  private timeMs = 1_700_000_000_000

  constructor(seed: number) {
    this.state = seed
  }

  /** Mulberry32: in [0, 1). */
  random(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  whole(below: number): number {
    return Math.floor(this.random() * below)
  }

  user(text: string): void {
    this.add("user", [{ type: "text", text }], { model: { providerID: "example", modelID: "example-1" } })
  }

  step(calls: Fields[]): void {
    const text = { type: "text", text: this.sentence() }
    this.add("assistant", [{ type: "step-start" }, text, ...calls, { type: "step-finish" }], { finish: "tool-calls" })
  }

  compact(): void {
    this.add("user", [{ type: "compaction", auto: true }], {})
    const parentID = this.messages.at(-1)?.info.id
    const text = { type: "text", text: this.lines(0, 40) }
    this.add("assistant", [{ type: "step-start" }, text], { summary: true, finish: "stop", parentID })
  }

  read(filePath: string, content: number, lines: number): Fields {
    return call("read", { filePath }, this.lines(content, lines), {})
  }

  search(pattern: string, content: number): Fields {
    return call("grep", { pattern, path: "/srv/shop/src" }, this.lines(content, 30), {})
  }

  shell(command: string, content: number, lines: number, exit: number): Fields {
    return call("bash", { command }, this.lines(content, lines), { exit })
  }

  edit(filePath: string, content: number): Fields {
    const input = { filePath, oldString: this.lines(content, 6), newString: this.lines(content + 1, 6) }
    return call("edit", input, "Edit applied successfully.", {})
  }

  /** The same text for the same content number. */
  private lines(content: number, count: number): string {
    const writer = new Script(content * 7_919 + 17)
    return Array.from({ length: count }, (_line, index) => `${index + 1}: ${writer.sentence()}`).join("\n")
  }

  private sentence(): string {
    return Array.from({ length: 6 + this.whole(5) }, () => WORDS[this.whole(WORDS.length)]).join(" ")
  }

  private add(role: string, parts: Fields[], info: Fields): void {
    const number = String(this.messages.length).padStart(5, "0")
    const id = `msg_${number}`
    this.timeMs += STEP_MS
    this.messages.push({
      info: { id, sessionID: "ses_synthetic", role, time: { created: this.timeMs }, ...info },
      parts: parts.map((part, index) => withIDs(part, id, `${number}_${index}`)),
    })
  }
}

type Fields = Record<string, unknown>

function call(tool: string, input: Fields, output: string, metadata: Fields): Fields {
  const state = { status: "completed", input, output, title: tool, metadata, time: { start: 1, end: 2 } }
  return { type: "tool", tool, state }
}

function withIDs(part: Fields, messageID: string, number: string): Part {
  const callID = part["type"] === "tool" ? { callID: `call_${number}` } : {}
  return { id: `prt_${number}`, sessionID: "ses_synthetic", messageID, type: "", ...callID, ...part }
}
