/**
 * The newer core that the 1.18.33 binary serves under `/api/session` lowers stored rows as 2.x is documented to. Here the
 * table of `tests/host2/lowering.ts` is held against the requests that it really sends.
 */
import assert from "node:assert/strict"
import { test } from "node:test"
import { lowerRows } from "../host2/lowering.ts"
import type { ModelRef, Row } from "../host2/rows.ts"
import { listOf, recordOf, textOf, type JsonRecord } from "./json.ts"
import type { ModelRequest } from "./model-request.ts"
import type { ModelServer } from "./model-server.ts"
import { bash, call, type Step } from "./model-script.ts"
import { fixturePlugin, withOptions } from "./plugin.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { ApiSession, type PromptDelivery, type SessionPrompt } from "./session-api.ts"
import { encodeForOpenAI } from "./session-wire.ts"
import { until } from "./wait.ts"

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const ROOMY = { context: 200_000, output: 8_000 }
/** Too small for the history that the watched plugin tries its hook on. */
const TINY = { context: 3_000, output: 500 }
/** The core compacts above 20,000 tokens here: the context less its fixed buffer. */
const NARROW = { context: 40_000, output: 1_000 }
const PROVIDERS = {
  scripted: {
    api: "openai" as const,
    models: {
      standard: { limit: ROOMY, reasoning: true },
      other: { limit: ROOMY },
      narrow: { limit: NARROW },
      tiny: { limit: TINY },
    },
  },
}
const modelRef = (id: string): ModelRef => ({ providerID: "scripted", id })
const readPath = (path: string, id: string) => call("read", { path }, id)

/** Runs a turn and compares each of its requests with the rows that stood before the response to it. */
async function compareTurn(
  session: ApiSession,
  model: ModelServer,
  prompt: SessionPrompt,
  delivery?: PromptDelivery,
): Promise<{ rows: Row[]; requests: ModelRequest[] }> {
  const before = model.requests.length
  await session.runTurn(prompt, delivery)
  const rows = await session.readRows()
  const requests = model.requests.slice(before).filter((request) => listOf(request.body["tools"]).length > 0)
  const responses = rows.flatMap((row, index) => (row.type === "assistant" ? [{ row, index }] : []))
  for (const [position, request] of requests.toReversed().entries()) {
    const response = responses.at(-1 - position)
    if (!response) continue
    const expected = encodeForOpenAI(lowerRows(rows.slice(0, response.index), response.row.model))
    assert.deepEqual(conversationOf(request), expected, `request ${request.number}`)
  }
  assert.ok(requests.length > 0)
  return { rows, requests }
}

/** Without the system prompt that the host puts before the rows. */
const conversationOf = (request: ModelRequest): JsonRecord[] => listOf(request.body["messages"]).slice(1).map(recordOf)

const FILES = {
  "a.txt": "alpha\n",
  "pixel.png": Buffer.from(PIXEL.split(",")[1] ?? "", "base64"),
}

/** Everything on one host, each in a session of its own. */
const PLAYS: readonly { name: string; play: (scenario: Scenario) => Promise<void> }[] = [
  {
    name: "each loader calls its own entry, and `setup` learns a budget from the host's real catalog",
    play: watchEntries,
  },
  { name: "tools, errors, pictures, new instructions, another agent and model", play: compareKinds },
  { name: "a prompt that waits is not sent, and the same prompt again is one row", play: compareAdmission },
  { name: "a step that was interrupted is closed, and the next turn never resumes it", play: compareInterruption },
  { name: "after its own compaction the core sends one checkpoint and what is newer", play: compareCompaction },
]

test("the core's requests are what the table says", { timeout: 180_000 }, async (context) => {
  const watched = fixturePlugin("both-entries.ts")
  const plugins = [withOptions(watched, { name: "watched" })]
  await playScenario({ files: FILES, providers: PROVIDERS, plugins }, async (scenario) => {
    for (const { name, play } of PLAYS) await context.test(name, () => play(scenario))
    assert.deepEqual(scenario.model.strayRequests, [])
  })
})

/**
 * The 1.18 host has two loaders for one configuration entry: that of 1.x calls `server`, that of the newer core, which may
 * run more than once, calls `setup`, and offers a catalog but no hook.
 */
