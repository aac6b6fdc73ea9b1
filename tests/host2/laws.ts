import assert from "node:assert/strict"
import { textTokens } from "../../lib/dtc/tokens.ts"
import { PLACEHOLDER_TEXT } from "../../lib/dtc/wire-texts.ts"
import type { Policy } from "../../lib/dtc/types.ts"
import { copyMessages } from "../../lib/host2/lowered.ts"
import { projectLowered, type LoweredClear, type LoweredOptions } from "../../lib/host2/project.ts"
import { readLowered } from "../../lib/host2/wire.ts"
import { replayPlainly } from "../helpers/reference-replay.ts"
import { fieldsOf, HostMessage, type CallPart, type ResultPart } from "./lowering.ts"

export interface LoweredResult {
  messages: HostMessage[]
  cleared: readonly LoweredClear[]
}

/**
 * The engine's laws for a host without marks, times and reports: projects the messages, holds the result against each law
 * and gives it back for the example's own assertions.
 */
export function checkLowered(messages: readonly HostMessage[], options: LoweredOptions): LoweredResult {
  const original = structuredClone(messages)
  const result = project(deepFreeze([...messages]), options)
  assertOnlyPlaceholders(messages, result)
  assert.deepEqual(structuredClone(messages), original, "law 2: the host's messages were written")
  assertAllowed(messages, result, options)
  assertDeterministic(messages, options, result)
  assertSmaller(messages, result)
  assertIdempotent(result, options)
  assertWitnesses(messages, result)
  assertChosenPlainly(messages, result, options)
  return result
}

export function project(messages: readonly HostMessage[], options: LoweredOptions): LoweredResult {
  const projection = projectLowered(messages, options)
  assert.ok(projection)
  const { replacements, cleared } = projection
  return { messages: messages.map((message, index) => (replacements.get(index) ?? message) as HostMessage), cleared }
}

/** Tokens of what is sent; `undefined` when something cannot be sized. */
export function estimate(messages: readonly HostMessage[]): number | undefined {
  const { segments } = readLowered(copyMessages(messages) ?? [])
  if (segments.some(({ unknownSize }) => unknownSize)) return undefined
  return segments.reduce((sum, { tokens }) => sum + tokens, 0)
}

/** Law 1: the placeholder as the result of chosen parts is the only difference; messages without one are the very same. */
function assertOnlyPlaceholders(original: readonly HostMessage[], { messages, cleared }: LoweredResult): void {
  const chosen = new Set(cleared.map(({ messageIndex, partIndex }) => `${messageIndex} ${partIndex}`))
  assert.equal(messages.length, original.length)
  for (const [messageIndex, message] of messages.entries()) {
    const before = original[messageIndex]
    assert.ok(before)
    assert.ok(message instanceof HostMessage, "law 1: another kind of message")
    assert.deepEqual(
      { ...fieldsOf(message), content: [] },
      { ...fieldsOf(before), content: [] },
      "law 1: a field of a message differs",
    )
    assert.equal(message.content.length, before.content.length)
    if (!message.content.some((_, index) => chosen.has(`${messageIndex} ${index}`))) assert.equal(message, before)
    for (const [partIndex, part] of message.content.entries())
      if (chosen.has(`${messageIndex} ${partIndex}`))
        assert.deepEqual(part, { ...before.content[partIndex], result: { type: "text", value: PLACEHOLDER_TEXT } })
      else assert.equal(part, before.content[partIndex], "law 1: another part differs")
  }
}

/** Law 4, and that only what may be cleared is: written from the contract, independently of the engine's tables. */
function assertAllowed(messages: readonly HostMessage[], { cleared }: LoweredResult, options: LoweredOptions): void {
  const { policy, inputBudget, force } = options
  const before = estimate(messages)
  const calm = before === undefined || before <= Math.floor(inputBudget * policy.targetRatio)
  if (!policy.stablePrefix && calm && !(force && before !== undefined)) assert.equal(cleared.length, 0, "law 4")
  const recent = recentCallIDs(messages, policy)
  for (const { callID, messageIndex, partIndex } of cleared) {
    const message = messages[messageIndex]
    const part = message?.content[partIndex] as ResultPart
    assert.equal(part.id, callID)
    assert.ok(message?.role === "tool" && mayBeCleared(part, findCall(messages, callID), policy), JSON.stringify(part))
    assert.ok(!recent.has(callID), "law 4: a recent output was cleared")
  }
}

