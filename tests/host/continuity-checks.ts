import { SLOW_COMMAND_MS, TracedCommand } from "./continuity-commands.ts"
import type { HostEvent } from "./host-events.ts"
import type { Host } from "./host.ts"
import { recordOf } from "./json.ts"
import { conversationText, findPairingFaults, PLACEHOLDER, type ModelRequest } from "./model-request.ts"
import { bash } from "./model-script.ts"
import type { Scenario } from "./scenario.ts"
import { findToolPart, type StoredMessage } from "./stored.ts"
import { settles, until } from "./wait.ts"

/** One claim about what happened. Failing is a result here, not an exception: the others are still made. */
export interface Check {
  claim: string
  holds: boolean
  found: unknown
}

export type Play = Pick<Scenario, "host" | "model" | "home">

export const findFailures = (checks: readonly Check[]): string[] =>
  checks.filter(({ holds }) => !holds).map(({ claim }) => claim)

export function assertChecks(checks: readonly Check[]): void {
  const failed = checks.filter(({ holds }) => !holds)
  const lines = failed.map(({ claim, found }) => `not so: ${claim}\n  found: ${JSON.stringify(found)}`)
  if (lines.length > 0) throw new Error(lines.join("\n"))
}

/** Usage that makes the host compact as soon as the step is over, whatever the window of a scenario is. */
export const PRESSURE = { input: 1_000_000 }

/** Long enough to look at the host from outside while it waits for the summary. */
const SUMMARY = { text: "## Goal\nGo on.\n\n## Progress\nThe slow command has succeeded.", delayMs: 2_000 }

/**
 * A slow command runs while the host learns that it must compact. It has to run to its end first, the summary has to see
 * its success, and the work has to go on without a stop.
 */
export async function playSlowToolDuringCompaction(play: Play): Promise<Check[]> {
  const { host, model, home } = play
  const { id } = await host.createSession("slow tool during automatic compaction")
  const slow = TracedCommand.slow(home, "slow")
  model.script("main", [{ tools: [slow.call], usage: PRESSURE }, { tools: [bash("echo after", "after")] }], id)
  model.script("compaction", [SUMMARY], id)
  const turn = host.prompt(id, "Run the slow command, then the next one.")
  const checks = await Promise.all([checkAtSummary(play, id, slow), turn]).then(([found]) => found)
  await host.waitUntilIdle(id)
  const stored = await host.readMessages(id)
  const requests = model.requests.filter((request) => request.sessionID === id && request.lane !== "title")
  const summaries = requests.filter((request) => request.lane === "compaction")
  return [
    ...checks,
    ...checkSlowCommand(slow, stored),
    { claim: "the host compacted once", holds: summaries.length === 1, found: summaries.length },
    checkExit(stored, "after", 0),
    ...(await checkContinuity(play, id, requests)),
  ]
}

/** At the moment when the summary is asked for, which waits for its answer meanwhile. */
export async function checkAtSummary({ host, model }: Play, sessionID: string, slow: TracedCommand): Promise<Check[]> {
  const isSummary = (request: ModelRequest): boolean => request.lane === "compaction" && request.sessionID === sessionID
  const summary = await model.waitForRequest("for a summary", isSummary, 120_000)
  const [ended, appends] = [slow.endedAt, slow.appends]
  const [busy, stored] = await Promise.all([host.isBusy(sessionID), host.readMessages(sessionID)])
  const text = conversationText(summary)
  const exit = checkExit(stored, slow.callID, 0)
  return [
    {
      claim: "the slow command ended before the summary",
      holds: ended !== undefined && ended <= summary.at,
      found: ended,
    },
    { ...exit, claim: `${exit.claim}, already at the summary` },
    { claim: "one append to the ledger at the summary", holds: appends === 1, found: appends },
    { claim: "the session is busy during the summary", holds: busy, found: busy },
    {
      claim: "the summary is given the slow command's output",
      holds: text.includes(`${slow.callID} done\n`),
      found: text.slice(-400),
    },
    { claim: "the summary is given no placeholder", holds: !text.includes(PLACEHOLDER), found: undefined },
  ]
}

