import assert from "node:assert/strict"
import { test } from "node:test"
import { HostRefusal, type Host } from "./host.ts"
import { conversationText, findClearedCallIDs, type ModelRequest } from "./model-request.ts"
import { bash, read, type Step } from "./model-script.ts"
import { fixturePlugin, pluginByFile, withOptions, type PluginEntry } from "./plugin.ts"
import { readPluginLog, type LoggedRequest } from "./plugin-log.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor, assertLawful } from "./session-account.ts"
import { FEW_STEPS, filesOfTokens, LARGE_LIMIT, PRESSURE_OPTIONS, providerWith, SMALL_LIMIT } from "./small-window.ts"
import { findStoredMarks } from "./stored.ts"
import { until } from "./wait.ts"
import { assertClearedExactly, assertPaired, assertStoredUnchanged, assertWire } from "./wire-assertions.ts"

const FILES = { ...filesOfTokens(5, 6_000), ...filesOfTokens(6, 11_500, "page") }

const setupWith = (plugins: readonly PluginEntry[]) => ({
  files: FILES,
  providers: { scripted: providerWith("openai", { small: SMALL_LIMIT, large: LARGE_LIMIT }) },
  plugins,
  config: { compaction: { auto: false, prune: true } },
  timeoutMs: 240_000,
})

const OTHERS = ["injects-message.ts", "replaces-messages.ts", "throws.ts"].map(fixturePlugin)
const OURS = (): PluginEntry => withOptions(pluginByFile(), PRESSURE_OPTIONS)

/** 30k tokens in one step and two small ones after it: over the small model's target, and nothing of it protected. */
const LOOKING: Step[] = [
  { tools: Object.keys(filesOfTokens(5, 0)).map((file) => read(file, file)) },
  { tools: [bash("echo one", "one")] },
  { tools: [bash("echo two", "two")] },
]

test("Coexistence: hostile plugins before ours", { timeout: 300_000 }, async () => {
  await playScenario(setupWith([...OTHERS, OURS()]), async (scenario) => {
    const id = await startSession(scenario)

    const injected = await ask(scenario, id, "Go on. [inject]")
    assertWire(
      injected.request,
      conversationText(injected.request).includes("A note from another plugin."),
      "the note is sent",
    )
    assertClearedExactly(injected.request, [])
    assert.equal(injected.logged.at(-1)?.skipped, "unidentified-session")

    // The host goes on with its own array, which ours cannot know of: what it marks in the other one is not sent.
    const replaced = await ask(scenario, id, "Go on. [replace]")
    assertClearedExactly(replaced.request, [])
    assertPaired([replaced.request])

    assert.deepEqual(await askToThrow(scenario, id), { ...THROWN, logged: 0 })
    await assertWorks(scenario, id)
  })
})

test("Coexistence: hostile plugins after ours, beside native pruning", { timeout: 540_000 }, async () => {
  const withoutOurs = await playScenario(setupWith(OTHERS), async (scenario) => {
    const id = await startSession(scenario)
    return { thrown: await askToThrow(scenario, id), pruned: await letHostPrune(scenario) }
  })
  await playScenario(setupWith([OURS(), ...OTHERS]), async (scenario) => {
    const id = await startSession(scenario)

    for (const act of ["inject", "replace"]) {
      const { request, logged } = await ask(scenario, id, `Go on. [${act}]`)
      assertPaired([request])
      assertWire(request, findClearedCallIDs(request).length > 0, `it is cleared in spite of [${act}]`)
      assert.deepEqual(
        logged.map(({ skipped }) => skipped),
        [undefined],
      )
      const noted = conversationText(request).includes("A note from another plugin.")
      assertWire(request, noted === (act === "inject"), "the note is sent where it was asked for")
    }

    const thrown = await askToThrow(scenario, id, 1)
    assert.deepEqual(thrown, { ...THROWN, logged: 1 })
    assert.deepEqual({ ...thrown, logged: 0 }, withoutOurs.thrown)
    await assertWorks(scenario, id)

    const { sessionID, marks } = await letHostPrune(scenario)
    assert.deepEqual(marks, withoutOurs.pruned.marks)
    const { request } = await ask(scenario, sessionID, "Go on with the small model.", "scripted/small")
    const { requests } = await accountFor(scenario, sessionID, FEW_STEPS, marks)
    assertWire(request, requests.at(-1) === request, "it is the session's last request")
    const cleared = findClearedCallIDs(request)
    assertWire(
      request,
      marks.every((callID) => cleared.includes(callID)),
      "what the host pruned stays cleared",
    )
    assertWire(request, cleared.length > marks.length, "and more is cleared for the small model")
  })
})

