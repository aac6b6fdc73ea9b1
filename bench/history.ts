import type { Message } from "../lib/dtc/types.ts"

/** Bytes of one tool output, so that 530 messages make about 2.4 MB, as in long real sessions. */
const OUTPUT_BYTES = 6_500
const MESSAGES_PER_TURN = 10

/** A history of real shapes: turns of one user message and nine steps, each with text, one tool call and its figures. */
export function makeHistory(messageCount: number): Message[] {
  return Array.from({ length: messageCount }, (_, index) =>
    index % MESSAGES_PER_TURN === 0 ? makeUser(index) : makeStep(index),
  )
}

function makeUser(index: number): Message {
  const [id, created] = [`msg_${index}`, 1_700_000_000_000 + index * 5_000]
  return {
    info: {
      id,
      sessionID: "ses_bench",
      role: "user",
      time: { created },
      agent: "build",
      model: { providerID: "lab", modelID: "lab-1" },
    },
    parts: [
      {
        id: `prt_${index}_0`,
        messageID: id,
        sessionID: "ses_bench",
        type: "text",
        text: `Please look at module ${index} next.`,
      },
    ],
  }
}

function makeStep(index: number): Message {
  const [id, created] = [`msg_${index}`, 1_700_000_000_000 + index * 5_000]
  const base = { messageID: id, sessionID: "ses_bench" }
  const tokens = { total: 5_000, input: 900, output: 60, reasoning: 30, cache: { read: 4_000, write: 10 } }
  return {
    info: {
      id,
      sessionID: "ses_bench",
      role: "assistant",
      parentID: `msg_${index - (index % MESSAGES_PER_TURN)}`,
      time: { created, completed: created + 4_000 },
      providerID: "lab",
      modelID: "lab-1",
      agent: "build",
      mode: "build",
      path: { cwd: "/project", root: "/project" },
      cost: 0.01,
      tokens,
      finish: "tool-calls",
    },
    parts: [
      { ...base, id: `prt_${index}_0`, type: "step-start", snapshot: "0123456789abcdef" },
      {
        ...base,
        id: `prt_${index}_1`,
        type: "text",
        text: `Reading file ${index} to see how it works.`,
        time: { start: created, end: created + 9 },
      },
      {
        ...base,
        id: `prt_${index}_2`,
        type: "tool",
        callID: `call_${index}`,
        tool: "read",
        state: makeState(index, created),
      },
      {
        ...base,
        id: `prt_${index}_3`,
        type: "step-finish",
        reason: "tool-calls",
        cost: 0.01,
        tokens: structuredClone(tokens),
      },
    ],
  }
}

function makeState(index: number, start: number): Record<string, unknown> {
  const filePath = `/project/src/module-${index % 60}.ts`
  const line = `${index}: export const value${index % 60} = compute(input, options)\n`
  const content = line.repeat(Math.ceil(OUTPUT_BYTES / 2 / line.length)).slice(0, OUTPUT_BYTES / 2)
  return {
    status: "completed",
    input: { filePath, offset: 1, limit: 200 },
    output: `<path>${filePath}</path>\n<content>\n${content}</content>`,
    title: filePath,
    metadata: { preview: content.slice(0, 400), truncated: false, loaded: [] },
    time: { start, end: start + 12 },
  }
}
