import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import { anthropicReply } from "./anthropic-reply.ts"
import { listOf, parseJson, recordOf, tokensOfBytes, utf8Bytes, type JsonRecord } from "./json.ts"
import { readMessages, readSystemText, type Api, type ModelRequest } from "./model-request.ts"
import {
  honestUsage,
  type Answer,
  type Lane,
  type Script,
  type Step,
  type Usage,
  type UsageReport,
} from "./model-script.ts"
import { openaiReply } from "./openai-reply.ts"
import type { OutgoingCall, ReplyWriter } from "./reply-writer.ts"
import { sleep, within } from "./wait.ts"

export interface ModelServerOptions {
  /** Absent: `honestUsage`. */
  usage?: UsageReport
  /** A request whose JSON of messages and tools exceeds this is refused as `context_length_exceeded`. */
  inputLimitTokens?: number
  /** The answer of a lane whose script is used up. */
  defaults?: Partial<Record<Lane, Step>>
  /** Sees each request as it arrives, before it is answered. */
  onRequest?: (request: ModelRequest) => void
}

interface Waiter {
  matches: (request: ModelRequest) => boolean
  found: (request: ModelRequest) => void
}

const ignoreRequest = (_request: ModelRequest): void => {}

type QueuedScript = (Step | Answer)[] | Answer

const DEFAULT_ANSWERS: Record<Lane, Step> = {
  main: { text: "All steps of the script are done." },
  sub: { text: "The subtask is done." },
  title: { text: "Scripted session" },
  compaction: { text: "## Goal\nContinue the scripted work.\n\n## Progress\nEarlier steps succeeded." },
}

const REPLY_WRITERS: Record<Api, ReplyWriter> = { openai: openaiReply, anthropic: anthropicReply }

const NO_USAGE: Usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }

/** A model endpoint on the loopback interface that answers from scripts and records every request. */
export class ModelServer {
  readonly requests: ModelRequest[] = []
  /** Requests to other paths than the two APIs', as "METHOD path". */
  readonly strayRequests: string[] = []
  readonly #options: ModelServerOptions
  readonly #server = createServer((request, response) => void this.#receive(request, response))
  readonly #scripts = new Map<string, QueuedScript[]>()
  readonly #waiters = new Set<Waiter>()
  #callCount = 0

  private constructor(options: ModelServerOptions) {
    this.#options = options
  }

