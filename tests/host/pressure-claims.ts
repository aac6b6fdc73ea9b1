import assert from "node:assert/strict"
import { basename } from "node:path"
import type { Scenario } from "./scenario.ts"
import { listOf, textOf, tokensOfBytes, utf8Bytes } from "./json.ts"
import {
  conversationText,
  findClearedCallIDs,
  findToolResults,
  PLACEHOLDER,
  readMessages,
  type ModelRequest,
} from "./model-request.ts"
import { readPluginLog, type LoggedRequest } from "./plugin-log.ts"
import { findToolPart, findToolParts, type StoredMessage, type ToolPart } from "./stored.ts"
import { until } from "./wait.ts"
import { assertPaired, assertWire, WireFault } from "./wire-assertions.ts"

/** The built-in protection of recent steps. */
const PROTECTED_STEPS = 4
const PROTECTED_TOKENS = 16_000

/** What the host leaves of an output in a summary's transcript. */
const SUMMARY_CUT = 2_000

const INSTRUCTION_FILES = /^(agents|agents\.override|claude|context|skill)\.md$/i

/** A session's ordinary requests, each with what the plugin said about it, and the session's summaries. */
export interface ObservedSession {
  stored: StoredMessage[]
  requests: ModelRequest[]
  logged: LoggedRequest[]
  summaries: ModelRequest[]
}

/** Reads a settled session. The plugin's log reaches the host a moment after the request that it is about. */
export async function observeSession({ host, model }: Scenario, sessionID: string): Promise<ObservedSession> {
  const requests = model.requestsOf("main", sessionID)
  const logged = await until(`a log entry for each request of ${sessionID}`, 10_000, () => {
    const entries = readPluginLog(host.log).filter((entry) => entry.sessionID === sessionID)
    const ordinary = entries.filter(({ skipped }) => skipped !== "native-compaction")
    return ordinary.length >= requests.length && ordinary
  })
  return {
    stored: await host.readMessages(sessionID),
    requests,
    logged,
    summaries: model.requestsOf("compaction", sessionID),
  }
}

/**
 * What holds for every ordinary request, whichever outputs a policy chooses: the plugin judged it and says what the wire
 * shows, only old and eligible outputs are cleared, and everything else is sent as it is stored.
 */
export function assertOrdinaryRequests({ stored, requests, logged }: ObservedSession): void {
  assertPaired(requests)
  assert.equal(logged.length, requests.length, "the plugin looked at each ordinary request once, and at nothing else")
  for (const [index, request] of requests.entries()) {
    const entry = logged[index]
    assertWire(request, entry?.skipped === undefined, `the plugin judged it, not: ${entry?.skipped}`)
    const cleared = findClearedCallIDs(request)
    const said = entry?.cleared.map(({ callID }) => callID) ?? []
    assertWire(
      request,
      cleared.toSorted().join() === said.toSorted().join(),
      `cleared on the wire [${cleared.join()}], in the plugin's log [${said.join()}]`,
    )
    assertClearedAreOld(request, cleared)
    for (const callID of cleared)
      assertWire(request, mayBeCleared(findToolPart(stored, callID)), `${callID} may be cleared by the contract`)
    assertRestInFull(request, stored)
  }
}

/** Every result that is not a placeholder is what the host stored for the call, down to the last character. */
export function assertRestInFull(request: ModelRequest, stored: readonly StoredMessage[]): void {
  for (const { callID, text, placeholder } of findToolResults(request)) {
    if (placeholder) continue
    const original = resultText(findToolPart(stored, callID))
    assertWire(request, text === original, `${callID} is sent as it is stored (${text.length} characters)`)
  }
}

/**
 * The native summary saw the session and nothing of ours: each result in its transcript is a stored one, in full or with
 * the host's own cut. Gives back the calls whose results it saw.
 */
export function assertFaithfulSummary(request: ModelRequest, stored: readonly StoredMessage[]): string[] {
  const transcript = conversationText(request)
  assertWire(request, !transcript.includes(PLACEHOLDER), "the summary's input holds no placeholder")
  const seen: string[] = []
  let position = 0
  for (const part of findToolParts(stored)) {
    const block = describeForSummary(part)
    const found = block === undefined ? -1 : transcript.indexOf(block, position)
    if (block === undefined || found < 0) continue
    position = found + block.length
    seen.push(part.callID)
  }
  const shown = transcript.split("\n[Tool result]: ").length - 1
  assertWire(
    request,
    shown === seen.length,
    `${shown} results in the summary's input, ${seen.length} of them stored so`,
  )
  return seen
}

/** Every call of the session succeeded: completed, and a shell command with exit code 0. */
export function assertAllSucceeded(stored: readonly StoredMessage[], callIDs: readonly string[]): void {
  const parts = findToolParts(stored)
  const present = parts.map(({ callID }) => callID)
  if (present.join() !== callIDs.join())
    throw new Error(`stored calls are [${present.join()}], expected each once and in this order: [${callIDs.join()}]`)
  for (const { callID, tool, state } of parts) {
    if (state.status !== "completed") throw new Error(`${callID} is ${state.status}`)
    if (tool === "bash" && state.metadata["exit"] !== 0)
      throw new Error(`${callID} ended with ${String(state.metadata["exit"])}`)
  }
}

/** Counted on the wire, which is never less than what the plugin counts: never more protected steps than it knows. */
function assertClearedAreOld(request: ModelRequest, cleared: readonly string[]): void {
  const recent = findRecentCallIDs(request)
  const early = cleared.filter((callID) => recent.has(callID))
  if (early.length > 0) throw new WireFault(request, `protected recent outputs are cleared: ${early.join(", ")}`)
}

function findRecentCallIDs(request: ModelRequest): Set<string> {
  const recent = new Set<string>()
  let steps = 0
  let tokens = 0
  for (const message of readMessages(request).toReversed()) {
    if (steps >= PROTECTED_STEPS && tokens >= PROTECTED_TOKENS) break
    if (message.role !== "assistant" && message.results.length === 0) continue
    tokens += tokensOfBytes(utf8Bytes(JSON.stringify(message)))
    if (message.calls.length > 0) steps++
    for (const { callID } of message.calls) recent.add(callID)
  }
  return recent
}

function mayBeCleared(part: ToolPart | undefined): boolean {
  if (part?.state.status !== "completed") return false
  const { metadata, input, attachments } = part.state
  if (listOf(attachments).length > 0 || listOf(metadata["loaded"]).length > 0) return false
  if (part.tool === "bash") return metadata["exit"] === 0
  if (part.tool === "read") return !INSTRUCTION_FILES.test(basename(textOf(input["filePath"])))
  return part.tool === "grep" || part.tool === "glob"
}

function resultText(part: ToolPart | undefined): string | undefined {
  if (part?.state.status === "completed") return part.state.output
  return part?.state.status === "error" ? part.state.error : undefined
}

function describeForSummary(part: ToolPart): string | undefined {
  if (part.state.status !== "completed") return undefined
  const { output } = part.state
  return `[Tool result]: ${output.length > SUMMARY_CUT ? `${output.slice(0, SUMMARY_CUT)}\n[truncated]` : output}\n`
}
