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
import { playScenario } from "./scenario.ts"
import { ApiSession, type PromptDelivery, type SessionPrompt } from "./session-api.ts"
import { encodeForOpenAI } from "./session-wire.ts"
import { until } from "./wait.ts"

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const ROOMY = { context: 200_000, output: 8_000 }
/** The core compacts above 20,000 tokens here: the context less its fixed buffer. */
const NARROW = { context: 40_000, output: 1_000 }
const PROVIDERS = {
  scripted: {
    api: "openai" as const,
    models: { standard: { limit: ROOMY, reasoning: true }, other: { limit: ROOMY }, narrow: { limit: NARROW } },
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

test(
  "what the core sends is what the table says: tools, errors, pictures, another model",
  { timeout: 120_000 },
  async () => {
    const files = { "a.txt": "alpha\n", "pixel.png": Buffer.from(PIXEL.split(",")[1] ?? "", "base64") }
    await playScenario({ files, plugins: [], providers: PROVIDERS }, async ({ host, model, home }) => {
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
          call("glob", { pattern: "*.txt" }, "listing"),
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
      await compareTurn(session, model, {
        text: "",
        files: [{ uri: PIXEL, name: "pixel.png", description: "one pixel" }],
      })

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
      assert.ok(
        sent.includes("It should be there.") && !sent.includes("reasoning_content"),
        "its reasoning is text now",
      )
      assert.deepEqual(model.strayRequests, [])
    })
  },
)

test("a prompt that waits is not sent, and the same prompt again is one row", { timeout: 90_000 }, async () => {
  await playScenario({ plugins: [], providers: PROVIDERS }, async ({ host, model }) => {
    const session = await ApiSession.create(host, modelRef("standard"))
    const waiting = { id: "msg_waiting", delivery: "steer", resume: false } as const
    const admitted = await session.admit({ text: "I wait." }, waiting)
    assert.deepEqual(await session.admit({ text: "I wait." }, waiting), admitted)
    assert.deepEqual(await session.readRows(), [])
    await assert.rejects(session.admit({ text: "Somebody else." }, waiting))

    await compareTurn(session, model, { text: "Go." })
    const texts = (await session.readRows()).flatMap((row) => (row.type === "user" ? [row.text] : []))
    assert.deepEqual(texts, ["I wait.", "Go."])
  })
})

test("a step that was interrupted is closed, and the next turn never resumes it", { timeout: 90_000 }, async () => {
  await playScenario({ plugins: [], providers: PROVIDERS }, async ({ host, model }) => {
    const session = await ApiSession.create(host, modelRef("standard"))
    model.script("main", [{ tools: [bash("sleep 60", "stopped")] }])
    await session.admit({ text: "Wait." })
    await model.waitForRequest("of the turn", () => true)
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
  })
})

test("after its own compaction the core sends one checkpoint and what is newer", { timeout: 90_000 }, async () => {
  const lines = (seed: string): string => `${seed} lorem ipsum dolor sit amet\n`.repeat(1_100)
  await playScenario(
    { files: { "a.txt": lines("a"), "b.txt": lines("b") }, plugins: [], providers: PROVIDERS },
    async ({ host, model }) => {
      const session = await ApiSession.create(host, modelRef("narrow"))
      const steps: Step[] = [
        { tools: [readPath("a.txt", "a")] },
        { tools: [readPath("b.txt", "b")] },
        { text: "Both read." },
      ]
      model.script("main", (request) =>
        listOf(request.body["tools"]).length === 0 ? { text: "## Objective\n- Read both files" } : steps.shift(),
      )
      const { rows } = await compareTurn(session, model, { text: "Read both." })
      assert.equal(rows[0]?.type, "compaction")
      model.script("main", [{ text: "Still here." }])
      const { requests } = await compareTurn(session, model, { text: "And now?" })
      assert.match(textOf(conversationOf(requests[0]!)[0]?.["content"]), /^<conversation-checkpoint>/)
    },
  )
})
