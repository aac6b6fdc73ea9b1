import assert from "node:assert/strict"
import type { ProviderSetup } from "./host-config.ts"
import type { Api, ModelRequest } from "./model-request.ts"
import { conversationText, findClearedCallIDs, findToolResult, PLACEHOLDER } from "./model-request.ts"
import { bash, call, fixedUsage, oneByOne, read, type Step } from "./model-script.ts"
import { listOf, recordOf } from "./json.ts"
import type { Scenario, ScenarioSetup } from "./scenario.ts"
import {
  LARGE_LIMIT,
  linesOfTokens,
  ONE_CLEAR_FILES,
  ONE_CLEAR_LIMIT,
  providerWith,
  TARGET_RATIO,
} from "./small-window.ts"
import { storedOutput } from "./stored.ts"
import { until } from "./wait.ts"
import {
  assertClearedExactly,
  assertPaired,
  assertSentInFull,
  assertStoredUnchanged,
  assertWire,
} from "./wire-assertions.ts"

/** Sizes below are chosen around the small model's target: what a scenario reads is clearly below it or clearly above. */
const LIMITS = { small: ONE_CLEAR_LIMIT, large: LARGE_LIMIT }

const PROVIDERS: Record<"chat" | "claude", ProviderSetup> = {
  chat: providerWith("openai", LIMITS),
  claude: providerWith("anthropic", LIMITS),
}

const PAGES = ["page-1", "page-2", "page-3", "page-4", "page-5"]

/** One host for all scenarios of a version: each has its own session, and none of them waits for another start. */
export const MATRIX_SETUP: ScenarioSetup = {
  files: {
    ...ONE_CLEAR_FILES,
    ...Object.fromEntries(PAGES.map((page) => [`${page}.txt`, linesOfTokens(4_500, page)])),
  },
  providers: PROVIDERS,
  // Low enough that no host compacts by itself.
  model: { usage: fixedUsage(2_000) },
  pluginOptions: {
    debug: true,
    dtc: { targetRatio: TARGET_RATIO, protectRecentSteps: 2, protectRecentTokens: 2_000 },
  },
  // Next to nothing is retained, so that a summary is given the outputs that were cleared before.
  config: { compaction: { preserve_recent_tokens: 1_000 } },
  timeoutMs: 900_000,
}

/** What a host version must do to count as working; each throws what it found otherwise. */
export const MATRIX_SCENARIOS: Readonly<Record<string, (scenario: Scenario) => Promise<void>>> = {
  "loads by its file with options": loadsWithOptions,
  "clears on OpenAI's API": async (scenario) => clearsTheOldDuplicate(scenario, "chat/small", "openai"),
  "clears on Anthropic's API": async (scenario) => clearsTheOldDuplicate(scenario, "claude/small", "anthropic"),
  "summary sees no placeholder": summarySeesEverything,
  "dcp_prune forces the next request": pruneForcesTheNextRequest,
}

/** The tool is there, and so is the account that only `debug` of the options gives. */
async function loadsWithOptions({ host, model, runTurn }: Scenario): Promise<void> {
  const { id } = await host.createSession("loading")
  model.script("main", [{ text: "Hello." }])
  const [request] = await runTurn(id, "Hello.", { model: "chat/large" })
  assert.ok(request !== undefined, "no request was made")
  const tools = listOf(request.body["tools"]).map((tool) => recordOf(recordOf(tool)["function"])["name"])
  assertWire(request, tools.includes("dcp_prune"), "dcp_prune is offered")
  await until("the account of a request in the log", 10_000, () => countProjections(host.log) > 0)
}

