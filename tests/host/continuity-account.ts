import assert from "node:assert/strict"
import { basename } from "node:path"
import type { HostEvent } from "./host-events.ts"
import type { Host } from "./host.ts"
import { recordOf, textOf } from "./json.ts"
import {
  conversationText,
  findClearedCallIDs,
  findToolResults,
  PLACEHOLDER,
  readMessages,
  type ModelRequest,
} from "./model-request.ts"
import type { ModelServer } from "./model-server.ts"
import { readPluginLog, type LoggedRequest } from "./plugin-log.ts"
import { findToolPart, findToolParts, type StoredMessage, type ToolPart } from "./stored.ts"
import { settles, until } from "./wait.ts"
import { assertPaired, assertStoredUnchanged, assertWire, WireFault } from "./wire-assertions.ts"

/** What the newest steps are kept by; the plugin's defaults. */
export interface Protection {
  steps: number
  tokens: number
}

const DEFAULT_PROTECTION: Protection = { steps: 4, tokens: 16_000 }

const INSTRUCTION_FILES = /^(agents|agents\.override|claude|context|skill)\.md$/i

/**
 * One session, request by request: the wire, the plugin's log and the stored history must tell the same story, only
 * outputs that the contract gives up may be missing, and everything else must have been sent as it is stored.
 */
export async function assertAccount(
  { host, model }: { host: Host; model: ModelServer },
  sessionID: string,
  protection = DEFAULT_PROTECTION,
): Promise<void> {
  const requests = model.requests.filter((request) => request.sessionID === sessionID && request.lane !== "title")
  const logged = await waitForLog(host, sessionID, requests.length)
  const stored = await host.readMessages(sessionID)
  for (const [index, request] of requests.entries()) assertSameStory(request, logged[index])
  assert.equal(logged.length, requests.length, "the plugin's log speaks of more requests than were sent")
  const ordinary = requests.filter((request) => request.lane !== "compaction")
  for (const request of ordinary) {
    assertOnlyOldEvidenceCleared(request, stored, protection)
    assertRestSentAsStored(request, stored)
  }
  assertPaired(ordinary)
  assertStoredUnchanged([], stored)
}

async function waitForLog(host: Host, sessionID: string, count: number): Promise<LoggedRequest[]> {
  const read = (): LoggedRequest[] => readPluginLog(host.log).filter((entry) => entry.sessionID === sessionID)
  await until(`${count} entries in the plugin's log`, 10_000, () => read().length >= count)
  return read()
}

function assertSameStory(request: ModelRequest, logged: LoggedRequest | undefined): void {
  const expected = request.lane === "compaction" ? "native-compaction" : undefined
  if (logged?.skipped !== expected)
    throw new WireFault(request, `the plugin's log says "${logged?.skipped}", expected is "${expected}"`)
  const said = logged?.cleared.map(({ callID }) => callID).toSorted() ?? []
  const sent = findClearedCallIDs(request).toSorted()
  if (said.join() !== sent.join())
    throw new WireFault(request, `cleared are [${sent.join(", ")}], the plugin's log says [${said.join(", ")}]`)
}

function assertOnlyOldEvidenceCleared(
  request: ModelRequest,
  stored: readonly StoredMessage[],
  protection: Protection,
): void {
  const recent = findRecentCalls(request, protection)
  for (const callID of findClearedCallIDs(request)) {
    assertWire(request, !recent.has(callID), `${callID} of a protected recent step stays`)
    const part = findToolPart(stored, callID)
    assertWire(request, part !== undefined && isEvidenceOfOneLook(part), `${callID} is of a kind that may be cleared`)
  }
}

function isEvidenceOfOneLook({ tool, state }: ToolPart): boolean {
  if (state.status !== "completed") return false
  if (tool === "bash") return state.metadata["exit"] === 0
  if (tool === "read") return !INSTRUCTION_FILES.test(basename(textOf(state.input["filePath"])))
  return tool === "grep" || tool === "glob"
}

