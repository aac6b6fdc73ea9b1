import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { run } from "./executables.ts"
import type { HostBinary } from "./host-binary.ts"
import { HostEvents } from "./host-events.ts"
import { HostProcess } from "./host-process.ts"
import { seedPluginDependency, type Home } from "./home.ts"
import { readHttp } from "./http-client.ts"
import { listOf, parseJson, recordOf, textOf } from "./json.ts"
import { sessionOf, storedMessageOf, type ExportedSession, type Session, type StoredMessage } from "./stored.ts"
import { until } from "./wait.ts"

export interface HostOptions {
  home: Home
  binary: HostBinary
  /** The content of `opencode.json`. */
  config: Record<string, unknown>
  /** Laid over the isolated environment, e.g. experimental flags. */
  env?: Record<string, string>
}

export interface PromptOptions {
  /** `provider/model`; absent: the configured one. */
  model?: string
  agent?: string
  /** In place of a single text part. */
  parts?: readonly unknown[]
  timeoutMs?: number
}

export class HostRefusal extends Error {
  override name = "HostRefusal"
  readonly status: number

  constructor(request: string, status: number, body: string) {
    super(`${request} answered ${status}: ${body.slice(0, 800)}`)
    this.status = status
  }
}

/** A real host in a throw-away home, driven by its public HTTP API. */
export class Host {
  readonly home: Home
  readonly binary: HostBinary
  readonly #env: Record<string, string>
  #process: HostProcess
  #url: string
  #events: HostEvents

  private constructor(options: HostOptions, process: HostProcess, url: string, events: HostEvents) {
    this.home = options.home
    this.binary = options.binary
    this.#env = environmentOf(options)
    this.#process = process
    this.#url = url
    this.#events = events
  }

  static async start(options: HostOptions): Promise<Host> {
    const { home, binary, config } = options
    writeFileSync(join(home.project, "opencode.json"), JSON.stringify(config, null, 2))
    seedPluginDependency(home.path("config", "opencode"), binary.version)
    const [process, url] = await HostProcess.start(binary, home, environmentOf(options))
    const events = await HostEvents.open(addressOf(url, "/event", home.project))
    return new Host(options, process, url, events)
  }

  get pid(): number {
    return this.#process.pid
  }

  get events(): HostEvents {
    return this.#events
  }

  /** The host's log with what plugins wrote to it; of the present run only. */
  get log(): string {
    return this.#process.stderr
  }

  get stdout(): string {
    return this.#process.stdout
  }

  get residentBytes(): number | undefined {
    return this.#process.residentBytes
  }

  get peakResidentBytes(): number | undefined {
    return this.#process.peakResidentBytes
  }

  async createSession(title = "scenario", fields: Record<string, unknown> = {}): Promise<Session> {
    return sessionOf(await this.call("POST", "/session", { title, ...fields }))
  }

  async readSession(sessionID: string): Promise<Session> {
    return sessionOf(await this.call("GET", `/session/${sessionID}`))
  }

  /** Of this project, the newest first. The host answers a hundred unless it is asked for more. */
  async listSessions(limit = 1_000): Promise<Session[]> {
    return listOf(await this.call("GET", `/session?limit=${limit}`)).map(sessionOf)
  }

  async readChildren(sessionID: string): Promise<Session[]> {
    return listOf(await this.call("GET", `/session/${sessionID}/children`)).map(sessionOf)
  }

  /** Answers when the whole turn is over, tools included. */
  async prompt(sessionID: string, text: string, options: PromptOptions = {}): Promise<StoredMessage> {
    const path = `/session/${sessionID}/message`
    return storedMessageOf(await this.call("POST", path, promptBody(text, options), options.timeoutMs ?? 180_000))
  }

  /** Answers at once; a session that is busy queues it. */
  async promptAsync(sessionID: string, text: string, options: PromptOptions = {}): Promise<void> {
    await this.call("POST", `/session/${sessionID}/prompt_async`, promptBody(text, options))
  }

  async readMessages(sessionID: string): Promise<StoredMessage[]> {
    return listOf(await this.call("GET", `/session/${sessionID}/message`)).map(storedMessageOf)
  }

  async summarize(sessionID: string, model: string): Promise<void> {
    await this.call("POST", `/session/${sessionID}/summarize`, modelRef(model), 120_000)
  }

