import assert from "node:assert/strict"
import { estimateMessages, planProjection, projectMessages } from "../../lib/dtc/engine.ts"
import { textTokens } from "../../lib/dtc/tokens.ts"
import type { Message, Part, ProjectOptions, Projection } from "../../lib/dtc/types.ts"
import { findLatestTime, readHistory } from "../../lib/dtc/wire.ts"
import { toolParts } from "./history.ts"
import { replayPlainly } from "./reference-replay.ts"
import { checkSources } from "./source-laws.ts"

type Fields = Record<string, unknown>

/**
 * Projects the messages and holds the result against every law of the engine. Each example and each generated history
 * goes through here; the projection comes back for the example's own assertions.
 */
export function checkProjection(messages: Message[], options: ProjectOptions): Projection {
  const projection = projectMessages(frozenCopy(messages), options)
  const marked = findAddedMarks(messages, projection.messages)
  assertOnlyMarksAdded(messages, projection.messages, marked)
  assertMarksAllowed(messages, projection, marked, options)
  assertDeterministicAndIndependent(messages, options, projection)
  assertPlanned(messages, options, projection)
  assertEstimates(projection, options)
  assertIdempotent(projection, options)
  assertWitnesses(messages, projection, marked)
  assertChosenPlainly(messages, projection, options)
  checkSources(projection, options)
  return projection
}

/** A tool part that carries a mark which the original lacks. Known by its place: ids may repeat. */
interface AddedMark {
  message: Message
  messageIndex: number
  partIndex: number
  /** The original's. */
  part: Part
  time: object
}

function findAddedMarks(original: readonly Message[], projected: readonly Message[]): AddedMark[] {
  return projected.flatMap(({ parts }, messageIndex) =>
    parts.flatMap(({ type, state }, partIndex) => {
      const message = original[messageIndex]
      const part = message?.parts[partIndex]
      const [before, after] = [timeOf(part?.["state"]), timeOf(state)]
      if (type !== "tool" || !message || !part || !before || !after) return []
      return "compacted" in after && !("compacted" in before)
        ? [{ message, messageIndex, partIndex, part, time: after }]
        : []
    }),
  )
}

/** Law 1: an added `state.time.compacted` on selected completed tools is the only difference. */
function assertOnlyMarksAdded(original: Message[], projected: Message[], marked: readonly AddedMark[]): void {
  if (isSame(original, projected, new Set(marked.map(({ time }) => time)))) return
  const restored = structuredClone(projected)
  for (const { messageIndex, partIndex } of marked)
    delete timeOf(restored[messageIndex]?.parts[partIndex]?.["state"])?.["compacted"]
  assert.deepStrictEqual(restored, original, "law 1: something other than an added mark differs")
  assert.fail("law 1: something other than an added mark differs")
}

/** Laws 1 and 4: marks stand where `cleared` says, on outputs that may be cleared, and only under pressure or force. */
function assertMarksAllowed(
  original: Message[],
  { stats, cleared }: Projection,
  marked: readonly AddedMark[],
  options: ProjectOptions,
): void {
  assert.deepEqual(
    marked.map(({ messageIndex, part }) => `${messageIndex} ${nameOf(part.id)}`).toSorted(),
    cleared.map(({ messageIndex, partID }) => `${messageIndex} ${partID}`).toSorted(),
    "marks and `cleared` differ",
  )
  assert.equal(stats.foldedTools, cleared.length)
  assert.equal(stats.redundantTools, cleared.filter(({ reason }) => reason === "redundant").length)
  const pressed = stats.estimatedBefore !== undefined && stats.estimatedBefore > stats.targetTokens
  const stable = options.policy.stablePrefix === true
  if (!stable && !options.force && !pressed) assert.equal(cleared.length, 0, "law 4: cleared without pressure")
  if (!stable && stats.skipped) assert.equal(cleared.length, 0, "law 4: cleared although skipped")
  const recent = marked.length > 0 ? recentParts(original, options) : undefined
  for (const { message, part } of marked) {
    assert.ok(mayBeCleared(message, part, options), `not eligible: ${JSON.stringify(part).slice(0, 300)}`)
    assert.ok(!recent?.has(part), "law 4: a recent output was cleared")
  }
}

/** Laws 2 and 3: the order of keys, object identity and earlier calls do not matter, and no change of the result reaches the input. */
function assertDeterministicAndIndependent(messages: Message[], options: ProjectOptions, first: Projection): void {
  const reversed = reverseKeys(messages)
  const again = projectMessages(reversed, options)
  assert.ok(isSame(reversed, messages), "law 2: the input was written")
  assert.deepStrictEqual(again.stats, first.stats, "law 3: statistics depend on key order or identity")
  assert.deepStrictEqual(again.cleared, first.cleared, "law 3: selection depends on key order or identity")
  assert.ok(isSame(again.messages, first.messages), "law 3: result depends on key order or identity")
  scramble(again.messages)
  assert.ok(isSame(reversed, messages), "law 2: a change of the result reached the input")
}

