import assert from "node:assert/strict"
import { test } from "node:test"
import { conversationText, findClearedCallIDs, findToolResult, type ModelRequest } from "./model-request.ts"
import { bash, call, read, type ScriptedCall, type Step } from "./model-script.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor } from "./session-account.ts"
import { FEW_STEPS, filesOfTokens, linesOfTokens, smallWindowSetup } from "./small-window.ts"
import { storedOutput } from "./stored.ts"
import { assertClearedExactly, assertSentInFull, assertStoredUnchanged, assertWire } from "./wire-assertions.ts"

/* The parent holds 3k tokens and the answers of its two children, 3k each, before it reads 30k on its own. */
const ANSWER = linesOfTokens(3_000, "answer")
const FILES = { "early.txt": linesOfTokens(3_000, "early"), ...filesOfTokens(5, 6_000) }

const task = (name: string): ScriptedCall =>
  call("task", { description: `The ${name} part`, prompt: `Do the ${name} part.`, subagent_type: "general" }, name)

const readAll = (prefix: string): ScriptedCall[] =>
  Object.keys(filesOfTokens(5, 0)).map((file) => read(file, `${prefix}-${file}`))

/** The first child crosses its target, then asks for a clear in its last but one request; the second stays small. */
const CHILDREN: Record<string, Step[]> = {
  heavy: [
    { tools: readAll("heavy") },
    { tools: [bash("echo one", "heavy-one")] },
    { tools: [bash("echo two", "heavy-two")] },
    { tools: [call("dcp_prune", {}, "heavy-prune")] },
    { text: ANSWER },
  ],
  light: [
    { tools: [read("early.txt", "light-early")] },
    { tools: [bash("echo one", "light-one")] },
    { tools: [bash("echo two", "light-two")] },
    { text: ANSWER },
  ],
}

test("Subagent: each session is projected on its own, a child's answer stays", { timeout: 300_000 }, async () => {
  await playScenario(smallWindowSetup(FILES, 240_000), async (scenario) => {
    const { host, model, runTurn } = scenario
    const parent = await host.createSession()
    model.script("sub", (request) => CHILDREN[nameOf(request)]?.[request.index])
    model.script("main", [
      { tools: [read("early.txt", "early")] },
      { tools: [task("heavy"), task("light")] },
      { tools: readAll("own") },
      { tools: [bash("echo one", "one")] },
      { tools: [bash("echo two", "two")] },
    ])
    await runTurn(parent.id, "Let two helpers look, then look yourself.")

    const children = await host.readChildren(parent.id)
    assert.equal(children.length, 2)
    const heavy = await checkSession(scenario, findChildID(model.requests, "heavy"))
    const light = await checkSession(scenario, findChildID(model.requests, "light"))
    const own = await checkSession(scenario, parent.id)
    assert.deepEqual(children.map(({ id }) => id).toSorted(), [heavy.id, light.id].toSorted())

    assert.ok(
      heavy.requests.some((request) => findClearedCallIDs(request).length > 0),
      "the heavy child is cleared",
    )
    assert.deepEqual(heavy.forced, [false, false, false, false, true])
    for (const request of light.requests) assertClearedExactly(request, [])
    assert.deepEqual(light.forced, [false, false, false, false])

    const last = own.requests.at(-1)
    assert.ok(last !== undefined && own.requests.length === 6)
    for (const request of own.requests.slice(0, 3)) assertClearedExactly(request, [])
    assertWire(last, findClearedCallIDs(last).length > 0, "the parent is cleared when it is over target itself")
    assert.deepEqual(
      own.forced,
      own.requests.map(() => false),
    )
    for (const name of ["heavy", "light"]) {
      assert.ok(storedOutput(own.stored, name).includes(ANSWER.trimEnd()), `the ${name} child's answer is stored`)
      for (const request of own.requests.filter((one) => findToolResult(one, name) !== undefined))
        assertSentInFull(request, name, own.stored)
    }
  })
})

const nameOf = (request: ModelRequest): string =>
  conversationText(request).includes("Do the heavy part.") ? "heavy" : "light"

function findChildID(requests: readonly ModelRequest[], name: string): string {
  const found = requests.find((request) => request.lane === "sub" && nameOf(request) === name)
  if (found === undefined) throw new Error(`the ${name} child made no request`)
  return found.sessionID
}

/** Every request of one session, judged by what that session alone has stored. */
async function checkSession(scenario: Scenario, id: string) {
  const { stored, accounted, requests } = await accountFor(scenario, id, FEW_STEPS)
  assertStoredUnchanged(stored, await scenario.host.readMessages(id))
  return { id, stored, requests, forced: accounted.map(({ logged }) => logged.forced) }
}
