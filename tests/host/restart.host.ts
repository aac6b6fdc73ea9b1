import assert from "node:assert/strict"
import { test } from "node:test"
import { isDeepStrictEqual } from "node:util"
import { listOf, recordOf } from "./json.ts"
import { findClearedCallIDs, findToolResult, findToolResults, type ModelRequest } from "./model-request.ts"
import { bash, call, read, type Step } from "./model-script.ts"
import { describeRequest } from "./request-summary.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { assertLawful, readAccount } from "./session-account.ts"
import { FEW_STEPS, filesOfTokens, smallWindowSetup } from "./small-window.ts"
import { WireFault, assertStoredUnchanged, assertWire } from "./wire-assertions.ts"

/*
 * Both sessions make the same calls in their first turn and in the last one; what happened between them must make no
 * difference. The first turn clears on demand, the last one by pressure, and what a plugin could remember of it is lost
 * when the host is killed.
 */
const FIRST: Step[] = [
  { tools: [read("old-1.txt", "a"), read("old-2.txt", "b")] },
  { tools: [bash("echo one", "one")] },
  { tools: [call("dcp_prune", {}, "prune"), read("old-3.txt", "c"), read("old-4.txt", "d"), read("old-5.txt", "e")] },
  { tools: [bash("echo two", "two")] },
]
const UNDONE: Step[] = [{ tools: [read("old-7.txt", "undone"), call("dcp_prune", {}, "undone prune")] }]
const LAST: Step[] = [{ tools: [read("old-6.txt", "f")] }]

const FILES = filesOfTokens(7, 6_000)
const BAD_TEXT = "A turn that will be undone."
const LAST_TEXT = "The last turn."

test("Fresh start, fork, undo, restart: the same requests as without", { timeout: 480_000 }, async () => {
  await playScenario(smallWindowSetup(FILES, 420_000), async (scenario) => {
    const { host } = scenario
    const control = (await host.createSession("control")).id
    await play(scenario, control, "Look around.", FIRST)
    const expected = await play(scenario, control, LAST_TEXT, LAST)
    assertPressure(expected)
    const kept = await host.readMessages(control)

    const fork = await host.fork(control, await findPrompt(scenario, control, LAST_TEXT))
    assertSameRequests("forked", await play(scenario, fork.id, LAST_TEXT, LAST), expected)
    assertStoredUnchanged(kept, await host.readMessages(control))

    const { id } = await host.createSession("interrupted")
    await play(scenario, id, "Look around.", FIRST)
    const [, bad] = await play(scenario, id, BAD_TEXT, UNDONE)
    assert.ok(bad !== undefined && findToolResult(bad, "undone") !== undefined)
    await host.revert(id, await findPrompt(scenario, id, BAD_TEXT))
    assertSameRequests("undone", await play(scenario, id, LAST_TEXT, LAST), expected)

    await host.revert(id, await findPrompt(scenario, id, LAST_TEXT))
    const before = await host.readMessages(id)
    await host.restart("SIGKILL")
    assertStoredUnchanged(before, await host.readMessages(id))
    // A host that is still starting can answer the plugin too late; that is a reason to skip a request, not to differ.
    await scenario.runTurn((await host.createSession("first of this run")).id, "Are you there?")
    const restarted = await play(scenario, id, LAST_TEXT, LAST, scenario.model.requests.length)
    assertSameRequests("restarted", restarted, expected)
  })
})

/** One turn, each of its requests lawful by itself. `madeBefore` this run of the host the model had so many requests. */
async function play(
  scenario: Scenario,
  id: string,
  text: string,
  steps: readonly Step[],
  madeBefore = 0,
): Promise<ModelRequest[]> {
  const { model, runTurn } = scenario
  model.script("main", steps, id)
  const requests = (await runTurn(id, text)).filter(({ lane }) => lane === "main")
  assert.equal(requests.length, steps.length + 1)
  const { stored, accounted } = await readAccount(scenario, id, madeBefore)
  for (const one of accounted.slice(-requests.length)) assertLawful(one, stored, FEW_STEPS)
  return requests
}

/** Both had the same calls, so the messages are the same down to the last character. */
function assertSameRequests(name: string, actual: readonly ModelRequest[], expected: readonly ModelRequest[]): void {
  for (const [index, request] of actual.entries()) {
    const reference = expected[index]
    if (isDeepStrictEqual(conversationOf(request), reference && conversationOf(reference))) continue
    const wanted = reference === undefined ? "no such request" : describeRequest(reference)
    throw new WireFault(
      request,
      `the ${name} session's request ${index} differs from the uninterrupted one's: ${wanted}`,
    )
  }
}

/** The system prompt is the host's and no part of the projection. */
const conversationOf = (request: ModelRequest): unknown[] =>
  listOf(request.body["messages"]).filter((message) => recordOf(message)["role"] !== "system")

/** Some of what the last turn sends is cleared, and some of what could be is not: both could go wrong. */
function assertPressure(requests: readonly ModelRequest[]): void {
  for (const request of requests) {
    const cleared = findClearedCallIDs(request)
    assertWire(request, cleared.length > 0, "something is cleared")
    assertWire(
      request,
      findToolResults(request).some(({ placeholder, text }) => !placeholder && text.length > 4_000),
      "a large output is sent",
    )
  }
}

async function findPrompt({ host }: Scenario, id: string, text: string): Promise<string> {
  const found = (await host.readMessages(id)).findLast(
    ({ info, parts }) => info.role === "user" && parts.some((part) => part.type === "text" && part.text === text),
  )
  if (found === undefined) throw new Error(`no prompt "${text}"`)
  return found.info.id
}
