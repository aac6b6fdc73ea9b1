import assert from "node:assert/strict"
import { test } from "node:test"
import { isDeepStrictEqual } from "node:util"
import {
  conversationText,
  findToolResult,
  findToolResults,
  PLACEHOLDER,
  type Api,
  type ModelRequest,
} from "./model-request.ts"
import { bash, call, read, type Step } from "./model-script.ts"
import { readDispatches, readPluginLog, type LoggedDispatch } from "./plugin-log.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor } from "./session-account.ts"
import {
  FEW_STEPS,
  filesOfTokens,
  LARGE_LIMIT,
  NO_COMPACTION,
  PRESSURE_OPTIONS,
  providerWith,
  SMALL_LIMIT,
} from "./small-window.ts"
import { assertResultsAsListed, assertRowsOnWire } from "./source-rows.ts"
import { findToolPart, storedOutput } from "./stored.ts"
import { until } from "./wait.ts"
import { assertCleared, assertStoredUnchanged, assertWire } from "./wire-assertions.ts"

const LIMITS = { small: SMALL_LIMIT, large: LARGE_LIMIT }
const PROVIDERS = { chat: providerWith("openai", LIMITS), claude: providerWith("anthropic", LIMITS) }
const MODELS = ["chat/large", "claude/large"] as const
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const FILES = {
  ...filesOfTokens(5, 6_000),
  "a.txt": "alpha\n",
  "b.txt": "beta\n",
  "pixel.png": Buffer.from(PIXEL, "base64"),
}
const ENOUGH = 30

/** A request with the map that was published for it. */
interface Mapped {
  request: ModelRequest
  dispatch: LoggedDispatch
}

/** All that one session sent in this run of the host; what was sent again after a failure is one request. */
async function findMapped({ host, model }: Scenario, sessionID: string, madeBefore = 0): Promise<Mapped[]> {
  const sent = model.requestsOf("main", sessionID).filter(({ number }) => number > madeBefore)
  const requests = sent.filter((request, index) => !isDeepStrictEqual(request.body, sent[index + 1]?.body))
  const dispatches = await until(`${requests.length} dispatches of ${sessionID}`, 10_000, () => {
    const own = readDispatches(host.log).filter((one) => one.sessionID === sessionID)
    return own.length >= requests.length && own
  })
  assert.equal(dispatches.length, requests.length, "each request is published once, and nothing else is")
  return requests.flatMap((request, index) => {
    const dispatch = dispatches[index]
    return dispatch ? [{ request, dispatch }] : []
  })
}

const modelOf = ({ api, body }: ModelRequest): string =>
  `${api === "openai" ? "chat" : "claude"}/${String(body["model"])}`

/** Every row is what the wire has in its place. Answers how many requests each API had. */
async function assertMapsHold(
  scenario: Scenario,
  sessionID: string,
  mapped: readonly Mapped[],
): Promise<Record<Api, number>> {
  const stored = await scenario.host.readMessages(sessionID)
  const counts = { openai: 0, anthropic: 0 }
  for (const { request, dispatch } of mapped) {
    assertRowsOnWire(request, dispatch.sources, stored, modelOf(request))
    const results = new Map(findToolResults(request).map(({ callID, text }) => [callID, text]))
    assertResultsAsListed(request, dispatch.sources, results)
    counts[request.api]++
  }
  return counts
}

const looking: Step[] = [
  { text: "I look.", reasoning: "What is there?", tools: [read("a.txt"), read("b.txt"), bash("exit 3")] },
  { reasoning: "And then?", tools: [read("missing.txt")] },
  { text: "Seen." },
]

test("source map: each row is the message on the wire, over both APIs", { timeout: 240_000 }, async () => {
  const setup = { files: FILES, providers: PROVIDERS, pluginOptions: PRESSURE_OPTIONS, config: NO_COMPACTION }
  await playScenario(setup, async (scenario) => {
    const { host, model, runTurn } = scenario
    const { id } = await host.createSession()
    const say = async (
      text: string,
      steps: readonly Step[] = [],
      models: readonly string[] = MODELS,
    ): Promise<void> => {
      for (const name of models) {
        model.script("main", steps, id)
        await runTurn(id, text, { model: name })
      }
    }
    await say("Look around.", looking)
    await say("The same again.", looking)
    await say("Say nothing.", [{ text: "" }])
    await say("Look at a picture.", [{ tools: [read("pixel.png")] }, { text: "One pixel." }])
    await say("Fail.", [{ fail: { status: 400 } }])
    await host.call("POST", `/session/${id}/shell`, { agent: "build", command: "echo by hand" })
    await say("What did I do?")
    const image = { type: "file", mime: "image/png", url: `data:image/png;base64,${PIXEL}`, filename: "p.png" }
    await host.prompt(id, "", { model: "claude/large", parts: [{ type: "text", text: "And this?" }, image] })
    await queueTwo(scenario, id)
    await abortTool(scenario, id)
    await say("Once more.", [{ tools: [read("a.txt")] }])

    const first = await findMapped(scenario, id)
    const counts = await assertMapsHold(scenario, id, first)
    assertIndexed(
      first,
      (await host.readMessages(id)).map(({ info }) => info.id),
    )
    assert.ok(first.some(({ dispatch }) => dispatch.sources.some(({ type }) => type === "runtime-context")))
    assert.ok(
      counts.openai + counts.anthropic >= ENOUGH && counts.openai >= 12 && counts.anthropic >= 12,
      JSON.stringify(counts),
    )

    const before = model.requests.length
    await killDuringTool(scenario, id)
    await say("Go on after that.")
    const restarted = await findMapped(scenario, id, before + 1)
    await assertMapsHold(scenario, id, restarted)
    assert.ok(restarted.every(({ dispatch }) => dispatch.sources.some(({ type }) => type === "tool-repair")))
  })
})

