import assert from "node:assert/strict"
import { estimateMessages, projectMessages } from "../../lib/dtc/engine.ts"
import { textTokens } from "../../lib/dtc/tokens.ts"
import type { Message, Part, ProjectOptions, Projection } from "../../lib/dtc/types.ts"
import { findLatestTime, readHistory } from "../../lib/dtc/wire.ts"
import { toolParts } from "./history.ts"
import { replayPlainly } from "./reference-replay.ts"
import { checkSources } from "./source-laws.ts"

/**
 * Projects the messages and holds the result against every law of the engine. Each example and each generated history
 * goes through here; the projection comes back for the example's own assertions.
 */
export function checkProjection(messages: Message[], options: ProjectOptions): Projection {
  const original = structuredClone(messages)
  const projection = projectMessages(deepFreeze(structuredClone(messages)), options)
  assertOnlyMarksAdded(original, projection.messages)
  assertMarksAllowed(original, projection, options)
  assertIndependentOfInput(messages, options)
  assertDeterministic(messages, options, projection)
  assertEstimates(projection, options)
  assertIdempotent(projection, options)
  assertWitnesses(original, projection)
  assertChosenPlainly(messages, projection, options)
  checkSources(projection, options)
  return projection
}

/** Law 1: an added `state.time.compacted` on selected completed tools is the only difference. */
function assertOnlyMarksAdded(original: Message[], projected: Message[]): void {
  const restored = structuredClone(projected)
  for (const [index, part] of toolParts(restored).entries()) {
    const before = timeOf(toolParts(original)[index])
    const after = timeOf(part)
    if (after && before && "compacted" in after && !("compacted" in before)) delete after["compacted"]
  }
  assert.deepStrictEqual(restored, original, "law 1: something other than an added mark differs")
}

/** Laws 1 and 4: marks stand where `cleared` says, on outputs that may be cleared, and only under pressure or force. */
function assertMarksAllowed(original: Message[], projection: Projection, options: ProjectOptions): void {
  const { stats, cleared, messages } = projection
  const added = toolParts(messages).filter(
    (part, index) => timeOf(part)?.["compacted"] !== timeOf(toolParts(original)[index])?.["compacted"],
  )
  assert.deepEqual(
    added.map(({ id }) => id).toSorted(),
    cleared.map(({ partID }) => partID).toSorted(),
    "marks and `cleared` differ",
  )
  assert.equal(stats.foldedTools, cleared.length)
  assert.equal(stats.redundantTools, cleared.filter(({ reason }) => reason === "redundant").length)
  const pressed = stats.estimatedBefore !== undefined && stats.estimatedBefore > stats.targetTokens
  const stable = options.policy.stablePrefix === true
  if (!stable && !options.force && !pressed) assert.equal(cleared.length, 0, "law 4: cleared without pressure")
  if (!stable && stats.skipped) assert.equal(cleared.length, 0, "law 4: cleared although skipped")
  const protectedIDs = recentPartIDs(original, options)
  for (const message of original) {
    for (const part of message.parts) {
      if (!cleared.some(({ partID }) => partID === part.id)) continue
      assert.ok(mayBeCleared(message, part, options), `not eligible: ${JSON.stringify(part).slice(0, 300)}`)
      assert.ok(!protectedIDs.has(part.id), "law 4: a recent output was cleared")
    }
  }
}

/** Law 2: changing anything in the result does not reach the input. */
function assertIndependentOfInput(messages: Message[], options: ProjectOptions): void {
  const input = structuredClone(messages)
  scramble(projectMessages(input, options).messages)
  assert.deepStrictEqual(input, messages, "law 2: a change of the result reached the input")
}

/** Law 3: the order of keys, object identity and earlier calls do not matter. */
function assertDeterministic(messages: Message[], options: ProjectOptions, first: Projection): void {
  const again = projectMessages(reverseKeys(messages), options)
  assert.deepStrictEqual(again.stats, first.stats, "law 3: statistics depend on key order or identity")
  assert.deepStrictEqual(again.cleared, first.cleared, "law 3: selection depends on key order or identity")
  assert.deepEqual(again.messages, first.messages, "law 3: result depends on key order or identity")
}

