import type { Message, Part, Policy } from "../../lib/dtc/types.ts"

/** The defaults of `dcp.schema.json` but for the stable prefix; `tests/docs.test.ts` holds the two together. */
export const DEFAULT_POLICY: Policy = {
  protectRecentSteps: 4,
  protectRecentTokens: 16_000,
  targetRatio: 0.7,
  minimumSavingsTokens: 512,
  protectedTools: [],
}

export const MODEL = { providerID: "lab", modelID: "lab-1" }

type Fields = Record<string, unknown>
type Draft = { role: string; parts: Fields[]; info: Fields }

/** Turns drafts into the host's messages: ids, times (one second apart) and session filled in where a draft has none. */
export function session(...drafts: Draft[]): Message[] {
  return drafts.map(({ role, parts, info }, index) => {
    const messageID = typeof info["id"] === "string" ? info["id"] : `msg_${pad(index)}`
    const base = { id: messageID, sessionID: "ses_1", role, time: { created: 1_000 * (index + 1) } }
    return {
      info: { ...base, ...(role === "assistant" ? MODEL : { model: MODEL }), ...info },
      parts: parts.map((part, position): Part => {
        const id = `prt_${pad(index)}_${pad(position)}`
        return { id, messageID, sessionID: "ses_1", type: "odd", ...callID(part, id), ...part }
      }),
    }
  })
}

export const user = (text: string, info: Fields = {}, ...parts: Fields[]): Draft => ({
  role: "user",
  parts: [{ type: "text", text }, ...parts],
  info,
})
export const userParts = (...parts: Fields[]): Draft => ({ role: "user", parts, info: {} })
export const assistant = (parts: Fields[], info: Fields = {}): Draft => ({ role: "assistant", parts, info })

/** An assistant message of one step, as the host stores it. */
export const step = (...parts: Fields[]): Draft =>
  assistant([{ type: "step-start" }, ...parts, { type: "step-finish", reason: "tool-calls" }])

/** The same with what the provider reported for it. */
export const reportedStep = (usage: unknown, ...parts: Fields[]): Draft =>
  assistant([{ type: "step-start" }, ...parts, { type: "step-finish", reason: "tool-calls", tokens: usage }])

export const text = (value: string): Fields => ({ type: "text", text: value })
export const reasoning = (value: string, metadata?: Fields): Fields => ({
  type: "reasoning",
  text: value,
  ...(metadata && { metadata }),
})

/** A tool part; `state` fields override those of a completed call. */
export function tool(name: string, input: unknown, output: unknown, state: Fields = {}, part: Fields = {}): Fields {
  const completed = { status: "completed", input, output, title: name, metadata: {}, time: { start: 10, end: 20 } }
  return { type: "tool", tool: name, state: { ...completed, ...state }, ...part }
}
export const read = (filePath: unknown, output: unknown, state: Fields = {}): Fields =>
  tool("read", { filePath }, output, state)
export const grep = (pattern: string, output: string): Fields => tool("grep", { pattern }, output)
export const glob = (pattern: string, output: string): Fields => tool("glob", { pattern }, output)
export const bash = (command: string, output: string, exit: unknown = 0): Fields =>
  tool("bash", { command }, output, { metadata: { exit } })
export const failed = (name: string, input: unknown, error: string): Fields => ({
  type: "tool",
  tool: name,
  state: { status: "error", input, error, time: { start: 10, end: 20 } },
})
export const pending = (status: "pending" | "running", input: unknown): Fields => ({
  type: "tool",
  tool: "bash",
  state: { status, input, time: { start: 10 } },
})

/** Text of about this many tokens by the base estimate, different for each seed. */
export function tokens(count: number, seed = "x"): string {
  const line = `${seed} lorem ipsum dolor\n`
  return line.repeat(Math.ceil((count * 4) / line.length)).slice(0, count * 4)
}

/** The compaction pair as the host shows it: request message and finished summary. */
export const compaction = (created: number): Draft[] => [
  { role: "user", parts: [{ type: "compaction", auto: true }], info: { time: { created } } },
  assistant([text("## Goal\nsummary")], { summary: true, finish: "stop", time: { created: created + 1 } }),
]

export function toolParts(messages: readonly Message[]): Part[] {
  return messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "tool"))
}

/** Inputs' targets of the outputs that carry a mark, in the order of the history. */
export function clearedTargets(messages: readonly Message[]): string[] {
  return toolParts(messages).filter(isMarked).map(describeTarget)
}

export function isMarked(part: Part): boolean {
  return Boolean((part["state"] as { time?: { compacted?: unknown } } | undefined)?.time?.compacted)
}

function describeTarget(part: Part): string {
  const { input } = part["state"] as { input: Fields }
  return String(input["filePath"] ?? input["command"] ?? input["pattern"])
}

function callID(part: Fields, id: string): Fields {
  return part["type"] === "tool" ? { callID: id.replace("prt", "call") } : {}
}

function pad(index: number): string {
  return String(index).padStart(4, "0")
}
