import assert from "node:assert/strict"
import { test } from "node:test"
import {
  assertChecks,
  checkAtSummary,
  checkExit,
  checkSlowCommand,
  findIdleFaults,
  playExplicitCancel,
  PRESSURE,
} from "./continuity-checks.ts"
import { TracedCommand } from "./continuity-commands.ts"
import { findRuntimes, KNOWN_LIMITS, nativeMode, NATIVE_PROVIDERS } from "./continuity-setup.ts"
import { findClearedCallIDs, findToolResult } from "./model-request.ts"
import { bash, fixedUsage, read, type Step } from "./model-script.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor, protecting } from "./session-account.ts"
import { linesOfTokens } from "./small-window.ts"
import { findToolPart, storedOutput } from "./stored.ts"
import { assertSummarySaw } from "./summary-claims.ts"
import { assertAllSucceeded, assertSentInFull, assertWire } from "./wire-assertions.ts"

const PAGES = "abcde".split("")
const FILES = {
  "short.txt": "a short file\n",
  ...Object.fromEntries(PAGES.map((name) => [`${name}.txt`, linesOfTokens(3_000, name)])),
}

const PROTECTION = { steps: 2, tokens: 4_000 }

const SETUP = {
  files: FILES,
  providers: NATIVE_PROVIDERS,
  defaultModel: "openai/standard",
  model: { usage: fixedUsage(2_000) },
  pluginOptions: { debug: true, models: KNOWN_LIMITS, dtc: protecting(PROTECTION) },
  // Without a retained tail the summary is given every call.
  config: { compaction: { tail_turns: 0 } },
  timeoutMs: 220_000,
}

test("Parallel tools, AI SDK mode: each of one response settles on its own", { timeout: 240_000 }, async () => {
  await playScenario(SETUP, async (scenario) => {
    await playTwoSuccesses(scenario)
    await playMixedOutcomes(scenario)
    await playOldParallelSteps(scenario)
    await playPressure(scenario, (slow) => [{ tools: withSiblings(slow), usage: PRESSURE }])
    assertChecks(await playExplicitCancel(scenario, { afterSuccess: true }))
    assert.deepEqual(findRuntimes(scenario.host), ["ai-sdk"])
  })
})

test("Parallel tools, Native LLM mode: a compaction sees every sibling's success", { timeout: 240_000 }, async () => {
  await playScenario({ ...SETUP, env: nativeMode }, async (scenario) => {
    // In this mode the host aborts what runs when it learns of the pressure, so it comes with a sentence afterwards.
    await playPressure(scenario, (slow) => [
      { tools: withSiblings(slow) },
      { text: "All have ended.", usage: PRESSURE },
    ])
    assert.deepEqual(findRuntimes(scenario.host), ["native"])
  })
})

/** Each waits until it is let go, which happens only when both run: one after the other would never end. */
async function playTwoSuccesses(scenario: Scenario): Promise<void> {
  const { host, model, home, runTurn } = scenario
  const { id } = await host.createSession()
  const pair = ["one", "two"].map((name) => TracedCommand.waiting(home, name))
  model.script("main", [{ tools: pair.map(({ call }) => call) }], id)
  const turn = runTurn(id, "Run both.")
  for (const command of pair) await command.waitUntilStarted()
  const running = await host.readMessages(id)
  for (const { callID } of pair) assert.equal(findToolPart(running, callID)?.state.status, "running", callID)
  for (const command of pair) command.letGo()
  const [, last] = await turn

  const stored = await host.readMessages(id)
  assertChecks(pair.map(({ callID }) => checkExit(stored, callID, 0)))
  assert.ok(last !== undefined)
  for (const { callID } of pair) {
    assert.equal(storedOutput(stored, callID), `${callID} done\n`)
    assertSentInFull(last, callID, stored)
  }
  await accountFor(scenario, id, PROTECTION)
}

async function playMixedOutcomes(scenario: Scenario): Promise<void> {
  const { host, model, home, runTurn } = scenario
  const { id } = await host.createSession()
  const slow = TracedCommand.slow(home, "slow-beside-errors")
  const siblings = [read("missing.txt", "missing"), bash("echo evidence; exit 3", "non-zero"), slow.call]
  model.script("main", [{ tools: siblings }], id)
  const [, last] = await runTurn(id, "Run all three.")
  const stored = await host.readMessages(id)
  assertChecks([...checkSlowCommand(slow, stored), checkExit(stored, "non-zero", 3)])
  const missing = findToolPart(stored, "missing")?.state
  assert.equal(missing?.status, "error")
  assert.match(missing.error, /not found/i)
  assert.equal(storedOutput(stored, "non-zero"), "evidence\n")
  assert.ok(last !== undefined)
  assertWire(last, findToolResult(last, "missing")?.text === missing.error, "the model is told why the read failed")
  await accountFor(scenario, id, PROTECTION)
}

/** 18k tokens against a target of 14k: the two old reads go, their failed siblings and the newest two steps stay. */
async function playOldParallelSteps(scenario: Scenario): Promise<void> {
  const { host, model, runTurn } = scenario
  const { id } = await host.createSession()
  const failing = bash("seq 1 300 | sed 's/^/evidence of the failure, line /'; exit 3", "failed")
  const page = (name: string) => read(`${name}.txt`, name)
  model.script(
    "main",
    [
      { tools: [read("missing.txt", "absent"), failing, page("a"), page("b")] },
      { tools: [page("c"), page("d")] },
      { tools: [page("e"), bash("echo e", "beside-e")] },
    ],
    id,
  )
  const requests = await runTurn(id, "Look at everything.", { model: "openai/small" })
  const stored = await host.readMessages(id)
  const last = requests.at(-1)
  assert.ok(last !== undefined)
  assertWire(last, findClearedCallIDs(last).length > 0, "something old is cleared")
  for (const callID of ["failed", "c", "d", "e", "beside-e"]) assertSentInFull(last, callID, stored)
  assertChecks([checkExit(stored, "failed", 3)])
  await accountFor(scenario, id, PROTECTION)
}

const withSiblings = (slow: TracedCommand) => [slow.call, bash("echo quick", "beside"), read("short.txt", "short")]

async function playPressure(scenario: Scenario, stepsOf: (slow: TracedCommand) => Step[]): Promise<void> {
  const { host, model, home, runTurn } = scenario
  const { id } = await host.createSession()
  const slow = TracedCommand.slow(home, "slow-under-pressure")
  model.script("main", [...stepsOf(slow), { tools: [bash("echo after", "after")] }], id)
  model.script("compaction", [{ text: "## Goal\nGo on.", delayMs: 2_000 }], id)
  const turn = runTurn(id, "Run them, then the next one.")
  const [checks] = await Promise.all([checkAtSummary(scenario, id, slow), turn])
  const requests = await turn
  const stored = await host.readMessages(id)
  assertChecks([...checks, ...checkSlowCommand(slow, stored)])
  assertAllSucceeded(stored, [slow.callID, "beside", "short", "after"])
  assert.deepEqual(await findIdleFaults(host, id, requests), [])
  const summaries = requests.filter(({ lane }) => lane === "compaction")
  assert.equal(summaries.length, 1)
  for (const summary of summaries) assertSummarySaw(summary, stored, [slow.callID, "beside", "short"])
  assertChecks([checkExit(stored, "after", 0)])
  await accountFor(scenario, id, PROTECTION)
}