/** What the host does when any plugin's hook throws: the prompt fails, nothing is sent, the session is idle. */
const THROWN = { status: 500, requests: 0, busy: false }

async function startSession({ host, model, runTurn }: Scenario): Promise<string> {
  const { id } = await host.createSession()
  model.script("main", LOOKING, id)
  await runTurn(id, "Look around.")
  return id
}

interface Asked {
  request: ModelRequest
  /** What ours said about it, of every session. */
  logged: LoggedRequest[]
}

/** One prompt that the model answers at once. */
async function ask({ host, runTurn }: Scenario, id: string, text: string, model = "scripted/small"): Promise<Asked> {
  const known = readPluginLog(host.log).length
  const [request, ...others] = await runTurn(id, text, { model })
  assert.ok(request !== undefined && others.length === 0)
  return { request, logged: await readNewEntries(host, known, 1) }
}

/** With ours in the configuration: what it said about a request of one turn, which reaches the log a moment later. */
async function readNewEntries(host: Host, known: number, expected: number): Promise<LoggedRequest[]> {
  return until("the plugin's account", 10_000, () => {
    const entries = readPluginLog(host.log).slice(known)
    return entries.length >= expected && entries
  })
}

/** `expected` entries of ours belong to it. */
async function askToThrow({ host, model }: Scenario, id: string, expected = 0) {
  const known = { requests: model.requests.length, logged: readPluginLog(host.log).length }
  const refusal: unknown = await host.prompt(id, "Go on. [throw]").catch((error: unknown) => error)
  if (!(refusal instanceof HostRefusal)) throw new Error("the host answered although a plugin threw")
  return {
    status: refusal.status,
    requests: model.requests.length - known.requests,
    busy: await host.isBusy(id),
    logged: (await readNewEntries(host, known.logged, expected)).length,
  }
}

/** After all that: an ordinary request of the same session is cleared, and nothing of it is stored. */
async function assertWorks(scenario: Scenario, id: string): Promise<void> {
  const { host } = scenario
  const before = await host.readMessages(id)
  const { request, logged } = await ask(scenario, id, "Go on.")
  const [last] = logged
  assert.ok(last !== undefined)
  const stored = await host.readMessages(id)
  assertLawful({ request, logged: last }, stored, FEW_STEPS)
  assertWire(request, findClearedCallIDs(request).length > 0, "it is cleared")
  assertStoredUnchanged(before, stored)
}

/** Its pruning marks outputs in the database, at the end of the second turn after them and when they are large. */
async function letHostPrune(scenario: Scenario): Promise<{ sessionID: string; marks: string[] }> {
  const { host, model, runTurn } = scenario
  const { id } = await host.createSession()
  const pages = Object.keys(filesOfTokens(6, 0, "page")).map((file) => read(file, file))
  model.script("main", [{ tools: pages }, ...LOOKING.slice(1)], id)
  await runTurn(id, "Read every page.", { model: "scripted/large" })
  for (const text of ["Go on.", "Go on again."]) await runTurn(id, text, { model: "scripted/large" })
  await until("the host's own pruning", 30_000, () => /message=pruned count=\d/.test(host.log))
  const marks = findStoredMarks(await host.readMessages(id))
  assert.ok(marks.length > 0, "the host pruned something")
  return { sessionID: id, marks }
}
