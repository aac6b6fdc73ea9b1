import assert from "node:assert/strict"
import { basename } from "node:path"
import { textTokens } from "../../lib/dtc/tokens.ts"
import type { Host } from "./host.ts"
import { excerpt, listOf, textOf, tokensOfBytes, utf8Bytes } from "./json.ts"
import {
  findClearedCallIDs,
  findToolResults,
  readMessages,
  type ModelRequest,
  type WireMessage,
} from "./model-request.ts"
import { readPluginLog, type LoggedRequest } from "./plugin-log.ts"
import type { Scenario } from "./scenario.ts"
import { findStoredMarks, findToolPart, type StoredMessage, type ToolPart } from "./stored.ts"
import { assertFaithfulSummary } from "./summary-claims.ts"
import { until } from "./wait.ts"
import { assertPaired, assertWire, WireFault } from "./wire-assertions.ts"

/** What the newest steps are kept by. */
export interface Protection {
  steps: number
  tokens: number
}

/** The plugin's own. */
const DEFAULT_PROTECTION: Protection = { steps: 4, tokens: 16_000 }

/** As options of the plugin. */
export const protecting = ({ steps, tokens }: Protection) => ({
  protectRecentSteps: steps,
  protectRecentTokens: tokens,
})

/** A request with what the plugin said about it. */
export interface AccountedRequest {
  request: ModelRequest
  logged: LoggedRequest
}

/** One session: what is stored, its ordinary requests (also those of a child session) and its summaries. */
export interface SessionAccount {
  stored: StoredMessage[]
  accounted: AccountedRequest[]
  requests: ModelRequest[]
  summaries: ModelRequest[]
}

/**
 * One settled session, request by request: the wire, the plugin's log and the stored history must tell the same story,
 * only outputs that the contract gives up may be missing, and everything else must have been sent as it is stored.
 * `prunedByHost` are the outputs that the host marked itself; of ours nothing is ever stored.
 */
export async function accountFor(
  scenario: Pick<Scenario, "host" | "model">,
  sessionID: string,
  protection = DEFAULT_PROTECTION,
  prunedByHost: readonly string[] = [],
): Promise<SessionAccount> {
  const account = await readAccount(scenario, sessionID)
  const { stored, accounted, summaries } = account
  for (const one of accounted) assertLawful(one, stored, protection, prunedByHost)
  for (const summary of summaries) assertFaithfulSummary(summary, stored)
  assert.deepEqual(findStoredMarks(stored), prunedByHost, "the stored marks are the host's own")
  return account
}

/**
 * All that a session sent in this run of the host, before which the model had `madeBefore` requests. The plugin writes
 * one entry for each, titles aside; a request that the host sent again after a failure would have none.
 */
export async function readAccount(
  { host, model }: Pick<Scenario, "host" | "model">,
  sessionID: string,
  madeBefore = 0,
): Promise<SessionAccount> {
  const sent = model.requests.slice(madeBefore)
  const own = sent.filter((request) => request.sessionID === sessionID && request.lane !== "title")
  const entries = await waitForLog(host, sessionID, own.length)
  assert.equal(entries.length, own.length, "the plugin looked at each request once, and at nothing else")
  const [summaries, requests] = divide(own, ({ lane }) => lane === "compaction")
  // The entry of a summary and that of the request after it can arrive in either order.
  const [left, judged] = divide(entries, ({ skipped }) => skipped === "native-compaction")
  assert.equal(left.length, summaries.length, "the plugin left the summaries alone, and nothing else because of one")
  assert.deepEqual(
    left.flatMap(({ cleared }) => cleared),
    [],
  )
  const accounted = requests.flatMap((request, index) => {
    const logged = judged[index]
    return logged === undefined ? [] : [{ request, logged }]
  })
  return { stored: await host.readMessages(sessionID), accounted, requests, summaries }
}

const divide = <T>(all: readonly T[], belongs: (one: T) => boolean): [T[], T[]] => [
  all.filter(belongs),
  all.filter((one) => !belongs(one)),
]

/** An entry reaches the log a moment after the request that it is about. */
async function waitForLog(host: Host, sessionID: string, count: number): Promise<LoggedRequest[]> {
  return until(`a log entry for each of the ${count} requests of ${sessionID}`, 10_000, () => {
    const entries = readPluginLog(host.log).filter((entry) => entry.sessionID === sessionID)
    return entries.length >= count && entries
  })
}