/** Law 5, and that the figures describe the result that was returned. */
function assertEstimates(
  { messages, stats, cleared }: Projection,
  { model, inputBudget, policy }: ProjectOptions,
): void {
  if (stats.estimateMethod === "base") {
    assert.equal(estimateMessages(messages, { model, estimateMedia: policy.estimateMedia }), stats.estimatedAfter)
    assert.ok(cleared.every(({ savedTokens }) => savedTokens >= policy.minimumSavingsTokens))
  }
  const savings = cleared.reduce((sum, { savedTokens }) => sum + savedTokens, 0)
  const difference = (stats.estimatedBefore ?? 0) - (stats.estimatedAfter ?? 0)
  if (stats.estimatedBefore !== undefined)
    assert.ok(difference >= savings - 1 && difference <= savings + cleared.length + 1, `${difference} for ${savings}`)
  if (stats.estimatedBefore === undefined) assert.equal(stats.overBudget, true)
  else assert.ok((stats.estimatedAfter ?? Infinity) <= stats.estimatedBefore, "law 5: grew")
  if (inputBudget > 0 && Number.isFinite(inputBudget) && stats.estimateMethod === "base" && !policy.calibrate)
    assert.equal(stats.targetTokens, Math.floor(inputBudget * policy.targetRatio))
}

/** Law 6: projecting the result again adds no mark, for a `now` that is not before any time of the history. */
function assertIdempotent({ messages }: Projection, options: ProjectOptions): void {
  if (options.now !== undefined && options.now < findLatestTime(messages)) return
  assert.equal(projectMessages(messages, options).cleared.length, 0, "law 6: a second projection cleared more")
}

/** The same outputs for the same reasons in the same requests as the contract, said plainly, gives. */
function assertChosenPlainly(messages: Message[], { stats, cleared }: Projection, options: ProjectOptions): void {
  const history = readHistory(messages, { model: options.model, estimateMedia: options.policy.estimateMedia })
  if (!history || stats.skipped === "invalid-budget") return
  const expected = replayPlainly(history, options.inputBudget, options.policy, options.force ?? false)
  const actual = cleared.map(({ partID, reason, witnessCallID, requestIndex, savedTokens }) => ({
    partID,
    reason,
    ...(witnessCallID !== undefined && { witnessCallID }),
    requestIndex,
    savedTokens,
  }))
  assert.deepStrictEqual(actual, expected.choices, "chosen otherwise than the contract says")
  assert.equal(stats.targetTokens, expected.targetTokens, "another target than the contract says")
  assert.equal(stats.estimateMethod, expected.isCalibrated ? "calibrated" : "base")
  assert.equal(stats.estimatedAfter === undefined, expected.tokens === undefined)
  if (!history.segments.some(({ reminderTokens }) => reminderTokens > 0) && expected.tokens !== undefined)
    assert.ok(
      Math.abs((stats.estimatedAfter ?? 0) - expected.tokens) < 1.01,
      `${stats.estimatedAfter} ${expected.tokens}`,
    )
}

/**
 * Law 8: a redundant output has a later, identical copy. That it was visible when it was chosen follows from the plain
 * replay, which looks for witnesses among visible outputs only.
 */
function assertWitnesses(original: Message[], { cleared }: Projection): void {
  const calls = toolParts(original)
  for (const { partID, reason, witnessCallID } of cleared) {
    assert.equal(witnessCallID !== undefined, reason === "redundant")
    if (reason !== "redundant") continue
    const index = calls.findIndex(({ id }) => id === partID)
    const isWitness = (part: Part): boolean => part["callID"] === witnessCallID && sameLook(part, calls[index])
    assert.ok(calls.slice(index + 1).some(isWitness), "law 8: no later identical copy")
  }
}

