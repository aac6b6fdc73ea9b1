import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { BUDGET_TOKENS, findFirstClears, type DemoSession, type FirstClear } from "./demo-session.ts"
import { findLeftovers, findProcessesOf } from "./leftovers.ts"
import { findClearedCallIDs, findPairingFaults, findToolResult } from "./model-request.ts"
import { findStoredChanges, findStoredMarks, findToolPart, findToolParts, storedOutput } from "./stored.ts"
import { unclearedTokens } from "./uncleared-size.ts"

/** Throws when anything that the demo says would not be true. */
export function checkClaims(session: DemoSession): void {
  checkWork(session)
  checkSizes(session)
  checkClears(session)
  checkDatabase(session)
  checkNothingLeft(session)
}

function checkWork({ requests, after, summaries }: DemoSession): void {
  const tools = findToolParts(after)
  assert.ok(tools.length >= 40, `only ${tools.length} tool calls`)
  assert.deepEqual(
    tools.filter((part) => part.state.status !== "completed").map((part) => part.callID),
    [],
    "tools that did not complete",
  )
  assert.equal(summaries, 0, "the host had to compact")
  assert.deepEqual(requests.flatMap(findPairingFaults), [], "calls and results are not paired")
}

function checkSizes({ requests, after }: DemoSession): void {
  const uncleared = requests.map((request) => unclearedTokens(request, after))
  assert.ok(Math.max(...uncleared) > BUDGET_TOKENS, "the session would have fitted without the plugin")
  assert.ok(Math.max(...requests.map((request) => request.tokens)) <= BUDGET_TOKENS, "a request exceeds the budget")
}

/** The plugin's account against the wire and the stored outputs. */
function checkClears(session: DemoSession): void {
  const { requests, logged, after } = session
  assert.deepEqual(
    logged.map(({ skipped, cleared }) => skipped ?? cleared.map(({ callID }) => callID).toSorted()),
    requests.map((request) => findClearedCallIDs(request).toSorted()),
    "the plugin's log and the requests disagree about what was cleared",
  )
  const clears = findFirstClears(session)
  assert.ok(
    clears.some(({ reason, requestIndex }) => reason === "redundant" && requestIndex === clears[0]?.requestIndex),
    "the first clearing left redundant copies aside",
  )
  assert.ok(
    clears.some(({ reason }) => reason === "aged"),
    "nothing was cleared for its age",
  )
  for (const one of clears) if (one.reason === "redundant") checkWitness(session, one)
  const last = requests.at(-1)
  assert.ok(last !== undefined)
  for (const { callID } of findToolParts(after).slice(-4))
    assert.equal(findToolResult(last, callID)?.text, storedOutput(after, callID), `newest output ${callID}`)
}

function checkWitness({ after }: DemoSession, { callID, witnessCallID = "" }: FirstClear): void {
  const [cleared, witness] = [findToolPart(after, callID), findToolPart(after, witnessCallID)]
  assert.ok(cleared !== undefined && witness !== undefined, `${callID} has no witness`)
  const calls = findToolParts(after)
  assert.ok(calls.indexOf(witness) > calls.indexOf(cleared), `the witness of ${callID} is older`)
  assert.equal(witness.tool, cleared.tool)
  assert.deepEqual(witness.state.input, cleared.state.input)
  assert.equal(storedOutput(after, witnessCallID), storedOutput(after, callID))
}

function checkDatabase(session: DemoSession): void {
  const { requests, requestsBefore, before, after } = session
  const clears = findFirstClears(session)
  assert.ok(before.length > 0)
  assert.ok(
    clears.every(({ requestIndex }) => requestIndex >= requestsBefore),
    "something was cleared before the first export",
  )
  assert.deepEqual(findStoredChanges(before, after), [], "stored messages changed")
  assert.deepEqual(findStoredMarks(after), [], "marks reached the database")
  for (const { callID } of clears) {
    const firstSent = requests.map((request) => findToolResult(request, callID)).find((result) => result !== undefined)
    assert.equal(firstSent?.text, storedOutput(after, callID), `${callID} is not stored as it was first sent`)
  }
}

function checkNothingLeft({ folder }: DemoSession): void {
  assert.ok(!existsSync(folder), `${folder} was left behind`)
  assert.deepEqual(findProcessesOf(folder), [], "processes were left behind")
  assert.deepEqual(findLeftovers(), { folders: [], processes: [] })
}
