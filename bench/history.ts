import type { Message } from "../lib/dtc/types.ts"

/** Characters of the tool outputs in turn: many are short, few are long, and 530 messages make about 2.4 MB. */
const OUTPUT_CHARACTERS = [150, 10_200, 400, 900, 4_000, 1_500, 6_500, 2_400]
/** Of ten outputs one holds more than ASCII, as in real sessions. */
const NON_ASCII_EVERY = 10
export const SESSION_ID = "ses_bench"
export const MODEL = { providerID: "lab", modelID: "lab-1" } as const
const MESSAGES_PER_TURN = 10
/** With this budget the outputs of the first half, about, have to go. */
const BUDGET_TOKENS_PER_MESSAGE = 400
const GROWTH_TOKENS_PER_MESSAGE = 800

/**
 * A history of real shapes: turns of one user message and nine steps, each with text, one tool call and its figures. The
 * reports grow up to the target and fall with every batch, as a provider's do.
 */
export function makeHistory(messageCount: number): Message[] {
  return Array.from({ length: messageCount }, (_, index) =>
    parseAsStored(index % MESSAGES_PER_TURN === 0 ? makeUser(index) : makeStep(index, messageCount)),
  )
}

export function describeBudget(messageCount: number): number {
  return messageCount * BUDGET_TOKENS_PER_MESSAGE
}

/** Strings as the host has them, whole ones out of the JSON of a database row, not ropes and slices. */
function parseAsStored({ info, parts }: Message): Message {
  return { info: reparse(info), parts: parts.map(reparse) }
}

function reparse<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

function reportTokens(index: number, messageCount: number): number {
  const target = describeBudget(messageCount) * 0.7
  const batch = target * 0.45
  const grown = index * GROWTH_TOKENS_PER_MESSAGE
  return Math.round(grown <= target ? grown : target - batch + ((grown - target) % batch))
}

/** As the host's ids they sort as they were made, and before all that a host makes. */
function nameMessage(index: number): string {
  return `msg_${String(index).padStart(12, "0")}`
}

function namePart(index: number, part: number): string {
  return `prt_${String(index).padStart(12, "0")}${part}`
}

function makeUser(index: number): Message {
  const [id, created] = [nameMessage(index), 1_700_000_000_000 + index * 5_000]
  return {
    info: {
      id,
      sessionID: SESSION_ID,
      role: "user",
      time: { created },
      agent: "build",
      model: MODEL,
    },
    parts: [
      {
        id: namePart(index, 0),
        messageID: id,
        sessionID: SESSION_ID,
        type: "text",
        text: `Please look at module ${index} next.`,
      },
    ],
  }
}

function makeStep(index: number, messageCount: number): Message {
  const [id, created] = [nameMessage(index), 1_700_000_000_000 + index * 5_000]
  const base = { messageID: id, sessionID: SESSION_ID }
  const read = reportTokens(index, messageCount)
  const tokens = { total: read + 1_000, input: 900, output: 60, reasoning: 30, cache: { read, write: 10 } }
  return {
    info: {
      id,
      sessionID: SESSION_ID,
      role: "assistant",
      parentID: nameMessage(index - (index % MESSAGES_PER_TURN)),
      time: { created, completed: created + 4_000 },
      ...MODEL,
      agent: "build",
      mode: "build",
      path: { cwd: "/project", root: "/project" },
      cost: 0.01,
      tokens,
      finish: "tool-calls",
    },
    parts: [
      { ...base, id: namePart(index, 0), type: "step-start", snapshot: "0123456789abcdef" },
      {
        ...base,
        id: namePart(index, 1),
        type: "text",
        text: `Reading file ${index} to see how it works.`,
        time: { start: created, end: created + 9 },
      },
      {
        ...base,
        id: namePart(index, 2),
        type: "tool",
        callID: `call_${index}`,
        tool: "read",
        state: makeState(index, created),
      },
      {
        ...base,
        id: namePart(index, 3),
        type: "step-finish",
        reason: "tool-calls",
        cost: 0.01,
        tokens,
      },
    ],
  }
}

function makeState(index: number, start: number): Record<string, unknown> {
  const filePath = `/project/src/module-${index % 60}.ts`
  const characters = OUTPUT_CHARACTERS[index % OUTPUT_CHARACTERS.length] ?? 0
  const content = makeContent(index, index % NON_ASCII_EVERY === 1 ? " // größer → ✓ 完了" : "").slice(0, characters)
  return {
    status: "completed",
    input: { filePath, offset: 1, limit: 200 },
    output: `<path>${filePath}</path>\n<content>\n${content}</content>`,
    title: filePath,
    metadata: { preview: content.slice(0, 400), truncated: false, loaded: [] },
    time: { start, end: start + 12 },
  }
}

function makeContent(index: number, remark: string): string {
  const longest = Math.max(...OUTPUT_CHARACTERS)
  const line = `${index}: export const value${index % 60} = compute(input, options)${remark}\n`
  return line.repeat(Math.ceil(longest / line.length))
}
