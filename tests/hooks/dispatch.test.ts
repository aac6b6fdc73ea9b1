import assert from "node:assert/strict"
import test from "node:test"
import { Dispatches, type RequestRecord } from "../../lib/dispatches.ts"
import { describeProjection } from "../../lib/dtc/engine.ts"
import type { Message } from "../../lib/dtc/types.ts"
import { answers, catalogWith } from "../helpers/client.ts"
import { MODEL, read, session, step, user } from "../helpers/history.ts"
import { longHistory, ROOMY, startInstance, type Instance } from "./instance.ts"

const OTHER = { providerID: "other", modelID: "m" }

/** What `chat.params` of the request shows, by default the one that `longHistory` asks for. */
function paramsOf(messages: readonly Message[], fields: Record<string, unknown> = {}): Record<string, unknown> {
  const prompts = messages.filter(({ info }) => info.role === "user")
  const info = prompts.at(-1)?.info
  const model = { providerID: MODEL.providerID, id: MODEL.modelID }
  return { sessionID: info?.sessionID, agent: "build", model, provider: {}, message: info, ...fields }
}

async function transform(instance: Instance, messages = longHistory()): Promise<Message[]> {
  for (const { info } of messages) if (info.role === "user") info["agent"] = "build"
  await instance.transform(messages)
  return messages
}

async function dispatch(
  instance: Instance,
  messages: readonly Message[],
  fields?: Record<string, unknown>,
): Promise<void> {
  await instance.call("chat.params", paramsOf(messages, fields), {})
}

async function send(instance: Instance, messages = longHistory()): Promise<Message[]> {
  await transform(instance, messages)
  await dispatch(instance, messages)
  return messages
}

const mapOf = ({ dispatches }: Instance, sessionID = "ses_1") => dispatches.findSourceMap(sessionID)

test("a request counts from its dispatch on, with what it was sent with", async () => {
  const instance = startInstance()
  const messages = await transform(instance)
  assert.equal(instance.dispatches.findRecord("ses_1"), undefined, "it may still fail")
  await dispatch(instance, messages)
  assert.deepEqual(mapOf(instance), describeProjection(messages))
  const record = instance.dispatches.findRecord("ses_1")
  assert.deepEqual(record?.placeholders, [
    {
      callID: "call_0001_0001",
      partID: "prt_0001_0001",
      messageID: "msg_0001",
      tool: "read",
      reason: "aged",
      savedTokens: 2_991,
    },
  ])
  assert.deepEqual(
    [record.skipped, record.forced, record.budgetFrom, record.stats?.inputBudget],
    [undefined, false, "catalog", 2_500],
  )
})

const others: [what: string, fields: Record<string, unknown>][] = [
  ["a title", { agent: "title" }],
  ["a compaction", { agent: "compaction" }],
  ["a session without a name", { sessionID: undefined }],
]
for (const [what, fields] of others)
  test(`the request for ${what} publishes nothing and takes nothing away`, async () => {
    const instance = startInstance()
    const messages = await transform(instance)
    await dispatch(instance, messages, fields)
    assert.equal(mapOf(instance), undefined)
    await dispatch(instance, messages)
    await dispatch(instance, messages, fields)
    assert.notEqual(mapOf(instance), undefined)
  })

const mismatches: [what: string, fields: Record<string, unknown>][] = [
  ["another agent", { agent: "plan" }],
  ["another prompt", { message: { id: "msg_other" } }],
  ["another model", { model: { providerID: "lab", id: "lab-2" } }],
  ["another provider", { model: { providerID: "other", id: "lab-1" } }],
]
for (const [what, fields] of mismatches)
  test(`a dispatch for ${what} is a request that nothing is known of`, async () => {
    const instance = startInstance()
    const messages = await send(instance)
    await transform(instance, longHistory())
    await dispatch(instance, messages, fields)
    assert.equal(instance.dispatches.findRecord("ses_1"), undefined)
    await dispatch(instance, messages)
    assert.equal(
      instance.dispatches.findRecord("ses_1"),
      undefined,
      "what was prepared belonged to a request that never went out",
    )
  })

test("a request that the host sends again keeps its map", async () => {
  const instance = startInstance()
  const messages = await send(instance)
  await dispatch(instance, messages)
  assert.notEqual(mapOf(instance), undefined)
})

test("what a host does not tell at the dispatch contradicts nothing", async () => {
  const instance = startInstance()
  const messages = await transform(instance)
  await dispatch(instance, messages, { model: undefined, message: undefined, agent: undefined })
  assert.notEqual(mapOf(instance), undefined)
})