/** Written from the contract, independently of the engine's table; only a text's size, which has tests of its own, is shared. */
function mayBeCleared({ info, parts }: Message, part: Part, { policy }: ProjectOptions): boolean {
  const state = part["state"] as Record<string, unknown>
  const metadata = (state["metadata"] ?? {}) as Record<string, unknown>
  const name = String(part["tool"])
  const path = (state["input"] as { filePath?: unknown } | undefined)?.filePath
  const empty = (list: unknown): boolean => list === undefined || (Array.isArray(list) && list.length === 0)
  return (
    isSent({ info, parts }) &&
    info.role === "assistant" &&
    ["read", "grep", "glob", "bash"].includes(name) &&
    !policy.protectedTools.includes(name) &&
    state["status"] === "completed" &&
    typeof state["output"] === "string" &&
    !("error" in state) &&
    timeOf(part) !== undefined &&
    !("compacted" in (timeOf(part) ?? {})) &&
    empty(state["attachments"]) &&
    empty(part["attachments"]) &&
    empty(metadata["attachments"]) &&
    empty(metadata["loaded"]) &&
    (metadata["exit"] === 0 || (!("exit" in metadata) && name !== "bash")) &&
    !(part["metadata"] as { providerExecuted?: unknown } | undefined)?.providerExecuted &&
    (name !== "read" ||
      (typeof path === "string" && !/(^|[/\\])(agents|agents\.override|claude|context|skill)\.md$/i.test(path))) &&
    textTokens(state["output"]) - 33 / 4 >= policy.minimumSavingsTokens
  )
}

function isSent({ info, parts }: Message): boolean {
  const error = info["error"] as { name?: string } | undefined
  const started = parts.some(({ type }) => !["step-start", "reasoning"].includes(type))
  return !error || (error.name === "MessageAbortedError" && started)
}

/** The newest tool steps, counted without the engine: a lower bound of what protection covers. */
function recentPartIDs(messages: Message[], { policy }: ProjectOptions): Set<string> {
  const steps = messages
    .filter((message) => message.info.role === "assistant" && isSent(message))
    .flatMap(({ parts }) => {
      const starts = parts.flatMap(({ type }, index) => (type === "step-start" && index > 0 ? [index] : []))
      return [0, ...starts].map((start, index) => parts.slice(start, starts[index]))
    })
  const withTools = steps.filter((parts) => parts.some(({ type }) => type === "tool"))
  return new Set(withTools.slice(-policy.protectRecentSteps).flatMap((parts) => parts.map(({ id }) => id)))
}

function sameLook(a: Part | undefined, b: Part | undefined): boolean {
  const [left, right] = [a, b].map((part) => part?.["state"] as { input: unknown; output: unknown })
  const normal = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))
  try {
    assert.deepEqual(
      [a?.["tool"], normal(left?.input), left?.output],
      [b?.["tool"], normal(right?.input), right?.output],
    )
    return ["read", "grep", "glob"].includes(String(a?.["tool"]))
  } catch {
    return false
  }
}

function timeOf(part: Part | undefined): Record<string, unknown> | undefined {
  const time = (part?.["state"] as { time?: unknown } | undefined)?.time
  return typeof time === "object" && time !== null && !Array.isArray(time)
    ? (time as Record<string, unknown>)
    : undefined
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value
  for (const field of Object.values(value)) deepFreeze(field)
  return Object.freeze(value)
}

function scramble(value: unknown): void {
  if (typeof value !== "object" || value === null) return
  for (const field of Object.values(value)) scramble(field)
  if (Array.isArray(value)) value.length = 0
  else for (const key of Object.keys(value)) Reflect.set(value, key, "scrambled")
}

function reverseKeys<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reverseKeys) as T
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).toReversed()
  return Object.fromEntries(entries.map(([key, field]) => [key, reverseKeys(field)])) as T
}
