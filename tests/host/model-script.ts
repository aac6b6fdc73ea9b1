import type { ModelRequest } from "./model-request.ts"

export type Lane = "main" | "sub" | "title" | "compaction"

export interface ScriptedCall {
  name: string
  args?: unknown
  /** Sent instead of `args`, also when it is not JSON. */
  rawArgs?: string
  /** Absent: the server counts. */
  id?: string
}

/** Tokens; `input` is what was not served from a cache. */
export interface Usage {
  input: number
  output: number
  reasoning: number
  cacheRead: number
  cacheWrite: number
}

export interface Failure {
  status: number
  /** Absent: an error body in the API's own form. */
  body?: unknown
  headers?: Record<string, string>
}

/** One answer of the model. Several `tools` are one parallel response. */
export interface Step {
  text?: string
  reasoning?: string
  tools?: readonly ScriptedCall[]
  usage?: Partial<Usage>
  /** Before the first byte. */
  delayMs?: number
  /** Between the text and the tool calls. */
  pauseMs?: number
  /** Sends the text, then nothing more until the host gives up. */
  hang?: boolean
  fail?: Failure
  finish?: string
}

export type Answer = (request: ModelRequest) => Step | undefined

/** Steps are used up one by one; a single function answers every request until it has nothing to say. */
export type Script = readonly (Step | Answer)[] | Answer

/** What the endpoint reports for a request, before a step's own `usage` is laid over it. */
export type UsageReport = (request: ModelRequest, replyBytes: number) => Partial<Usage>

/** Bytes of the body / 4, as far as such a count can be honest. */
export const honestUsage: UsageReport = (request, replyBytes) => ({
  input: request.tokens,
  output: Math.ceil(replyBytes / 4),
})

export const fixedUsage =
  (inputTokens: number, outputTokens = 50): UsageReport =>
  () => ({ input: inputTokens, output: outputTokens })

/** Nothing: the plugin's base estimate alone counts, so that a scenario's arithmetic holds. */
export const silentUsage: UsageReport = () => ({ input: 0, output: 0 })

export const proportionalUsage =
  (factor: number): UsageReport =>
  (request, replyBytes) => ({ input: Math.ceil(request.tokens * factor), output: Math.ceil(replyBytes / 4) })

export const call = (name: string, args: unknown, id?: string): ScriptedCall => ({
  name,
  args,
  ...(id === undefined ? {} : { id }),
})

export const read = (filePath: string, id?: string): ScriptedCall => call("read", { filePath }, id)

export const bash = (command: string, id?: string): ScriptedCall =>
  call("bash", { command, description: "Run a scripted command" }, id)

export const idsOf = (calls: readonly ScriptedCall[]): string[] => calls.map(({ id = "" }) => id)

/** One step per call: the way a model works when it looks at one thing after the other. */
export const oneByOne = (calls: readonly ScriptedCall[], reasonAloud = false): Step[] =>
  calls.map((one, index) => ({ tools: [one], ...(reasonAloud ? { text: `Step ${index + 1}.` } : {}) }))