test("each request has its own map; sessions do not mix", async () => {
  const instance = startInstance()
  await send(instance)
  await send(instance, longHistory("ses_2"))
  const longer = session(user("go"), step(read("a", "x")), user("on"), user("and on"))
  await send(instance, longer)
  assert.equal(mapOf(instance)?.historyMessageCount, 4)
  assert.deepEqual(mapOf(instance), describeProjection(longer))
  assert.deepEqual(
    mapOf(instance, "ses_2"),
    describeProjection(longHistory("ses_2").map((message, index) => (index === 1 ? clearedIn(message) : message))),
  )
})

function clearedIn(message: Message): Message {
  const copy = structuredClone(message)
  const state = copy.parts[1]?.["state"] as { time: object } | undefined
  Object.assign(state?.time ?? {}, { compacted: 5 })
  return copy
}

test("a new prompt drops the map; what tools ask about stays until the next dispatch", async () => {
  const instance = startInstance()
  await send(instance)
  await instance.call("chat.message", { sessionID: "ses_2" }, {})
  assert.notEqual(mapOf(instance), undefined, "another session's prompt")
  await instance.call("chat.message", { sessionID: "ses_1" }, {})
  assert.equal(mapOf(instance), undefined)
  assert.equal(instance.dispatches.findRecord("ses_1")?.placeholders.length, 1, "a queued prompt blinds nobody")
  await transform(instance)
  assert.equal(mapOf(instance), undefined)
  await dispatch(instance, longHistory())
  assert.notEqual(mapOf(instance), undefined)
  await instance.call("chat.message", {}, {})
  await instance.call("chat.message", undefined, {})
})

test("a change of the model drops the map, and so does nothing else of a coming request", async () => {
  const instance = startInstance()
  const messages = await send(instance)
  await transform(instance)
  assert.notEqual(mapOf(instance), undefined, "not dispatched yet, perhaps never")
  const switched = longHistory()
  for (const { info } of switched) if (info.role === "user") info["model"] = OTHER
  await transform(instance, switched)
  assert.equal(mapOf(instance), undefined)
  assert.notEqual(instance.dispatches.findRecord("ses_1"), undefined)
  await dispatch(instance, messages, { model: { providerID: "other", id: "m" } })
  assert.notEqual(mapOf(instance), undefined)
})

test("a deleted session and a disposed instance are forgotten", async () => {
  const instance = startInstance()
  await send(instance)
  await send(instance, longHistory("ses_2"))
  await transform(instance, longHistory("ses_3"))
  await transform(instance, longHistory("ses_4"))
  await instance.deleted("ses_1")
  assert.deepEqual([mapOf(instance), mapOf(instance, "ses_2") === undefined], [undefined, false])
  await instance.deleted("ses_4")
  await dispatch(instance, longHistory("ses_4"))
  assert.equal(instance.dispatches.findRecord("ses_4"), undefined, "what was prepared for it went with it")
  await instance.transform([{}])
  await instance.call("dispose")
  await dispatch(instance, longHistory("ses_3"))
  await dispatch(instance, longHistory("ses_5"))
  for (const sessionID of ["ses_1", "ses_2", "ses_3", "ses_4", "ses_5"])
    assert.equal(instance.dispatches.findRecord(sessionID), undefined)
})

test("what a getter gives is a copy", async () => {
  const instance = startInstance()
  await send(instance)
  const before = structuredClone(instance.dispatches.findRecord("ses_1"))
  for (const row of mapOf(instance)?.sources ?? []) Object.assign(row, { messageIndex: 99, cleared: [] })
  const record = instance.dispatches.findRecord("ses_1")
  Object.assign(record?.placeholders[0] ?? {}, { tool: "forged" })
  record?.map?.sources.splice(0)
  assert.deepEqual(instance.dispatches.findRecord("ses_1"), before)
})

test("a request that was left alone has a map and a reason", async () => {
  const instance = startInstance({ providers: answers({ providers: [] }) })
  const messages = longHistory()
  Object.assign(messages[1] ?? {}, { parts: clearedIn(messages[1] as Message).parts })
  await send(instance, messages)
  const record = instance.dispatches.findRecord("ses_1")
  assert.deepEqual([record?.skipped, record?.stats], ["unavailable-budget", undefined])
  assert.deepEqual(record?.map, describeProjection(messages))
  assert.deepEqual(
    record?.placeholders.map(({ callID, reason }) => [callID, reason]),
    [["call_0001_0001", "host"]],
  )
})

