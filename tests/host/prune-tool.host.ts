import assert from "node:assert/strict"
import { test } from "node:test"
import { listOf, recordOf } from "./json.ts"
import { findClearedCallIDs, findToolResult, type ModelRequest } from "./model-request.ts"
import { bash, call, oneByOne, read, type ScriptedCall, type Step } from "./model-script.ts"
import { playScenario } from "./scenario.ts"
import { accountFor, type AccountedRequest } from "./session-account.ts"
import { FEW_STEPS, filesOfTokens, LARGE_LIMIT, PRESSURE_OPTIONS, providerWith } from "./small-window.ts"
import { findToolPart, storedOutput } from "./stored.ts"
import { until } from "./wait.ts"
import {
  assertClearedExactly,
  assertSentInFull,
  assertStoredUnchanged,
  assertWire,
  WireFault,
} from "./wire-assertions.ts"

/* Nothing here comes near the target of the model: whatever is cleared was asked for. */
const FILES = { ...filesOfTokens(3, 3_000), ...filesOfTokens(2, 1_500, "tail") }
const PROVIDERS = { scripted: providerWith("openai", { large: LARGE_LIMIT }) }

const prune = (id: string): ScriptedCall => call("dcp_prune", {}, id)

test("dcp_prune: the next request clears what it may, the one after nothing more", { timeout: 300_000 }, async () => {
  const setup = { files: FILES, providers: PROVIDERS, pluginOptions: PRESSURE_OPTIONS, timeoutMs: 240_000 }
  await playScenario(setup, async (scenario) => {
    const { host, model, runTurn } = scenario
    const { id } = await host.createSession()
    const looking: Step[] = [
      { tools: [read("old-1.txt", "first"), read("old-2.txt", "second")] },
      { tools: [bash("cat old-3.txt", "shell"), bash("cat old-3.txt; exit 3", "failed")] },
      { tools: [read("old-3.txt", "newest")] },
    ]
    model.script("main", [...looking, ...oneByOne([prune("prune"), bash("echo on", "on"), bash("echo end", "end")])])
    await runTurn(id, "Look, then free what you can.")
    const { stored, accounted } = await accountFor(scenario, id, FEW_STEPS)
    const { before, forced, later } = splitAt(accounted, "prune")
    for (const { request } of before) assertClearedExactly(request, [])
    assertClearedExactly(forced.request, ["first", "second", "shell"])
    for (const callID of ["failed", "newest", "prune"]) assertSentInFull(forced.request, callID, stored)
    assert.equal(later.length, 2)
    assertNothingMore(forced, later)

    assertOffered(forced.request)
    assert.match(storedOutput(stored, "prune"), /next request/)
    assert.doesNotMatch(storedOutput(stored, "prune"), /\b(?:was|were|has been|have been|done)\b/)
    assertStoredUnchanged(stored, (await host.exportSession(id)).messages)
  })
})

test("dcp_prune: it waits for its own session, and through a compaction", { timeout: 300_000 }, async () => {
  const setup = {
    files: FILES,
    providers: PROVIDERS,
    pluginOptions: PRESSURE_OPTIONS,
    // The newest three steps stay behind the summary: two are protected, the first of them may be cleared.
    config: { compaction: { preserve_recent_tokens: 5_000 } },
    timeoutMs: 240_000,
  }
  await playScenario(setup, async (scenario) => {
    const { host, model, home, runTurn } = scenario
    const asking = await host.createSession("asking")
    const other = await host.createSession("other")
    const waiting = bash("until test -e released; do sleep 0.1; done", "waiting")
    const own: Step[] = [
      ...oneByOne([read("old-1.txt", "summarised"), bash("echo x", "x"), read("old-2.txt", "summarised too")]),
      ...oneByOne([read("tail-1.txt", "tail"), read("tail-2.txt", "newest")]),
      { tools: [prune("prune"), waiting], usage: { input: LARGE_LIMIT.context } },
      ...oneByOne([bash("echo on", "on")]),
    ]
    model.script("main", own, asking.id)
    await host.promptAsync(asking.id, "Look, then free what you can.")
    await until("dcp_prune answered", 120_000, async () => {
      const part = findToolPart(await host.readMessages(asking.id), "prune")
      return part?.state.status === "completed"
    })

    model.script("main", [...own.slice(0, 3), ...oneByOne([bash("echo on", "on")])], other.id)
    await runTurn(other.id, "Look, and free nothing.")
    const { accounted: others } = await accountFor(scenario, other.id, FEW_STEPS)
    assert.equal(others.length, 5)
    for (const { request, logged } of others) {
      assertClearedExactly(request, [])
      assertWire(request, !logged.forced, "another session's request is not forced")
    }

    home.write("released", "")
    await host.waitUntilIdle(asking.id)
    const { accounted, summaries } = await accountFor(scenario, asking.id, FEW_STEPS)
    const [summary, ...moreSummaries] = summaries
    assert.ok(summary !== undefined && moreSummaries.length === 0)
    const { before, forced, later } = splitAt(accounted, "prune")
    for (const { request } of before) assertClearedExactly(request, [])
    assertWire(forced.request, forced.request.number > summary.number, "it comes after the summary")
    assertClearedExactly(forced.request, ["tail"])
    assert.equal(later.length, 1)
    assertNothingMore(forced, later)
  })
})

interface Split {
  before: AccountedRequest[]
  forced: AccountedRequest
  later: AccountedRequest[]
}

/** The forced request is the first one that sends the tool's answer. */
function splitAt(accounted: readonly AccountedRequest[], pruneCallID: string): Split {
  const at = accounted.findIndex(({ request }) => findToolResult(request, pruneCallID) !== undefined)
  const forced = accounted[at]
  if (forced === undefined) throw new Error(`no request sends the answer of ${pruneCallID}`)
  assertWire(forced.request, forced.logged.forced, "the request after dcp_prune is forced")
  return { before: accounted.slice(0, at), forced, later: accounted.slice(at + 1) }
}

function assertNothingMore(forced: AccountedRequest, later: readonly AccountedRequest[]): void {
  const known = new Set(findClearedCallIDs(forced.request))
  for (const { request, logged } of later) {
    const fresh = findClearedCallIDs(request).filter((callID) => !known.has(callID))
    if (fresh.length > 0) throw new WireFault(request, `[${fresh.join(", ")}] were cleared after the forced request`)
    assertWire(request, !logged.forced, "it is not forced")
  }
}

/** Without arguments, and with a description that the model can decide by. */
function assertOffered(request: ModelRequest): void {
  const tools = listOf(request.body["tools"]).map((tool) => recordOf(recordOf(tool)["function"]))
  const offered = tools.find(({ name }) => name === "dcp_prune")
  assertWire(request, offered !== undefined, "dcp_prune is offered")
  assert.deepEqual(recordOf(offered["parameters"])["properties"], {})
  assert.match(String(offered["description"]), /next model request/)
}
