import assert from "node:assert/strict"
import { test } from "node:test"
import { findClearedCallIDs, findToolResult, readMessages, type ModelRequest } from "./model-request.ts"
import { bash, fixedUsage, idsOf, oneByOne, read, type ScriptedCall } from "./model-script.ts"
import { linesOfTokens } from "./pressure-files.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor, type SessionAccount } from "./session-account.ts"
import { providerWith } from "./small-window.ts"
import { findToolPart, findToolParts } from "./stored.ts"
import { assertFaithfulSummary } from "./summary-claims.ts"
import { unclearedTokens } from "./uncleared-size.ts"
import {
  assertAllSucceeded,
  assertClearedExactly,
  assertSentInFull,
  assertStoredUnchanged,
  assertWire,
} from "./wire-assertions.ts"

const STEPS = 100

/*
 * 100 steps send some 70k tokens: 21 reads of 2.5k, one of instructions, small shell commands between them. The small
 * model's target of 19.6k is crossed after a third of the task; at the end all that is neither recent nor protected has
 * to go. The large model's target is never reached. A reported usage of 1,000 tokens keeps the host from compacting.
 */
const SMALL = "scripted/small"
const LARGE = "scripted/large"
const LIMITS = { small: { context: 32_000, output: 4_000 }, large: { context: 200_000, output: 8_000 } }

const PAGES = 16
const INSTRUCTIONS = "docs/CONTEXT.md"
const FILES = {
  [INSTRUCTIONS]: linesOfTokens(3_000, "instruction"),
  ...Object.fromEntries(
    Array.from({ length: PAGES }, (_, page) => [`src/page-${page}.txt`, linesOfTokens(2_500, `page ${page}`)]),
  ),
}

test(
  "Long single task: 100 steps in one message, two sessions at once, model switches, a manual summary",
  { timeout: 420_000 },
  () => {
    const setup = {
      files: FILES,
      providers: { scripted: providerWith("openai", LIMITS) },
      model: { usage: fixedUsage(1_000) },
      pluginOptions: { debug: true },
      timeoutMs: 400_000,
    }
    return playScenario(setup, async (scenario) => {
      const { host, model } = scenario
      const [steady, switching] = await Promise.all([host.createSession("steady"), host.createSession("switching")])
      await Promise.all([
        runLongTask(scenario, steady.id, "steady", SMALL),
        runLongTask(scenario, switching.id, "switching", LARGE),
      ])
      const afterSteady = await accountFor(scenario, steady.id)
      const afterLarge = await accountFor(scenario, switching.id)
      assertInterleaved(model.requests, steady.id, switching.id)
      for (const session of [afterSteady, afterLarge]) assertOneLongTask(session)
      assertPluginActed(afterSteady)
      for (const request of afterLarge.requests) assertClearedExactly(request, [])

      await switchModels(scenario, switching.id)
      await summarizeBetween(scenario, switching.id)

      const atTheEnd = await accountFor(scenario, switching.id)
      assertStoredUnchanged(afterLarge.stored, atTheEnd.stored)
      assertStoredUnchanged(afterSteady.stored, (await host.exportSession(steady.id)).messages)
      assert.equal(model.requestsOf("compaction").length, 1, "only the summary that was asked for")
    })
  },
)

async function runLongTask({ model, runTurn }: Scenario, id: string, name: string, modelRef: string): Promise<void> {
  model.script("main", oneByOne(callsOfTask(name)), id)
  await runTurn(id, "Work through the pages.", { model: modelRef, timeoutMs: 360_000 })
}

/** Instructions second, then a large read at every fifth step, every fourth of those of a page that was read before. */
function callsOfTask(name: string): ScriptedCall[] {
  return Array.from({ length: STEPS }, (_, step) => {
    const id = `${name}-${step}`
    if (step === 1) return read(INSTRUCTIONS, id)
    if (step % 5 !== 0) return bash(`echo ${id}`, id)
    const visit = step / 5
    return read(`src/page-${visit % 4 === 3 ? 1 : visit % PAGES}.txt`, id)
  })
}

/** Large, small, large and small again: each request is judged by its own model, and nothing sticks. */
async function switchModels(scenario: Scenario, id: string): Promise<void> {
  const { host, model, runTurn } = scenario
  const one = (name: string): void => model.script("main", oneByOne([bash(`echo ${name}`, name)]), id)

  one("small-1")
  for (const request of await runTurn(id, "The same with the small model.", { model: SMALL })) {
    assertWire(request, request.body["model"] === "small", "it goes to the small model")
    assertWire(request, findClearedCallIDs(request).length >= 8, "the small model's history is cleared")
  }
  one("large-1")
  const before = await host.readMessages(id)
  for (const request of await runTurn(id, "And the large one again.", { model: LARGE })) {
    assertWire(request, request.body["model"] === "large", "it goes to the large model")
    assertClearedExactly(request, [])
    for (const { callID } of findToolParts(before)) assertSentInFull(request, callID, before)
  }
  one("small-2")
  for (const request of await runTurn(id, "Small again.", { model: SMALL }))
    assertWire(request, findClearedCallIDs(request).length >= 8, "the small model's history is cleared again")
  assertInstructionsSent(await accountFor(scenario, id), "switching-1")
}