/** What holds for every ordinary request, whichever outputs a policy chooses. */
export function assertLawful(
  { request, logged }: AccountedRequest,
  stored: readonly StoredMessage[],
  protection: Protection,
  prunedByHost: readonly string[] = [],
): void {
  assertPaired([request])
  assertWire(request, logged.skipped === undefined, `the plugin judged it, not: ${logged.skipped}`)
  const cleared = findClearedCallIDs(request).filter((callID) => !prunedByHost.includes(callID))
  const said = logged.cleared.map(({ callID }) => callID)
  if (cleared.toSorted().join() !== said.toSorted().join())
    throw new WireFault(request, `cleared are [${cleared.join(", ")}], the plugin's log says [${said.join(", ")}]`)
  const recent = findRecentCallIDs(request, protection)
  for (const callID of cleared) {
    assertWire(request, !recent.has(callID), `${callID} of a protected recent step stays`)
    const reason = findReasonToKeep(findToolPart(stored, callID))
    if (reason !== undefined) throw new WireFault(request, `${callID} was cleared: ${reason}`)
  }
  assertRestSentAsStored(request, stored)
}

/**
 * Whole steps from the newest back until both minimums are met, counted on the wire, which is never less than what the
 * plugin counts: never more protected steps than it knows.
 */
function findRecentCallIDs(request: ModelRequest, protection: Protection): Set<string> {
  const recent = new Set<string>()
  let steps = 0
  let tokens = 0
  for (const message of readMessages(request).toReversed()) {
    if (message.role !== "assistant" && message.results.length === 0) continue
    tokens += countTokens(message)
    if (message.role !== "assistant") continue
    if (message.calls.length > 0) steps++
    for (const { callID } of message.calls) recent.add(callID)
    if (steps >= protection.steps && tokens >= protection.tokens) break
  }
  return recent
}

/** By the plugin's base estimate of each text, with everything around it. */
const countTokens = (message: WireMessage): number =>
  [message.text, ...message.results.map(({ text }) => text)].reduce((sum, text) => sum + textTokens(text), 0) +
  tokensOfBytes(
    utf8Bytes(JSON.stringify({ ...message, text: "", results: message.results.map(({ callID }) => callID) })),
  )

const INSTRUCTION_FILES = /^(agents|agents\.override|claude|context|skill)\.md$/i
const CLEARABLE_TOOLS = ["read", "grep", "glob", "bash"]

function findReasonToKeep(part: ToolPart | undefined): string | undefined {
  if (part === undefined) return "it is not stored in this session"
  const { tool, state } = part
  if (!CLEARABLE_TOOLS.includes(tool)) return `the tool is ${tool}`
  if (state.status !== "completed") return `it is ${state.status}`
  const { exit, loaded } = state.metadata
  if (tool === "bash" && exit !== 0) return `its exit code is ${String(exit)}`
  if (listOf(loaded).length > 0) return `it loaded ${listOf(loaded).join(", ")}`
  if (listOf(state.attachments).length > 0) return "it has attachments"
  const file = basename(textOf(state.input["filePath"]))
  return tool === "read" && INSTRUCTION_FILES.test(file) ? `${file} instructs the model` : undefined
}

/** Every result that is not a placeholder is what the host stored for the call, down to the last character. */
function assertRestSentAsStored(request: ModelRequest, stored: readonly StoredMessage[]): void {
  for (const { callID, text, placeholder } of findToolResults(request)) {
    const part = findToolPart(stored, callID)
    if (part === undefined) throw new WireFault(request, `${callID} is not stored in this session`)
    if (placeholder || text === resultText(part)) continue
    const [sent, kept] = [text, resultText(part) ?? `a call that is ${part.state.status}`].map((one) =>
      excerpt(one, 120),
    )
    throw new WireFault(request, `${callID} was not sent as it is stored\nsent:   ${sent}\nstored: ${kept}`)
  }
}

const resultText = ({ state }: ToolPart): string | undefined =>
  state.status === "completed" ? state.output : state.status === "error" ? state.error : undefined