/** A quarter less than the protected tokens, since this count is not the plugin's estimate. */
function findRecentCalls(request: ModelRequest, protection: Protection): Set<string> {
  const sizes = new Map(findToolResults(request).map(({ callID, text }) => [callID, text.length / 4]))
  const steps = readMessages(request).filter((message) => message.calls.length > 0)
  const recent = new Set<string>()
  let tokens = 0
  for (const [age, { calls }] of steps.toReversed().entries()) {
    if (age >= protection.steps && tokens >= 0.75 * protection.tokens) break
    for (const { callID } of calls) {
      recent.add(callID)
      tokens += sizes.get(callID) ?? 0
    }
  }
  return recent
}

function assertRestSentAsStored(request: ModelRequest, stored: readonly StoredMessage[]): void {
  for (const { callID, text, placeholder } of findToolResults(request)) {
    const state = findToolPart(stored, callID)?.state
    if (placeholder || state === undefined) continue
    const expected = state.status === "completed" ? state.output : state.status === "error" ? state.error : text
    if (text === expected) continue
    throw new WireFault(request, `${callID} was not sent as it is stored\nsent:   ${text}\nstored: ${expected}`)
  }
}

/** The host cuts each output in a summary itself. */
const SUMMARY_OUTPUT_CHARS = 2_000

/** Every call in the summary with its output in full, or with the host's own cut; never with a placeholder. */
export function assertSummarySawOutputs(
  summary: ModelRequest,
  stored: readonly StoredMessage[],
  callIDs: readonly string[],
): void {
  const text = conversationText(summary)
  assertWire(summary, !text.includes(PLACEHOLDER), "the summary is given no placeholder")
  for (const callID of callIDs) {
    const part = findToolPart(stored, callID)
    assertWire(summary, part !== undefined && text.includes(describeForSummary(part)), `the summary is given ${callID}`)
  }
}

export function describeForSummary({ state, tool }: ToolPart): string {
  const call = `[Assistant tool call]: ${tool}(${JSON.stringify(state.input)})`
  if (state.status === "error") return `${call}\n[Tool error]: ${state.error}`
  const output = state.status === "completed" ? state.output : ""
  const cut = output.length > SUMMARY_OUTPUT_CHARS ? `${output.slice(0, SUMMARY_OUTPUT_CHARS)}\n[truncated]` : output
  return `${call}\n[Tool result]: ${cut}`
}

/** The session is busy from the first request to the last and idle after it: nothing stopped and started it again. */
export async function findIdleFaults(
  host: Host,
  sessionID: string,
  requests: readonly ModelRequest[],
): Promise<string[]> {
  const isIdle = ({ type, properties }: HostEvent): boolean =>
    type === "session.idle" && properties["sessionID"] === sessionID
  const [first, last] = [requests[0]?.at ?? 0, requests.at(-1)?.at ?? 0]
  const end = host.events.waitFor("idle", (event) => isIdle(event) && event.at >= last, 10_000)
  const ended = await settles(10_000, end)
  const early = host.events.all.filter((event) => isIdle(event) && event.at >= first && event.at < last)
  const faults = early.map(({ at }) => `idle ${at - first} ms after the first request, while the work was going on`)
  return ended ? faults : [...faults, "never idle after the last request"]
}

/** Calls that neither completed nor, if they say so, exited with 0. */
export const findFailedCalls = (stored: readonly StoredMessage[]): string[] =>
  findToolParts(stored)
    .filter(({ state }) => state.status !== "completed" || (state.metadata["exit"] ?? 0) !== 0)
    .map(
      ({ callID, state }) =>
        `${callID}: ${state.status}, exit ${String(recordOf(recordOf(state)["metadata"])["exit"])}`,
    )

/** Which of the host's two ways to speak to a model it chose, by its own log. */
export function findRuntimes(host: Host): string[] {
  const matches = host.log.matchAll(/message="llm runtime selected" llm\.runtime=(\S+)/g)
  return [...new Set([...matches].map((match) => match[1] ?? ""))]
}