async function watchEntries({ host, model, runTurn }: Scenario): Promise<void> {
  const { id } = await host.createSession()
  await runTurn(id, "Hello.")
  await compareTurn(await ApiSession.create(host, modelRef("standard")), model, { text: "Hello." })
  await until("the clear by the catalog's limits", 30_000, () => host.log.includes("1 message changed"))
  const said = new Set(host.log.split("\n").flatMap((line) => /both-entries: (.*)/.exec(line)?.[1] ?? []))
  assert.deepEqual(
    [...said],
    ["server of watched", "setup of watched, session undefined", "1 message changed for watched"],
  )
}

async function compareKinds({ host, model, home }: Scenario): Promise<void> {
  const session = await ApiSession.create(host, modelRef("standard"))
  const looking: Step = {
    reasoning: "It should be there.",
    text: "Looking.",
    tools: [
      readPath("a.txt", "file"),
      bash("echo hi", "success"),
      bash("exit 3", "failure"),
      readPath("missing.txt", "error"),
      readPath("pixel.png", "picture"),
      call("glob", { pattern: "a.*" }, "listing"),
      call("nonsense", { a: 1 }, "unknown"),
    ],
  }
  model.script("main", [looking, { text: "Done." }])
  const { rows } = await compareTurn(session, model, { text: "Look around." })
  assert.deepEqual(
    rows.map(({ type }) => type),
    ["user", "assistant", "assistant"],
  )

  model.script("main", [{ reasoning: "Only thinking.", text: "A pixel." }])
  await compareTurn(session, model, { text: "", files: [{ uri: PIXEL, name: "pixel.png", description: "one pixel" }] })

  home.write("AGENTS.md", "Always answer in one word.\n")
  model.script("main", [{ text: "Yes." }])
  const updated = await compareTurn(session, model, { text: "Did you see the new instructions?" })
  assert.ok(
    updated.rows.some(({ type }) => type === "system"),
    "a change of the context is a system row",
  )

  await session.switchAgent("plan")
  await session.switchModel(modelRef("other"))
  model.script("main", [{ tools: [readPath("a.txt", "again")] }, { text: "The same." }])
  const switched = await compareTurn(session, model, { text: "Once more." })
  const types = switched.rows.map(({ type }) => type)
  assert.ok(types.includes("agent-switched") && types.includes("model-switched"))
  const sent = JSON.stringify(switched.requests.at(-1)?.body["messages"])
  assert.ok(sent.includes("It should be there.") && !sent.includes("reasoning_content"), "its reasoning is text now")
}

async function compareAdmission({ host, model }: Scenario): Promise<void> {
  const session = await ApiSession.create(host, modelRef("standard"))
  const waiting = { id: "msg_waiting", delivery: "steer", resume: false } as const
  const admitted = await session.admit({ text: "I wait." }, waiting)
  assert.deepEqual(await session.admit({ text: "I wait." }, waiting), admitted)
  assert.deepEqual(await session.readRows(), [])
  await assert.rejects(session.admit({ text: "Somebody else." }, waiting))

  await compareTurn(session, model, { text: "Go." })
  const texts = (await session.readRows()).flatMap((row) => (row.type === "user" ? [row.text] : []))
  assert.deepEqual(texts, ["I wait.", "Go."])
}

async function compareInterruption({ host, model }: Scenario): Promise<void> {
  const session = await ApiSession.create(host, modelRef("standard"))
  model.script("main", [{ tools: [bash("sleep 60", "stopped")] }])
  await session.admit({ text: "Wait." })
  await until("the running tool", 20_000, async () => JSON.stringify(await session.readRows()).includes("running"))
  await session.interrupt()
  await until("the end", 20_000, async () => !(await session.isActive()))
  model.script("main", [{ text: "Fine." }])
  const { rows } = await compareTurn(session, model, { text: "Never mind." })
  assert.deepEqual(
    rows.map(({ type }) => type),
    ["user", "assistant", "user", "assistant"],
  )
  assert.match(JSON.stringify(rows), /Tool execution interrupted/)
}

/** A compaction keeps 8,000 tokens of recent text and counts little of tool outputs, so that prompts must be long. */
async function compareCompaction({ host, model }: Scenario): Promise<void> {
  const session = await ApiSession.create(host, modelRef("narrow"))
  model.script("main", ({ body }) =>
    listOf(body["tools"]).length === 0 ? { text: "## Objective\n- Read the prompts" } : undefined,
  )
  await compareTurn(session, model, { text: "lorem ipsum ".repeat(3_800) })
  const { rows, requests } = await compareTurn(session, model, { text: "dolor sit am ".repeat(3_800) })
  assert.equal(rows[0]?.type, "compaction")
  assert.match(textOf(requests[0] && conversationOf(requests[0])[0]?.["content"]), /^<conversation-checkpoint>/)
}
