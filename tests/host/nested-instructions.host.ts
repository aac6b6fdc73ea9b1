import assert from "node:assert/strict"
import { test } from "node:test"
import { listOf } from "./json.ts"
import { conversationText, findClearedCallIDs, findToolResult, type ModelRequest } from "./model-request.ts"
import { bash, call, oneByOne, read, type Step } from "./model-script.ts"
import { playScenario } from "./scenario.ts"
import { accountFor } from "./session-account.ts"
import { FEW_STEPS, filesOfTokens, linesOfTokens, smallWindowSetup } from "./small-window.ts"
import { findToolPart, type StoredMessage } from "./stored.ts"
import { assertSentInFull, assertStoredUnchanged, assertWire } from "./wire-assertions.ts"

const INSTRUCTION = "Every name in this folder begins with a verb."

const FILES = {
  "nested/AGENTS.md": `${INSTRUCTION}\n`,
  "nested/guided.txt": linesOfTokens(3_000, "guided"),
  "nested/later.txt": "later\n",
  "nested/last.txt": "last\n",
  ...filesOfTokens(6, 6_000),
}

test("Nested AGENTS.md: a read that loaded it is never cleared", { timeout: 300_000 }, async () => {
  await playScenario(smallWindowSetup(FILES, 240_000), async (scenario) => {
    const { host, model, runTurn } = scenario
    const { id } = await host.createSession()
    const steps: Step[] = [
      // The oldest output of all, and the one that a later copy makes look redundant.
      { tools: [read("nested/guided.txt", "guided")] },
      { tools: [read("nested/guided.txt", "guided again")] },
      { tools: ["old-1.txt", "old-2.txt", "old-3.txt"].map((file) => read(file, file)) },
      { tools: ["old-4.txt", "old-5.txt", "old-6.txt"].map((file) => read(file, file)) },
      ...oneByOne([bash("echo on", "on"), read("nested/later.txt", "later")]),
      ...oneByOne([call("dcp_prune", {}, "prune"), read("nested/last.txt", "last"), bash("echo end", "end")]),
    ]
    model.script("main", steps)
    const requests = await runTurn(id, "Look around in the nested folder.")
    const { stored, requests: own } = await accountFor(scenario, id, FEW_STEPS)
    assert.equal(own.length, requests.length)
    assert.deepEqual(loadedBy(stored, "guided"), [`${host.home.project}/nested/AGENTS.md`])
    for (const callID of ["guided again", "later", "last"]) assert.deepEqual(loadedBy(stored, callID), [], callID)

    const { pressed, forced } = findPressure(own)
    assertWire(pressed, !isCleared(pressed, "guided"), "the read that loaded instructions is sent under pressure")
    assertWire(forced, isCleared(forced, "guided again"), "its plain copy is cleared on demand")
    assertSentInFull(forced, "guided", stored)

    for (const request of requests.filter((one) => findToolResult(one, "guided") !== undefined))
      assertWire(
        request,
        countInstructions(request) === 1,
        `the instruction is sent once, not ${countInstructions(request)} times`,
      )
    assertStoredUnchanged(stored, (await host.exportSession(id)).messages)
  })
})

/** The request that reads in the folder again must follow one that was cleared, or nothing is proven. */
function findPressure(requests: readonly ModelRequest[]): { pressed: ModelRequest; forced: ModelRequest } {
  const pressed = requests.find((one) => findToolResult(one, "on") !== undefined)
  const forced = requests.find((one) => findToolResult(one, "prune") !== undefined)
  assert.ok(pressed !== undefined && forced !== undefined)
  assertWire(pressed, findClearedCallIDs(pressed).length > 0, "something is cleared under pressure")
  return { pressed, forced }
}

const isCleared = (request: ModelRequest, callID: string): boolean => findClearedCallIDs(request).includes(callID)

const countInstructions = (request: ModelRequest): number => conversationText(request).split(INSTRUCTION).length - 1

function loadedBy(stored: readonly StoredMessage[], callID: string): unknown[] {
  const state = findToolPart(stored, callID)?.state
  if (state?.status !== "completed") throw new Error(`${callID} is ${state?.status ?? "not stored"}`)
  return listOf(state.metadata["loaded"])
}
