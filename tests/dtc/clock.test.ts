import assert from "node:assert/strict"
import test from "node:test"
import type { Message } from "../../lib/dtc/types.ts"
import { assistant, DEFAULT_POLICY, read, session, tokens, user } from "../helpers/history.ts"
import { checkProjection } from "../helpers/laws.ts"

const POLICY = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0, calibrate: true }

const MARKED = read("a.png", tokens(900), {
  time: { start: 1, compacted: 9_500 },
  attachments: [{ mime: "image/png", url: "https://example.com/a.png" }],
})

function requestAt(created: number, promptTokens: number, ...parts: object[]): ReturnType<typeof assistant> {
  const usage = { input: promptTokens, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
  const fields = parts.map((part) => ({ ...part }))
  return assistant([{ type: "step-start" }, ...fields, { type: "step-finish", tokens: usage }], { time: { created } })
}

const run = (messages: Message[]): ReturnType<typeof checkProjection>["stats"] =>
  checkProjection(messages, { inputBudget: 100_000, policy: POLICY }).stats

test("a mark that one request saw is seen by the ones after it, although their clock was set back", () => {
  const messages = session(user("go"), requestAt(2_000, 0, MARKED), requestAt(9_501, 0), requestAt(4_000, 300))
  const { estimateMethod, estimatedAfter } = run(messages)
  assert.equal(estimateMethod, "calibrated")
  assert.ok((estimatedAfter ?? Infinity) < 400, "the report is the size without the picture and its text")
})

test("a mark as old as a request before it is in force for the ones after it, although their clock was set back", () => {
  const messages = session(user("go"), requestAt(9_501, 200), requestAt(3_000, 0, MARKED), requestAt(4_000, 300))
  const { estimatedAfter } = run(messages)
  assert.ok((estimatedAfter ?? Infinity) < 400, "the latest report is the size without the picture and its text")
})