function mayBeCleared({ name, result, providerExecuted }: ResultPart, call: CallPart, policy: Policy): boolean {
  const account = result.type === "json" ? (result.value as Record<string, unknown>) : undefined
  const texts =
    result.type === "content" ? result.value.map((item) => (item.type === "text" ? item.text : undefined)) : []
  const { path, filePath } = call.input as Record<string, unknown>
  const size = { json: JSON.stringify(result.value), text: String(result.value), content: texts.join("\n"), error: "" }
  return (
    ["read", "grep", "glob", "bash"].includes(name) &&
    !policy.protectedTools.includes(name) &&
    !providerExecuted &&
    !texts.includes(undefined) &&
    (name !== "read" || account?.["loaded"] === undefined || isEmpty(account["loaded"])) &&
    (name !== "read" ||
      (account !== undefined && !/(^|[/\\])(agents|claude|context|skill)\.md$/i.test(String(path ?? filePath)))) &&
    (name !== "bash" || account?.["exit"] === 0 || texts.at(-1) === "Command exited with code 0.") &&
    textTokens(size[result.type]) - PLACEHOLDER_TEXT.length / 4 >= policy.minimumSavingsTokens
  )
}

const isEmpty = (list: unknown): boolean => Array.isArray(list) && list.length === 0

/** Law 3: the order of keys, object identity and earlier calls do not matter. */
function assertDeterministic(messages: readonly HostMessage[], options: LoweredOptions, first: LoweredResult): void {
  const again = messages.map(
    ({ id, role, content }) => new HostMessage({ content, role, ...(id !== undefined && { id }) }),
  )
  assert.deepEqual(project(again, options).cleared, first.cleared, "law 3")
  assert.deepEqual(project(structuredClone<HostMessage[]>(again), options).cleared, first.cleared, "law 3")
}

/** Law 5. */
function assertSmaller(messages: readonly HostMessage[], result: LoweredResult): void {
  const [before, after] = [estimate(messages), estimate(result.messages)]
  assert.equal(after === undefined, before === undefined)
  if (result.cleared.length > 0 && before !== undefined)
    assert.ok((after ?? Infinity) < before, "law 5: did not shrink")
}

/**
 * Law 6: its own result again adds nothing, although a placeholder does not say how large the output was: whatever earlier
 * request looks smaller now had either nothing left to clear or was brought below its target.
 */
function assertIdempotent({ messages }: LoweredResult, options: LoweredOptions): void {
  assert.deepEqual(project(messages, options).cleared, [], "law 6: a second projection cleared more")
}

/** Law 8: a redundant output has a later, identical result that is not cleared before it. */
function assertWitnesses(messages: readonly HostMessage[], { cleared }: LoweredResult): void {
  for (const { callID, reason, witnessCallID, messageIndex, requestIndex } of cleared) {
    assert.equal(witnessCallID !== undefined, reason === "redundant")
    if (witnessCallID === undefined) continue
    const later = messages.findIndex(({ content }) =>
      content.some((part) => part.type === "tool-result" && part.id === witnessCallID),
    )
    assert.ok(later > messageIndex, "law 8: the witness is not later")
    assert.deepEqual(findCall(messages, witnessCallID).input, findCall(messages, callID).input)
    assert.deepEqual(findResult(messages, witnessCallID), findResult(messages, callID), "law 8: not identical")
    const gone = cleared.find((other) => other.callID === witnessCallID)
    assert.ok(!gone || gone.requestIndex >= requestIndex, "law 8: the witness was gone already")
  }
}

/** The same outputs for the same reasons in the same requests as the contract, said plainly, gives. */
function assertChosenPlainly(
  messages: readonly HostMessage[],
  { cleared }: LoweredResult,
  options: LoweredOptions,
): void {
  const history = readLowered(copyMessages(messages) ?? [])
  const { choices } = replayPlainly(history, options.inputBudget, options.policy, options.force ?? false)
  const expected = choices.map(({ savedTokens: _base, ...choice }) => choice)
  const actual = cleared.map(({ callID, reason, witnessCallID, requestIndex }) => ({
    partID: callID,
    reason,
    ...(witnessCallID !== undefined && { witnessCallID }),
    requestIndex,
  }))
  assert.deepStrictEqual(actual, expected, "chosen otherwise than the contract says")
}

function findCall(messages: readonly HostMessage[], callID: string): CallPart {
  const call = messages
    .flatMap(({ content }) => content)
    .find((part) => part.type === "tool-call" && part.id === callID)
  return call as CallPart
}

function findResult(messages: readonly HostMessage[], callID: string): unknown {
  const parts = messages.flatMap(({ content }) => content)
  return (parts.find((part) => part.type === "tool-result" && part.id === callID) as ResultPart).result
}

/** The newest tool steps, counted without the engine: a lower bound of what protection covers. */
function recentCallIDs(messages: readonly HostMessage[], { protectRecentSteps }: Policy): Set<string> {
  const steps = messages.map(({ content }) => content.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])))
  return new Set(
    steps
      .filter((ids) => ids.length > 0)
      .slice(-protectRecentSteps)
      .flat(),
  )
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value
  for (const field of Object.values(value)) deepFreeze(field)
  return Object.freeze(value)
}