  async abort(sessionID: string): Promise<void> {
    await this.call("POST", `/session/${sessionID}/abort`, {})
  }

  /** Everything before `messageID`, or the whole session. */
  async fork(sessionID: string, messageID?: string): Promise<Session> {
    return sessionOf(
      await this.call("POST", `/session/${sessionID}/fork`, messageID === undefined ? {} : { messageID }),
    )
  }

  async revert(sessionID: string, messageID: string, partID?: string): Promise<Session> {
    const target = partID === undefined ? { messageID } : { messageID, partID }
    return sessionOf(await this.call("POST", `/session/${sessionID}/revert`, target))
  }

  async unrevert(sessionID: string): Promise<Session> {
    return sessionOf(await this.call("POST", `/session/${sessionID}/unrevert`, {}))
  }

  async deleteSession(sessionID: string): Promise<void> {
    await this.call("DELETE", `/session/${sessionID}`)
  }

  async isBusy(sessionID: string): Promise<boolean> {
    const status = recordOf(recordOf(await this.call("GET", "/session/status"))[sessionID])
    return status["type"] !== undefined && status["type"] !== "idle"
  }

  async waitUntilIdle(sessionID: string, timeoutMs = 120_000): Promise<void> {
    await until(`session ${sessionID} idle`, timeoutMs, async () => !(await this.isBusy(sessionID)))
  }

  async waitUntilBusy(sessionID: string, timeoutMs = 30_000): Promise<void> {
    await until(`session ${sessionID} busy`, timeoutMs, () => this.isBusy(sessionID), 10)
  }

  /** Through the command line and without plugins: what the database holds. A pipe would get a part of a long export. */
  async exportSession(sessionID: string): Promise<ExportedSession> {
    const args = ["export", sessionID, "--pure"]
    const result = await run(this.binary.file, args, {
      cwd: this.home.project,
      env: this.#env,
      stdoutFile: this.home.path("tmp", `${sessionID}.json`),
    })
    if (result.code !== 0)
      throw new Error(`opencode ${args.join(" ")} ended with ${result.code}: ${result.stderr.slice(-2000)}`)
    const exported = parseJson(result.stdout)
    if (exported === undefined)
      throw new Error(`opencode ${args.join(" ")} wrote ${result.stdout.length} characters, not JSON`)
    const { info, messages } = recordOf(exported)
    return { info: sessionOf(info), messages: listOf(messages).map(storedMessageOf) }
  }

  /** Ends it without warning and starts it again on the same home and database. */
  async restart(signal: "SIGTERM" | "SIGKILL" = "SIGKILL"): Promise<void> {
    await this.stop(signal)
    const [process, url] = await HostProcess.start(this.binary, this.home, this.#env)
    this.#process = process
    this.#url = url
    this.#events = await HostEvents.open(addressOf(url, "/event", this.home.project))
  }

  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    this.#events.close()
    await this.#process.kill(signal)
  }

  /** Any route of the public API. */
  async call(method: string, path: string, body?: unknown, timeoutMs = 30_000): Promise<unknown> {
    const name = `${method} ${path}`
    const url = addressOf(this.#url, path, this.home.project)
    const { status, text } = await readHttp({ method, url, body, timeoutMs }).catch((error: unknown) => {
      throw new Error(`${name} failed`, { cause: error })
    })
    if (status < 200 || status > 299) throw new HostRefusal(name, status, text)
    return parseJson(text)
  }
}

const environmentOf = ({ home, env }: HostOptions): Record<string, string> => ({ ...home.env, ...env })

function addressOf(url: string, path: string, project: string): string {
  const address = new URL(path, url)
  address.searchParams.set("directory", project)
  return address.href
}

function promptBody(text: string, { model, agent, parts }: PromptOptions): unknown {
  return {
    parts: parts ?? [{ type: "text", text }],
    ...(model === undefined ? {} : { model: modelRef(model) }),
    ...(agent === undefined ? {} : { agent }),
  }
}

function modelRef(model: string): { providerID: string; modelID: string } {
  const slash = model.indexOf("/")
  return { providerID: model.slice(0, slash), modelID: model.slice(slash + 1) }
}

/** The name of an error that ended an assistant message, e.g. `ContextOverflowError`. */
export const errorName = (message: StoredMessage): string => textOf(recordOf(recordOf(message.info)["error"])["name"])
