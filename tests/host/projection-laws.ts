import type { Host } from "./host.ts"
import { listOf, recordOf } from "./json.ts"
import { findClearedCallIDs, findToolResults, readMessages, type ModelRequest } from "./model-request.ts"
import { readPluginLog, type LoggedRequest } from "./plugin-log.ts"
import { findStoredMarks, findToolPart, type StoredMessage, type ToolPart } from "./stored.ts"
import { until } from "./wait.ts"
import { WireFault, assertPaired } from "./wire-assertions.ts"

/** A request with what the plugin said about it. */
export interface AccountedRequest {
  request: ModelRequest
  logged: LoggedRequest
}

/**
 * All requests that a session made in this run of the host, each with its log entry. The plugin writes one per request,
 * which reaches the log a moment later, and one more per compaction; requests that the host sent again after a failure
 * would have none.
 */
export async function accountFor(
  host: Host,
  requests: readonly ModelRequest[],
  sessionID: string,
): Promise<AccountedRequest[]> {
  const own = findOrdinary(requests, sessionID)
  const entries = await until(`a log entry for each of the ${own.length} requests of ${sessionID}`, 10_000, () => {
    const found = findEntries(host.log, sessionID)
    return found.length === own.length && found
  })
  return own.flatMap((request, index) => {
    const logged = entries[index]
    return logged === undefined ? [] : [{ request, logged }]
  })
}

const findOrdinary = (requests: readonly ModelRequest[], sessionID: string): ModelRequest[] =>
  requests.filter((one) => one.sessionID === sessionID && (one.lane === "main" || one.lane === "sub"))

const findEntries = (log: string, sessionID: string): LoggedRequest[] =>
  readPluginLog(log).filter((entry) => entry.sessionID === sessionID && entry.skipped !== "native-compaction")

/**
 * What holds for every request, whichever outputs were chosen: calls and results are paired, everything that is not
 * cleared is what was stored, only outputs that the contract allows are cleared and none of the newest steps, and the
 * plugin's account is what was sent.
 */
export function assertLawful(
  { request, logged }: AccountedRequest,
  stored: readonly StoredMessage[],
  protectedSteps: number,
): void {
  assertPaired([request])
  const recent = findRecentCallIDs(request, protectedSteps)
  for (const { callID, text, placeholder } of findToolResults(request)) {
    const part = findToolPart(stored, callID)
    if (part === undefined) throw new WireFault(request, `${callID} is not stored in this session`)
    if (!placeholder && text !== expectedText(part)) throw new WireFault(request, `${callID} is not what was stored`)
    if (!placeholder || isMarked(part)) continue
    if (recent.has(callID)) throw new WireFault(request, `${callID} is in a protected step and was cleared`)
    const reason = findReasonToKeep(part)
    if (reason !== undefined) throw new WireFault(request, `${callID} was cleared: ${reason}`)
  }
  assertAccount(request, logged, stored)
}

function assertAccount(request: ModelRequest, logged: LoggedRequest, stored: readonly StoredMessage[]): void {
  const byHost = new Set(findStoredMarks(stored))
  const sent = findClearedCallIDs(request).filter((callID) => !byHost.has(callID))
  const said = logged.cleared.map(({ callID }) => callID).toSorted()
  if (sent.toSorted().join() !== said.join())
    throw new WireFault(request, `cleared are [${sent.join(", ")}], the plugin says [${said.join(", ")}]`)
}

function findRecentCallIDs(request: ModelRequest, steps: number): Set<string> {
  const toolSteps = readMessages(request).filter(({ calls }) => calls.length > 0)
  return new Set(toolSteps.slice(-steps).flatMap(({ calls }) => calls.map(({ callID }) => callID)))
}

const expectedText = ({ state }: ToolPart): string | undefined =>
  state.status === "completed" ? state.output : state.status === "error" ? state.error : undefined

const isMarked = ({ state }: ToolPart): boolean => state.status === "completed" && state.time.compacted !== undefined

const CLEARABLE_TOOLS = ["read", "grep", "glob", "bash"]

function findReasonToKeep({ tool, state }: ToolPart): string | undefined {
  if (!CLEARABLE_TOOLS.includes(tool)) return `the tool is ${tool}`
  if (state.status !== "completed") return `it is ${state.status}`
  const { exit, loaded } = recordOf(state.metadata)
  if (tool === "bash" && exit !== 0) return `its exit code is ${String(exit)}`
  if (listOf(loaded).length > 0) return `it loaded ${listOf(loaded).join(", ")}`
  return undefined
}
