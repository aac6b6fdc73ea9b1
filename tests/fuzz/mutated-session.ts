import assert from "node:assert/strict"
import type { SkipReason } from "../../lib/request.ts"
import { projectMessages } from "../../lib/dtc/engine.ts"
import type { Message, Part, ProjectOptions } from "../../lib/dtc/types.ts"
import { isMessage } from "../../lib/dtc/wire.ts"
import { rejects } from "../helpers/client.ts"
import { checkProjection } from "../helpers/laws.ts"
import { startInstance } from "../hooks/instance.ts"
import { createDraw, mutateSession, type Draw } from "./mutate.ts"

/** Every reason there is: a new one is a compile error here. */
const REASONS: Readonly<Record<SkipReason, true>> = {
  "empty-history": true,
  failed: true,
  "guard-capacity": true,
  "malformed-message": true,
  "model-changed": true,
  "native-compaction": true,
  "not-plain-data": true,
  "request-changed": true,
  "unavailable-budget": true,
  "unidentified-session": true,
  "unknown-content": true,
  "unknown-model": true,
}

/** Nothing that stored data can hold is a failure of the engine. */
const IMPOSSIBLE: ReadonlySet<string> = new Set<SkipReason>(["failed", "request-changed", "model-changed"])

const LIMIT = { context: 40_000, output: 8_000 }
const MOST_MUTATIONS = 24

/** Messages of a piece that is held against every law; the whole would take too long. Some pieces are long. */
const PIECE_MESSAGES = { most: 16, some: 160 } as const
const LONG_PIECES_RATIO = 0.05

/**
 * Sends one mutation of a session through the hook as a host would, and a piece of it through the laws of the engine.
 * Answers what became of the request.
 */
export async function checkMutatedSession(session: readonly unknown[], seed: number): Promise<string> {
  const draw = createDraw(seed)
  const messages = structuredClone(session) as Message[]
  mutateSession(messages, 1 + Math.floor(draw() ** 3 * MOST_MUTATIONS), draw)
  const outcome = await checkHook(messages)
  const start = Math.floor(draw() * messages.length)
  const length = draw() < LONG_PIECES_RATIO ? PIECE_MESSAGES.some : PIECE_MESSAGES.most
  checkPiece(structuredClone(messages).slice(start, start + length), draw)
  return outcome
}

async function checkHook(messages: Message[]): Promise<string> {
  const before = [...messages]
  const text = JSON.stringify(messages)
  const instance = startInstance({ providers: rejects }, { models: { "*/*": { limit: LIMIT } } })
  await instance.transform(messages)
  const [outcome, ...others] = instance.outcomes()
  assert.ok(outcome !== undefined && others.length === 0, "a request is one line")
  assert.ok(outcome === "projected" || Object.hasOwn(REASONS, outcome), `a reason that is not in the list: ${outcome}`)
  assert.ok(!IMPOSSIBLE.has(outcome), `stored data made the hook say: ${outcome}`)
  assert.equal(JSON.stringify(before), text, "a message object was written")
  if (outcome !== "projected") assert.equal(JSON.stringify(messages), text, "a request that was left alone was written")
  else assertOnlyMarked(before, messages)
  instance.fake.assertNothingWritten()
  return outcome
}

/** Slots hold the object that they held, or a message that differs from it by marks on completed tools. */
function assertOnlyMarked(before: readonly Message[], after: readonly Message[]): void {
  assert.equal(after.length, before.length)
  for (const [index, message] of after.entries()) {
    const original = before[index]
    if (message === original) continue
    const restored = structuredClone(message)
    for (const [position, part] of restored.parts.entries()) unmark(part, original?.parts[position])
    assert.deepEqual(restored, original, "something other than a mark was written")
  }
}

function unmark(part: Part, original: Part | undefined): void {
  const [time, before] = [timeOf(part), timeOf(original)]
  if (part["type"] === "tool" && time && before && !("compacted" in before)) delete time["compacted"]
}

function timeOf(part: Part | undefined): Record<string, unknown> | undefined {
  const time = (part?.["state"] as { time?: unknown } | null | undefined)?.time
  return typeof time === "object" && time !== null ? (time as Record<string, unknown>) : undefined
}

/** Malformed messages come back as a copy; all others obey the laws. */
function checkPiece(messages: Message[], draw: Draw): void {
  const options = drawOptions(draw)
  if (messages.every(isMessage)) checkProjection(messages, options)
  else assert.deepStrictEqual(projectMessages(messages, options).messages, messages)
}

function drawOptions(draw: Draw): ProjectOptions {
  return {
    inputBudget: 1 + Math.floor(draw() * 20_000),
    force: draw() < 0.2,
    policy: {
      protectRecentSteps: 1 + Math.floor(draw() * 4),
      protectRecentTokens: draw() < 0.5 ? 0 : 4_000,
      targetRatio: 0.7,
      minimumSavingsTokens: draw() < 0.5 ? 1 : 512,
      protectedTools: [],
      stablePrefix: draw() < 0.7,
      clearAtLeastRatio: draw() < 0.5 ? 0 : 0.3,
      estimateMedia: draw() < 0.7,
      calibrate: draw() < 0.7,
    },
  }
}