  static async start(options: ModelServerOptions = {}): Promise<ModelServer> {
    const server = new ModelServer(options)
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve))
    return server
  }

  /** For both APIs. */
  get baseURL(): string {
    const address = this.#server.address()
    if (address === null || typeof address === "string") throw new Error("the model server is not listening")
    return `http://127.0.0.1:${address.port}/v1`
  }

  /** Adds to what a lane will answer. A session with a script of its own never uses the shared one of that lane. */
  script(lane: Lane, script: Script, sessionID?: string): void {
    const key = scriptKey(lane, sessionID)
    const own = typeof script === "function" ? script : [...script]
    this.#scripts.set(key, [...(this.#scripts.get(key) ?? []), own])
  }

  /** Forgets what a lane has not answered yet. */
  clearScript(lane: Lane, sessionID?: string): void {
    this.#scripts.delete(scriptKey(lane, sessionID))
  }

  /** Lets go of what was recorded, for runs that would outgrow the memory. Counting starts anew. */
  forgetRequests(): void {
    this.requests.length = 0
  }

  /** Steps of a lane that were not used; a function counts as none. */
  countUnusedSteps(lane: Lane, sessionID?: string): number {
    const scripts = this.#scripts.get(scriptKey(lane, sessionID)) ?? []
    return scripts.reduce((sum, script) => sum + (typeof script === "function" ? 0 : script.length), 0)
  }

  requestsOf(lane: Lane, sessionID?: string): ModelRequest[] {
    return this.requests.filter(
      (request) => request.lane === lane && (sessionID === undefined || request.sessionID === sessionID),
    )
  }

  /** The first recorded or coming request that `matches`, at the moment it arrives. */
  async waitForRequest(
    what: string,
    matches: (request: ModelRequest) => boolean,
    timeoutMs = 30_000,
  ): Promise<ModelRequest> {
    const recorded = this.requests.find(matches)
    if (recorded !== undefined) return recorded
    const waiter: Waiter = { matches, found: ignoreRequest }
    const coming = new Promise<ModelRequest>((resolve) => (waiter.found = resolve))
    this.#waiters.add(waiter)
    return within(`model request ${what}`, timeoutMs, coming).finally(() => this.#waiters.delete(waiter))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await readBody(incoming)
    const path = (incoming.url ?? "").split("?")[0] ?? ""
    const api = path.endsWith("/chat/completions") ? "openai" : path.endsWith("/messages") ? "anthropic" : undefined
    if (incoming.method !== "POST" || api === undefined) {
      this.strayRequests.push(`${incoming.method} ${path}`)
      response.writeHead(404, { "content-type": "application/json" }).end("{}")
      return
    }
    const request = this.#record(api, raw, incoming.headers)
    try {
      await this.#answer(request, response)
    } catch (error) {
      response.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #record(api: Api, raw: string, headers: IncomingHttpHeaders): ModelRequest {
    const body = recordOf(parseJson(raw))
    const bytes = utf8Bytes(raw)
    const request: ModelRequest = {
      number: this.requests.length + 1,
      index: 0,
      at: Date.now(),
      api,
      lane: "main",
      sessionID: String(headers["x-session-id"] ?? ""),
      parentSessionID: headers["x-parent-session-id"]?.toString(),
      headers: hideCredentials(headers),
      body,
      bytes,
      tokens: tokensOfBytes(bytes),
      reply: undefined,
    }
    request.lane = classifyLane(request)
    request.index = this.requestsOf(request.lane, request.sessionID).length
    this.requests.push(request)
    this.#options.onRequest?.(request)
    for (const waiter of this.#waiters) if (waiter.matches(request)) waiter.found(request)
    return request
  }

  async #answer(request: ModelRequest, response: ServerResponse): Promise<void> {
    const writer = REPLY_WRITERS[request.api]
    const limit = this.#options.inputLimitTokens
    const tokens = inputTokens(request.body)
    if (limit !== undefined && tokens > limit) {
      const step = { fail: { status: 400, body: writer.overflowBody(tokens, limit) } }
      return refuse(request, response, step)
    }
    const step = this.#takeStep(request)
    if (step.delayMs !== undefined) await sleep(step.delayMs)
    if (step.fail !== undefined)
      return refuse(request, response, { fail: { body: writer.failureBody(step.fail.status), ...step.fail } })
    await this.#stream(request, response, step, writer)
  }

  #takeStep(request: ModelRequest): Step {
    const own = this.#scripts.get(scriptKey(request.lane, request.sessionID))
    const scripts = own ?? this.#scripts.get(scriptKey(request.lane)) ?? []
    return takeStepFrom(scripts, request) ?? this.#options.defaults?.[request.lane] ?? DEFAULT_ANSWERS[request.lane]
  }

  async #stream(request: ModelRequest, response: ServerResponse, step: Step, writer: ReplyWriter): Promise<void> {
    const model = String(request.body["model"])
    const calls = (step.tools ?? []).map((one) => ({
      id: one.id ?? `${writer.callPrefix}${String(++this.#callCount).padStart(4, "0")}`,
      name: one.name,
      args: one.args,
      rawArgs: one.rawArgs,
    }))
    const reply = { step, status: 200, calls, usage: this.#reportUsage(request, step, calls), complete: false }
    request.reply = reply
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
    writer.start(response, model, reply)
    if (step.reasoning !== undefined) writer.reasoning(response, model, step.reasoning)
    if (step.text !== undefined) writer.text(response, model, step.text)
    if (step.hang === true) return await new Promise((resolve) => response.once("close", resolve))
    if (step.pauseMs !== undefined) await sleep(step.pauseMs)
    writer.calls(response, model, calls)
    writer.finish(response, model, reply)
    reply.complete = !response.destroyed
    response.end()
  }

  #reportUsage(request: ModelRequest, step: Step, calls: readonly OutgoingCall[]): Usage {
    const replyBytes = utf8Bytes([step.text, step.reasoning, JSON.stringify(calls)].join(""))
    const report = (this.#options.usage ?? honestUsage)(request, replyBytes)
    return { ...NO_USAGE, ...report, ...step.usage }
  }
}

/** ceil(UTF-8 bytes of the JSON of messages and tools / 4): what the hard input limit judges. */
export const inputTokens = (body: JsonRecord): number =>
  tokensOfBytes(utf8Bytes(JSON.stringify({ messages: body["messages"], tools: body["tools"] })))

const scriptKey = (lane: Lane, sessionID = "*"): string => `${lane} ${sessionID}`

function takeStepFrom(scripts: QueuedScript[], request: ModelRequest): Step | undefined {
  for (const script of scripts) {
    if (typeof script !== "function" && script.length === 0) continue
    const entry = typeof script === "function" ? script : script.shift()
    const step = typeof entry === "function" ? entry(request) : entry
    if (step !== undefined) return step
  }
  return undefined
}

function refuse(request: ModelRequest, response: ServerResponse, step: Step): void {
  const fail = step.fail ?? { status: 500 }
  request.reply = { step, status: fail.status, calls: [], usage: NO_USAGE, complete: true }
  response.writeHead(fail.status, { "content-type": "application/json", ...fail.headers })
  response.end(JSON.stringify(fail.body))
}

/** The host names no purpose in its requests; its own prompts and headers tell them apart. */
function classifyLane(request: ModelRequest): Lane {
  const system = readSystemText(request)
  if (system.startsWith("You are a title generator")) return "title"
  if (listOf(request.body["tools"]).length === 0 && /summar/i.test(system)) return "compaction"
  return request.parentSessionID === undefined ? "main" : "sub"
}

function hideCredentials(headers: IncomingHttpHeaders): Record<string, string> {
  const secret = /^(authorization|x-api-key|cookie)$/
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secret.test(name) ? "[hidden]" : String(value)]),
  )
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  let text = ""
  for await (const chunk of incoming.setEncoding("utf8")) text += String(chunk)
  return text
}

/** A short name for messages about a request. */
export const nameRequest = (request: ModelRequest): string =>
  `request ${request.number} (${request.lane} ${request.index}, ${request.api}, ${readMessages(request).length} messages, ${request.tokens} tokens)`