/** The session is under pressure on the small model when the summary is asked for; then it goes on with the large one. */
async function summarizeBetween(scenario: Scenario, id: string): Promise<void> {
  const { host, model, runTurn } = scenario
  await host.summarize(id, SMALL)
  await host.waitUntilIdle(id)
  const [summary] = model.requestsOf("compaction", id)
  assert.ok(summary !== undefined, "the summary was requested")
  const seen = assertFaithfulSummary(summary, await host.readMessages(id))
  assertWire(summary, seen.length >= STEPS / 2 && seen.includes("switching-1"), "it saw the long task")

  model.script("main", oneByOne([read(INSTRUCTIONS, "again"), bash("echo last", "last")]), id)
  const requests = await runTurn(id, "Finish with the large model.", { model: LARGE })
  assert.equal(requests.length, 3)
  const stored = await host.readMessages(id)
  for (const request of requests) assertClearedExactly(request, [])
  for (const request of requests.slice(1)) assertSentInFull(request, "again", stored)
  assertAllSucceeded(stored, [...idsOf(callsOfTask("switching")), "small-1", "large-1", "small-2", "again", "last"])
}

function assertOneLongTask(session: SessionAccount): void {
  const { requests, stored, summaries } = session
  assert.equal(requests.length, STEPS + 1)
  assert.equal(stored.filter(({ info }) => info.role === "user").length, 1, "one user message")
  assert.equal(summaries.length, 0)
  const name = findToolParts(stored)[0]?.callID.split("-")[0] ?? ""
  const callIDs = idsOf(callsOfTask(name))
  assertAllSucceeded(stored, callIDs)
  for (const request of requests) {
    const users = readMessages(request).filter(({ role }) => role === "user")
    assertWire(request, users.length === 1, "it is still the first user's message")
    const sent = readMessages(request).flatMap(({ calls }) => calls.map(({ callID }) => callID))
    assertWire(request, sent.join() === callIDs.slice(0, request.index).join(), "every call so far is sent, in order")
  }
  assertInstructionsSent(session, `${name}-1`)
}

/** The host attaches nothing when the instructions themselves are read, and they are never cleared. */
function assertInstructionsSent({ stored, requests }: SessionAccount, callID: string): void {
  const part = findToolPart(stored, callID)
  assert.ok(part?.state.status === "completed")
  assert.deepEqual(part.state.metadata["loaded"], [], "the host reports nothing loaded")
  assert.ok(part.state.output.includes("instruction line 1:"), "the instructions were read")
  const later = requests.filter((request) => request.index >= 2)
  assert.ok(later.length >= STEPS - 1)
  for (const request of later) assertSentInFull(request, callID, stored)
}

/** Over target and with nothing left to keep, old reads are gone, while the instructions before them stay. */
function assertPluginActed({ requests, stored, accounted }: SessionAccount): void {
  const first = requests.find((request) => findClearedCallIDs(request).length > 0)
  assert.ok(first !== undefined && first.index < STEPS / 2, "clearing begins in the first half of the task")
  const last = requests.at(-1)
  assert.ok(last !== undefined)
  assertWire(last, findToolResult(last, "steady-0")?.placeholder === true, "the oldest read is cleared")
  const uncleared = unclearedTokens(last, stored)
  assertWire(last, last.tokens < 0.75 * uncleared, `clearing shortens it: ${last.tokens} of ${uncleared} tokens`)
  const reasons = new Set(accounted.flatMap(({ logged }) => logged.cleared.map(({ reason }) => reason)))
  assert.ok(reasons.has("redundant") && reasons.has("aged"), `both kinds are cleared: ${[...reasons].join()}`)
}

function assertInterleaved(requests: readonly ModelRequest[], ...sessionIDs: string[]): void {
  const owners = requests.map(({ sessionID }) => sessionID).filter((id) => sessionIDs.includes(id))
  const changes = owners.filter((id, index) => index > 0 && id !== owners[index - 1]).length
  assert.ok(changes >= STEPS / 4, `the sessions ran at once: ${changes} changes in ${owners.length} requests`)
}