/** By its traces on disk first, by what the host says about it second. */
export function checkSlowCommand(slow: TracedCommand, stored: readonly StoredMessage[]): Check[] {
  const elapsed = slow.endedAt === undefined ? undefined : slow.endedAt - (slow.startedAt ?? slow.endedAt)
  const state = findToolPart(stored, slow.callID)?.state
  const output = state?.status === "completed" ? state.output : undefined
  return [
    {
      claim: `the slow command ran for ${SLOW_COMMAND_MS} ms, to its end`,
      // File times and a shell's sleep may differ by a few milliseconds.
      holds: elapsed !== undefined && elapsed >= SLOW_COMMAND_MS - 50,
      found: elapsed,
    },
    checkExit(stored, slow.callID, 0),
    { claim: "its output is stored as it was printed", holds: output === `${slow.callID} done\n`, found: output },
    { claim: "one append to the ledger, no replay", holds: slow.appends === 1, found: slow.appends },
  ]
}

export function checkExit(stored: readonly StoredMessage[], callID: string, exit: number | null): Check {
  const state = findToolPart(stored, callID)?.state
  const found = state?.status === "completed" ? state.metadata["exit"] : undefined
  return { claim: `${callID} completed with exit ${exit}`, holds: found === exit, found: state }
}

async function checkContinuity({ host }: Play, sessionID: string, requests: readonly ModelRequest[]): Promise<Check[]> {
  const idle = await findIdleFaults(host, sessionID, requests)
  const pairing = requests.flatMap(findPairingFaults)
  return [
    { claim: "the session is busy until the end, then idle", holds: idle.length === 0, found: idle },
    { claim: "every request pairs calls and results", holds: pairing.length === 0, found: pairing },
  ]
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

/**
 * Two commands run side by side and are cancelled. With `afterSuccess` a third one of the same response has succeeded
 * before; the host's Native LLM mode stores no success before all have settled, so there this cannot be asked.
 */
export async function playExplicitCancel(play: Play, { afterSuccess = false } = {}): Promise<Check[]> {
  const { host, model, home } = play
  const { id } = await host.createSession("explicit cancel")
  const siblings = ["left", "right"].map((name) => TracedCommand.waiting(home, name))
  const quick = afterSuccess ? [bash("echo quick", "quick")] : []
  model.script("main", [{ tools: [...quick, ...siblings.map(({ call }) => call)] }], id)
  await host.promptAsync(id, "Run them side by side.")
  for (const sibling of siblings) await sibling.waitUntilStarted()
  if (afterSuccess) await until("the quick command's success", 30_000, async () => hasSucceeded(play, id, "quick"))
  const running = await host.readMessages(id)
  const seen = siblings.map(({ callID }) => findToolPart(running, callID)?.state.status)
  await host.abort(id)
  await host.waitUntilIdle(id)

  const stored = await host.readMessages(id)
  const alive = siblings.map(({ runningPid }) => runningPid).filter((pid) => pid !== undefined)
  const ended = siblings.filter(({ endedAt }) => endedAt !== undefined).map(({ callID }) => callID)
  const asked = model.requests.length
  model.script("main", [{ text: "Ready for more." }], id)
  await host.prompt(id, "Go on with something else.")
  const next = model.requests.slice(asked).filter((request) => request.lane === "main")
  const pairing = next.flatMap(findPairingFaults)
  return [
    { claim: "both commands ran at once", holds: seen.every((status) => status === "running"), found: seen },
    ...(afterSuccess ? [checkExit(stored, "quick", 0)] : []),
    ...siblings.map(({ callID }) => checkCancelled(stored, callID)),
    { claim: "no cancelled shell is left", holds: alive.length === 0, found: alive },
    { claim: "no cancelled command came to its end", holds: ended.length === 0, found: ended },
    { claim: "the next prompt makes one request", holds: next.length === 1, found: next.length },
    { claim: "it pairs calls and results", holds: pairing.length === 0, found: pairing },
  ]
}

async function hasSucceeded({ host }: Play, sessionID: string, callID: string): Promise<boolean> {
  return checkExit(await host.readMessages(sessionID), callID, 0).holds
}

/** Settled either way, and never as a success. */
function checkCancelled(stored: readonly StoredMessage[], callID: string): Check {
  const state = findToolPart(stored, callID)?.state
  const aborted =
    state?.status === "error"
      ? state.error.includes("aborted")
      : state?.status === "completed" && recordOf(state.metadata)["exit"] === null && state.output.includes("aborted")
  return { claim: `${callID} settled as aborted`, holds: aborted, found: state }
}