/** A plan without a copy finds the same and makes new messages of those that change, and of no others. */
function assertPlanned(
  messages: Message[],
  options: ProjectOptions,
  { messages: projected, ...found }: Projection,
): void {
  const { marked, ...planned } = planProjection(frozenCopy(messages), options)
  assert.deepStrictEqual(planned, found, "a plan finds something else than a projection")
  const changed = new Set(found.cleared.map(({ messageIndex }) => messageIndex))
  assert.deepStrictEqual(new Set(marked.map(({ messageIndex }) => messageIndex)), changed)
  assert.equal(marked.length, changed.size)
  for (const { messageIndex, message } of marked)
    assert.ok(isSame(message, projected[messageIndex]), "a planned message differs from the projected one")
}

/** Law 5, and that the figures describe the result that was returned. */
function assertEstimates(
  { messages, stats, cleared }: Projection,
  { model, inputBudget, policy }: ProjectOptions,
): void {
  if (stats.estimateMethod === "base")
    assert.equal(estimateMessages(messages, { model, estimateMedia: policy.estimateMedia }), stats.estimatedAfter)
  if (!policy.calibrate) assert.ok(cleared.every(({ savedTokens }) => savedTokens >= policy.minimumSavingsTokens))
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
function assertWitnesses(original: Message[], { cleared }: Projection, marked: readonly AddedMark[]): void {
  const calls = toolParts(original)
  for (const { messageIndex, partID, reason, witnessCallID } of cleared) {
    assert.equal(witnessCallID !== undefined, reason === "redundant")
    if (reason !== "redundant") continue
    const places = marked.filter((mark) => mark.messageIndex === messageIndex && nameOf(mark.part.id) === partID)
    const hasWitness = places.some(({ part }) =>
      calls
        .slice(calls.indexOf(part) + 1)
        .some((later) => nameOf(later["callID"]) === witnessCallID && sameLook(later, part)),
    )
    assert.ok(hasWitness, "law 8: no later identical copy")
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
    timeOf(state) !== undefined &&
    !("compacted" in (timeOf(state) ?? {})) &&
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
function recentParts(messages: Message[], { policy }: ProjectOptions): Set<Part> {
  const steps = messages
    .filter((message) => message.info.role === "assistant" && isSent(message))
    .flatMap(({ parts }) => {
      const starts = parts.flatMap(({ type }, index) => (type === "step-start" && index > 0 ? [index] : []))
      return [0, ...starts].map((start, index) => parts.slice(start, starts[index]))
    })
  const withTools = steps.filter((parts) => parts.some(({ type }) => type === "tool"))
  return new Set(withTools.slice(-policy.protectRecentSteps).flat())
}

function sameLook(a: Part | undefined, b: Part | undefined): boolean {
  const [left, right] = [a, b].map((part) => part?.["state"] as { input: unknown; output: unknown })
  const normal = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))
  const look = [a?.["tool"], normal(left?.input), left?.output]
  return (
    isSame(look, [b?.["tool"], normal(right?.input), right?.output]) &&
    ["read", "grep", "glob"].includes(String(look[0]))
  )
}

function nameOf(id: unknown): string {
  return typeof id === "string" ? id : ""
}

function timeOf(state: unknown): Record<string, unknown> | undefined {
  const time = (state as { time?: unknown } | null | undefined)?.time
  return typeof time === "object" && time !== null && !Array.isArray(time)
    ? (time as Record<string, unknown>)
    : undefined
}

/** Plain data alike, prototypes included, whatever the order of keys. `marked`: objects of the right side whose mark does not count. */
function isSame(left: unknown, right: unknown, marked?: ReadonlySet<object>): boolean {
  if (Object.is(left, right)) return true
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false
  if (Array.isArray(left) && left.length !== (right as unknown[]).length) return false
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length - (marked?.has(right) ? 1 : 0)) return false
  for (const key of keys) {
    if (!Object.hasOwn(right, key)) return false
    if (!isSame((left as Fields)[key], (right as Fields)[key], marked)) return false
  }
  return true
}

function frozenCopy<T>(value: T): T {
  return copyWith(value, (keys) => keys, Object.freeze)
}

function scramble(value: unknown): void {
  if (typeof value !== "object" || value === null) return
  for (const field of Object.values(value)) scramble(field)
  if (Array.isArray(value)) value.length = 0
  else for (const key of Object.keys(value)) Reflect.set(value, key, "scrambled")
}

function reverseKeys<T>(value: T): T {
  return copyWith(
    value,
    (keys) => keys.toReversed(),
    (copy) => copy,
  )
}

/** A copy of plain data with its keys in another order, each object of it passed through `finish`. Shares strings, so that it is quick. */
function copyWith<T>(value: T, order: (keys: string[]) => string[], finish: (copy: object) => object): T {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return finish(value.map((item) => copyWith(item, order, finish))) as T
  const copy: Fields = Object.getPrototypeOf(value) === null ? Object.create(null) : {}
  for (const key of order(Object.keys(value))) {
    const field = copyWith((value as Fields)[key], order, finish)
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value: field, enumerable: true, writable: true, configurable: true })
    else copy[key] = field
  }
  return finish(copy) as T
}
