import assert from "node:assert/strict"
import { test } from "node:test"
import { conversationText, findClearedCallIDs, findToolResult, type Api, type ModelRequest } from "./model-request.ts"
import { bash, read, type Step } from "./model-script.ts"
import { fixturePlugin, pluginByFolder } from "./plugin.ts"
import { readPluginLog } from "./plugin-log.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor } from "./session-account.ts"
import {
  FEW_STEPS,
  filesOfTokens,
  LARGE_BUDGET,
  LARGE_LIMIT,
  NO_COMPACTION,
  PRESSURE_OPTIONS,
  providerWith,
  SMALL_BUDGET,
  SMALL_LIMIT,
} from "./small-window.ts"
import { until } from "./wait.ts"
import { assertClearedExactly, assertPaired, assertStoredUnchanged, assertWire } from "./wire-assertions.ts"

const LIMITS = { small: SMALL_LIMIT, large: LARGE_LIMIT }
const PROVIDERS = { chat: providerWith("openai", LIMITS), claude: providerWith("anthropic", LIMITS) }
const FILES = filesOfTokens(5, 6_000)

/** 30k tokens in one step, over the small models' target. */
const lookingWith = (prefix: string): Step => ({
  tools: Object.keys(FILES).map((file) => read(file, `${prefix}-${file}`)),
})

const waitFor = (file: string): Step => ({ tools: [bash(`until test -e ${file}; do sleep 0.1; done`, file)] })

const echo = (id: string): Step => ({ tools: [bash(`echo ${id}`, id)] })

const modelOf = (request: ModelRequest): string => `${request.api} ${String(request.body["model"])}`

test("Both wires: a queued prompt's model counts from the next request", { timeout: 300_000 }, async () => {
  const setup = {
    files: FILES,
    providers: PROVIDERS,
    pluginOptions: PRESSURE_OPTIONS,
    config: NO_COMPACTION,
    timeoutMs: 240_000,
  }
  await playScenario(setup, async (scenario) => {
    const { host, model, home } = scenario
    const { id } = await host.createSession()
    const steps = [lookingWith("own"), echo("one"), waitFor("first"), echo("two"), waitFor("second"), waitFor("third")]
    model.script("main", steps)
    await host.promptAsync(id, "Look around.", { model: "chat/large" })
    const queued = [
      { tool: "first", model: "claude/small" },
      { tool: "second", model: "chat/large" },
      { tool: "third", model: "chat/small" },
    ]
    for (const { tool, model: next } of queued) {
      await waitForTool(scenario, id, tool)
      await host.promptAsync(id, `Go on with ${next}.`, { model: next })
      home.write(tool, "")
    }
    await model.waitForRequest(
      "after the last wait",
      (request) => findToolResult(request, "third") !== undefined,
      120_000,
    )
    await host.waitUntilIdle(id)

    const { stored, accounted } = await accountFor(scenario, id, FEW_STEPS)
    assert.deepEqual(
      accounted.map(({ request, logged }) => `${modelOf(request)}, ${logged.stats["inputBudget"]}`),
      [
        ...Array.from({ length: 3 }, () => `openai large, ${LARGE_BUDGET}`),
        ...Array.from({ length: 2 }, () => `anthropic small, ${SMALL_BUDGET}`),
        `openai large, ${LARGE_BUDGET}`,
        `openai small, ${SMALL_BUDGET}`,
      ],
    )
    for (const { request } of accounted)
      if (modelOf(request).endsWith("large")) assertClearedExactly(request, [])
      else assertWire(request, findClearedCallIDs(request).length > 0, "the small model's request is cleared")
    const texts = accounted.map(({ request }) => queued.filter(({ model: name }) => isTold(request, name)).length)
    assert.deepEqual(texts, [0, 0, 0, 1, 1, 2, 3])
    assertStoredUnchanged(stored, (await host.exportSession(id)).messages)
  })
})

const isTold = (request: ModelRequest, model: string): boolean =>
  conversationText(request).includes(`Go on with ${model}.`)

/** The host stores the tool as running before the command runs. */
async function waitForTool({ host }: Scenario, sessionID: string, callID: string): Promise<void> {
  await host.events.waitFor(
    `${callID} running`,
    ({ type, properties }) => {
      if (type !== "message.part.updated") return false
      const part = JSON.stringify(properties)
      return part.includes(sessionID) && part.includes(`"callID":"${callID}"`) && part.includes('"status":"running"')
    },
    120_000,
  )
}

/** Without a tuple: what the plugin is told stands in the project's own file. */
test("Both wires: plan-mode reminders, and a message that cannot be read", { timeout: 300_000 }, async () => {
  const setup = {
    files: { ...FILES, ".opencode/dcp.jsonc": `// for this project\n${JSON.stringify(PRESSURE_OPTIONS)}` },
    providers: PROVIDERS,
    plugins: [fixturePlugin("throwing-getter.ts"), pluginByFolder()],
    config: NO_COMPACTION,
    timeoutMs: 240_000,
  }
  await playScenario(setup, async (scenario) => {
    for (const [provider, api] of [["chat", "openai"] as const, ["claude", "anthropic"] as const])
      await checkReminders(scenario, `${provider}/small`, api)
  })
})

async function checkReminders(scenario: Scenario, modelName: string, api: Api): Promise<void> {
  const { host, model, runTurn } = scenario
  const { id } = await host.createSession()
  const options = { model: modelName }
  model.script("main", [lookingWith(api), echo(`${api}-one`), echo(`${api}-two`)], id)
  await runTurn(id, "Look around.", options)
  model.script("main", [echo(`${api}-plan`)], id)
  const planned = await runTurn(id, "Make a plan.", { ...options, agent: "plan" })
  const [built] = await runTurn(id, "Carry it out.", { ...options, agent: "build" })
  assert.ok(built !== undefined && planned.length === 2)
  for (const request of planned) assertWire(request, hasReminder(request, /plan mode/i), "it carries the plan reminder")
  assertWire(built, hasReminder(built, /changed from plan to build/i), "it carries the reminder of the change")

  const { requests } = await accountFor(scenario, id, FEW_STEPS)
  for (const request of requests.slice(-3)) {
    assertWire(request, request.api === api, `it speaks ${api}`)
    assertWire(request, findClearedCallIDs(request).length > 0, "it is cleared in spite of the reminder")
  }

  const [unreadable] = await runTurn(id, "Go on. [getter]", options)
  assert.ok(unreadable !== undefined)
  const sent = conversationText(unreadable).includes("A note with fields that cannot be read.")
  assertWire(unreadable, sent, "the other plugin's message is sent")
  assertClearedExactly(unreadable, [])
  assertPaired([unreadable])
  await until("the plugin's reason", 10_000, () => readPluginLog(host.log).at(-1)?.skipped === "not-plain-data")
}

const hasReminder = (request: ModelRequest, content: RegExp): boolean =>
  /<system-reminder>[\s\S]*<\/system-reminder>/.exec(conversationText(request))?.some((text) => content.test(text)) ===
  true