/** 17.7k tokens at first, 21.7k with the last read: over the target by less than one of the three copies of 5k. */
async function clearsTheOldDuplicate(scenario: Scenario, modelName: string, api: Api): Promise<void> {
  const { host, model, runTurn } = scenario
  const { id } = await host.createSession(`clearing ${api}`)
  const named = (name: string): string => `${api}-${name}`
  const looking: Step[] = [
    { tools: [read("unique.txt", named("unique")), read("repeated.txt", named("first"))] },
    ...oneByOne([
      read("repeated.txt", named("second")),
      read("repeated.txt", named("third")),
      bash("echo on", named("on")),
    ]),
  ]
  model.script("main", looking)
  const calm = await runTurn(id, "Read what is there.", { model: modelName })
  for (const request of calm) assertClearedExactly(request, [])
  const before = await host.readMessages(id)

  model.script("main", oneByOne([read("newest.txt", named("newest"))]))
  const [fits, projected] = await runTurn(id, "Read one more.", { model: modelName })
  assert.ok(fits !== undefined && projected !== undefined, "the last read was not followed by a request")
  const stored = await host.readMessages(id)
  assertClearedExactly(fits, [])
  assertClearedExactly(projected, [named("first")])
  for (const name of ["unique", "second", "third", "on", "newest"]) assertSentInFull(projected, named(name), stored)
  assertPaired([...calm, fits, projected])
  assertWire(projected, projected.api === api, `it speaks ${api}`)
  assertStoredUnchanged(before, stored)
  assertStoredUnchanged(stored, (await host.exportSession(id)).messages)
}

/** 22.5k tokens of pages: over the target in the session's requests, and so they would be in the summary's. */
async function summarySeesEverything({ host, model, runTurn }: Scenario): Promise<void> {
  const { id } = await host.createSession("summary")
  const [first = "", second = "", third = "", ...others] = PAGES
  const readPage = (page: string) => read(`${page}.txt`, page)
  model.script("main", [
    { tools: [first, second, third].map(readPage) },
    ...oneByOne([...others.map(readPage), bash("echo end", "end")]),
  ])
  const requests = await runTurn(id, "Read all pages.", { model: "chat/small" })
  const last = requests.at(-1)
  assert.ok(last !== undefined, "no request was made")
  const cleared = findClearedCallIDs(last)
  assertWire(last, cleared.includes(first), `${first} is cleared before the summary`)

  const summariesBefore = model.requestsOf("compaction").length
  await host.summarize(id, "chat/small")
  await host.waitUntilIdle(id)
  const stored = await host.readMessages(id)
  const [summary, ...more] = model.requestsOf("compaction").slice(summariesBefore)
  assert.ok(summary !== undefined && more.length === 0, `${summary === undefined ? "no" : "more than one"} summary`)
  const text = conversationText(summary)
  assertWire(summary, !text.includes(PLACEHOLDER), "it holds no placeholder")
  for (const callID of cleared)
    assertWire(summary, text.includes(storedOutput(stored, callID).slice(0, 1_000)), `it holds the output of ${callID}`)

  const projections = countProjections(host.log)
  model.script("main", [{ text: "Done." }])
  await runTurn(id, "Go on.", { model: "chat/small" })
  await until("a projection after the summary", 10_000, () => countProjections(host.log) > projections)
}

/** Nothing here comes near the target of the large model. */
async function pruneForcesTheNextRequest({ host, model, runTurn }: Scenario): Promise<void> {
  const { id } = await host.createSession("prune")
  model.script("main", [
    { tools: [read("page-1.txt", "old"), read("page-2.txt", "older")] },
    ...oneByOne([read("unique.txt", "recent"), call("dcp_prune", {}, "prune"), bash("echo on", "after")]),
  ])
  const requests = await runTurn(id, "Read, then free what you can.", { model: "chat/large" })
  const at = requests.findIndex((request) => findToolResult(request, "prune") !== undefined)
  const [forced, next] = requests.slice(Math.max(at, 0))
  assert.ok(at > 0 && forced !== undefined && next !== undefined, "dcp_prune was not answered")
  for (const request of requests.slice(0, at)) assertClearedExactly(request, [])
  assertClearedExactly(forced, ["old", "older"])
  assertClearedExactly(next, ["old", "older"])
  assertPaired(requests)
  const stored = await host.readMessages(id)
  for (const request of [forced, next]) assertSentUntouched(request, stored)
  assertStoredUnchanged([], stored)
}

function assertSentUntouched(request: ModelRequest, stored: Parameters<typeof assertSentInFull>[2]): void {
  for (const callID of ["recent", "prune"]) assertSentInFull(request, callID, stored)
}

/** How the host lays out its log differs between versions; the text does not. */
const countProjections = (log: string): number => log.split("request projected").length - 1