/** Without a compaction the hook's array is the stored session. */
function assertIndexed(mapped: readonly Mapped[], ids: readonly string[]): void {
  for (const { request, dispatch } of mapped) {
    for (const { messageIndex, messageID } of dispatch.sources)
      assertWire(request, ids[messageIndex] === messageID, `row ${messageIndex} is ${messageID}`)
    const last = dispatch.sources.at(-1)?.messageIndex ?? -1
    assertWire(
      request,
      dispatch.historyMessageCount === last + 1,
      `${dispatch.historyMessageCount} messages up to index ${last}`,
    )
  }
}

/** Two prompts that wait for a running tool arrive together. */
async function queueTwo({ host, model, home }: Scenario, id: string): Promise<void> {
  model.script("main", [{ tools: [bash("until test -e released; do sleep 0.05; done", "waiting")] }], id)
  await host.promptAsync(id, "Wait.", { model: "chat/large" })
  await waitForStatus(host, id, "waiting", "running")
  for (const text of ["First queued.", "Second queued."]) await host.promptAsync(id, text, { model: "claude/large" })
  home.write("released", "")
  await host.waitUntilIdle(id)
}

async function abortTool({ host, model }: Scenario, id: string): Promise<void> {
  model.script("main", [{ text: "I wait.", tools: [bash("sleep 60", "aborted")] }], id)
  await host.promptAsync(id, "Wait long.", { model: "chat/large" })
  await waitForStatus(host, id, "aborted", "running")
  await host.abort(id)
  await host.waitUntilIdle(id)
}

/** The killed host leaves a tool that runs for ever in the store. */
async function killDuringTool({ host, model }: Scenario, id: string): Promise<void> {
  model.script("main", [{ tools: [bash("sleep 30", "cut off")] }], id)
  await host.promptAsync(id, "Wait for ever.", { model: "chat/large" })
  await waitForStatus(host, id, "cut off", "running")
  await host.restart("SIGKILL")
}

async function waitForStatus(host: Scenario["host"], id: string, callID: string, status: string): Promise<void> {
  await until(
    `${callID} ${status}`,
    30_000,
    async () => findToolPart(await host.readMessages(id), callID)?.state.status === status,
  )
}

test("source map: a summary, its request and the retained tail", { timeout: 240_000 }, async () => {
  const config = { compaction: { auto: false, preserve_recent_tokens: 2_000 } }
  await playScenario(
    { files: FILES, providers: PROVIDERS, pluginOptions: PRESSURE_OPTIONS, config },
    async (scenario) => {
      const { host, model, runTurn } = scenario
      const { id } = await host.createSession()
      model.script("main", [{ tools: [read("old-1.txt")] }, { tools: [read("a.txt")] }, { tools: [read("b.txt")] }], id)
      await runTurn(id, "Look around.", { model: "chat/large" })
      await host.summarize(id, "chat/large")
      for (const name of MODELS) await runTurn(id, "Go on.", { model: name })
      const mapped = await findMapped(scenario, id)
      await assertMapsHold(scenario, id, mapped)
      const [last] = mapped.slice(-1)
      const [request, summary, next] = last?.dispatch.sources ?? []
      assert.deepEqual(
        [request?.type, request?.role, summary?.type, summary?.role],
        ["compaction", "user", "compaction", "assistant"],
      )
      assert.ok(request?.type === "compaction" && summary?.type === "compaction")
      assert.deepEqual([request.checkpointId, summary.checkpointId], [request.messageID, request.messageID])
      assert.equal(request.summarizedBefore, next?.messageID, "the tail begins behind the summary")
      assert.notEqual(request.summarizedBefore, request.messageID)
    },
  )
})