test("content of unknown size: sizes unknown, the map as ever", async () => {
  const instance = startInstance({ providers: answers(catalogWith(ROOMY)) })
  const messages = longHistory()
  messages[2]?.parts.push({ id: "prt_image", type: "file", mime: "image/png", url: "data:," })
  await send(instance, messages)
  const record = instance.dispatches.findRecord("ses_1")
  assert.deepEqual(
    [record?.skipped, record?.stats?.estimatedAfter, record?.map?.sources.length],
    ["unknown-content", undefined, 6],
  )
})

test("a native compaction is no request of the conversation", async () => {
  const instance = startInstance()
  const messages = await send(instance)
  const before = instance.dispatches.findRecord("ses_1")
  await instance.compacting("ses_1")
  await transform(instance, longHistory())
  await dispatch(instance, messages, { agent: "compaction" })
  await dispatch(instance, messages)
  assert.deepEqual(instance.dispatches.findRecord("ses_1"), before)
})

test("a request whose session cannot be read counts where it is dispatched, with its reason and no map", async () => {
  const instance = startInstance()
  await send(instance)
  await instance.transform([...longHistory(), {}])
  await dispatch(instance, longHistory())
  const record = instance.dispatches.findRecord("ses_1")
  assert.deepEqual([record?.skipped, record?.map, record?.placeholders], ["malformed-message", undefined, []])
  await send(instance)
  await dispatch(instance, longHistory())
  assert.notEqual(mapOf(instance), undefined)
})

test("ids that repeat: one warning, no map, and the request goes out projected", async () => {
  const instance = startInstance({}, { debug: false })
  for (let round = 0; round < 2; round++) {
    const messages = longHistory()
    for (const { info } of messages) info.id = "msg_same"
    await send(instance, messages)
    assert.equal(mapOf(instance), undefined)
    assert.equal(
      instance.dispatches.findRecord("ses_1")?.placeholders.length,
      1,
      "what this plugin cleared is known without a map",
    )
  }
  assert.deepEqual(
    instance.fake
      .logged()
      .filter(({ level }) => level === "warn")
      .map(({ message }) => /no source map/.test(message)),
    [true],
  )
})

test("with debug the dispatch is one line of counts, ids and indexes", async () => {
  const instance = startInstance()
  await send(instance)
  await dispatch(instance, longHistory())
  const lines = instance.fake.logged().filter(({ message }) => message === "request dispatched")
  assert.deepEqual(
    lines.map(({ extra }) => extra),
    [{ sessionID: "ses_1", ...mapOf(instance) }],
  )
})

test("requests of 64 sessions are remembered, the oldest goes first", () => {
  const dispatches = new Dispatches()
  const recordOf = (sessionID: string): RequestRecord => ({ key: { sessionID }, cleared: [], placeholders: [] })
  const sendFor = (sessionID: string): void => {
    dispatches.prepare(recordOf(sessionID))
    dispatches.dispatch({ sessionID })
  }
  for (let index = 0; index < 64; index++) sendFor(`ses_${index}`)
  sendFor("ses_5")
  assert.notEqual(dispatches.findRecord("ses_0"), undefined, "a session that goes on takes nobody's place")
  sendFor("ses_0")
  sendFor("ses_late")
  const known = ["ses_0", "ses_1", "ses_2", "ses_late"].map(
    (sessionID) => dispatches.findRecord(sessionID) !== undefined,
  )
  assert.deepEqual(known, [true, false, true, true])
  for (let index = 0; index < 65; index++) dispatches.prepare(recordOf(`new_${index}`))
  assert.equal(dispatches.dispatch({ sessionID: "new_0" }), undefined)
  assert.notEqual(dispatches.dispatch({ sessionID: "new_64" }), undefined)
})

test("a description that fails leaves no older map behind", async () => {
  const instance = startInstance()
  const messages = await send(instance)
  const spoiled = { messages: longHistory() }
  const output = Object.defineProperty({ first: true }, "messages", {
    get() {
      const { first } = this as { first: boolean }
      Object.assign(this as object, { first: false })
      return first ? spoiled.messages : null
    },
  })
  await instance.call("experimental.chat.messages.transform", {}, output)
  await dispatch(instance, messages)
  assert.equal(mapOf(instance), undefined)
})