for (const name of ["chat/small", "claude/small"])
  test(
    `status and recall: what is cleared on the wire can be had again, byte for byte: ${name}`,
    { timeout: 240_000 },
    async () => {
      const setup = { files: FILES, providers: PROVIDERS, pluginOptions: PRESSURE_OPTIONS, config: NO_COMPACTION }
      await playScenario(setup, async (scenario) => {
        const { host, model, home } = scenario
        const { id } = await host.createSession()
        const recall = (fields: Record<string, unknown>, callID: string) => call("dcp_recall", fields, callID)
        const given = { tool: "", input: "", callID: "", offset: 0, limit: 0 }
        model.script(
          "main",
          [
            { tools: Object.keys(filesOfTokens(5, 1)).map((file) => read(file, file)) },
            { tools: [bash("echo one", "one")] },
            { tools: [bash("echo two", "two")] },
            {
              tools: [
                call("dcp_status", {}, "status"),
                recall({ ...given, tool: "read", input: "old-1.txt" }, "exact"),
                recall({ input: "old-" }, "several"),
              ],
            },
            { tools: [bash("until test -e released; do sleep 0.05; done", "waiting")] },
            {
              tools: [
                recall({ ...given, callID: "old-2.txt", offset: 3, limit: 2 }, "page"),
                recall({ ...given, callID: "nothing" }, "none"),
              ],
            },
            { tools: [recall({ callID: "old-1.txt" }, "queued")] },
          ],
          id,
        )
        await host.promptAsync(id, "Look, then look again.", { model: name })
        await waitForStatus(host, id, "waiting", "running")
        await host.promptAsync(id, "Queued.", { model: name })
        home.write("released", "")
        await host.waitUntilIdle(id)

        const { accounted, requests, stored } = await accountFor(scenario, id, FEW_STEPS)
        const mapped = await findMapped(scenario, id)
        await assertMapsHold(scenario, id, mapped)
        const asked = accounted.find(({ request }) => findToolResult(request, "exact") !== undefined)
        assert.ok(asked !== undefined)
        assertCleared(asked.request, "old-1.txt")
        assertWire(
          asked.request,
          findToolResult(asked.request, "exact")?.text === storedOutput(stored, "old-1.txt"),
          "the original came back",
        )
        for (const request of requests.slice(requests.indexOf(asked.request)))
          assertWire(request, findToolResult(request, "exact")?.text !== PLACEHOLDER, "a recalled output stays")
        assert.equal(storedOutput(stored, "queued"), storedOutput(stored, "old-1.txt"), "a queued prompt blinds nobody")
        assert.match(
          storedOutput(stored, "several"),
          /^\d cleared outputs match\.[\s\S]*callID old-1\.txt: read \{"filePath":"[^\n]*old-1\.txt"\}/,
        )
        assert.match(storedOutput(stored, "none"), /^No cleared output/)
        const lines = storedOutput(stored, "old-2.txt").split("\n")
        assert.equal(
          storedOutput(stored, "page"),
          `${lines[2]}\n${lines[3]}\n\n(Lines 3-4 of ${lines.length}. Call again with offset 5 for more.)`,
        )
        assertStatus(storedOutput(stored, "status"), accounted, mapped)
        assert.ok(conversationText(requests.at(-1) ?? asked.request).includes("Queued."))
        assertStoredUnchanged(stored, (await host.exportSession(id)).messages)
        for (const { sessionID } of readPluginLog(host.log)) assert.equal(sessionID, id)
      })
    },
  )

/** Of the request that the model answered with the call: the one before the first that carries the answer. */
function assertStatus(
  status: string,
  accounted: readonly {
    request: ModelRequest
    logged: { cleared: readonly { callID: string }[]; stats: Record<string, string> }
  }[],
  mapped: readonly Mapped[],
): void {
  const at = accounted.findIndex(({ request }) => findToolResult(request, "status") !== undefined) - 1
  const [told, map] = [accounted[at], mapped[at]?.dispatch]
  assert.ok(told !== undefined && map !== undefined)
  const figure = (name: string): string => Number(told.logged.stats[name]).toLocaleString("en-US")
  assert.ok(told.logged.cleared.length > 0)
  for (const line of [
    `Budget: ${figure("inputBudget")} tokens of input, from the host's catalog. Above the target of ${figure("targetTokens")} tokens`,
    `Estimate: ${figure("estimatedBefore")} tokens before clearing, ${figure("estimatedAfter")} tokens after`,
    `Cleared: ${told.logged.cleared.length} output`,
    `Source map: ${map.sources.length} messages sent`,
    `from ${map.historyMessageCount} stored ones.`,
    ...told.logged.cleared.map(({ callID }) => `  read ${callID}: `),
  ])
    assert.ok(status.includes(line), `${line}\nis not in\n${status}`)
}
