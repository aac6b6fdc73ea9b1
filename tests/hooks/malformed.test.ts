import assert from "node:assert/strict"
import test from "node:test"
import type { Message } from "../../lib/dtc/types.ts"
import { answersLate, catalogWith } from "../helpers/client.ts"
import { clearedTargets } from "../helpers/history.ts"
import { createSnapshots, HOOK_NAMES, longHistory, NARROW, startInstance } from "./instance.ts"

type Fields = Record<string, unknown>

const fail = (): never => {
  throw new Error("an accessor was called")
}
const proxied = <T extends object>(value: T): T => new Proxy(value, {})
function revoked<T extends object>(value: T): T {
  const { proxy, revoke } = Proxy.revocable(value, {})
  revoke()
  return proxy
}
const withGetter = (target: object | undefined, key: PropertyKey, get: () => unknown = fail): void =>
  void Object.defineProperty(target, key, { get, enumerable: true, configurable: true })
const stateOf = (messages: Message[]): Fields => messages[1]?.parts[1]?.["state"] as Fields

class Messages extends Array<Message> {}
class Odd {
  type = "text"
}

/** Turns a good history into `output.messages`; the history is under pressure, so a request that went on would change. */
type Breakage = (messages: Message[]) => unknown
const appended =
  (element: unknown): Breakage =>
  (messages) => [...messages, element]
const replaced =
  (change: (message: Message) => unknown): Breakage =>
  (messages) =>
    messages.with(1, change(messages[1] as Message) as Message)
const edited =
  (edit: (messages: Message[]) => unknown): Breakage =>
  (messages) => {
    edit(messages)
    return messages
  }

const breakages: Record<string, [name: string, breakage: Breakage][]> = {
  "malformed-message": [
    ["an element {}", appended({})],
    ["an element {info: {}}", appended({ info: {} })],
    ["an element without info", appended({ parts: [] })],
    ["an element null", appended(null)],
    ["an element undefined", appended(undefined)],
    ["an element that is text", appended("message")],
    ["an element that is a list", appended([])],
    ["info null", replaced((message) => ({ ...message, info: null }))],
    ["info a list", replaced((message) => ({ ...message, info: [] }))],
    ["parts null", replaced((message) => ({ ...message, parts: null }))],
    ["parts missing", replaced(({ info }) => ({ info }))],
    ["parts array-like", replaced(({ info }) => ({ info, parts: { length: 0 } }))],
    ["a part null", replaced((message) => ({ ...message, parts: [...message.parts, null] }))],
    ["a part undefined", replaced((message) => ({ ...message, parts: [undefined, ...message.parts] }))],
    ["a part without a type", replaced((message) => ({ ...message, parts: [{ id: "prt" }] }))],
    ["a part with a numeric type", replaced((message) => ({ ...message, parts: [{ id: "prt", type: 7 }] }))],
  ],
  "unidentified-session": [
    ["no session id", edited((messages) => Reflect.deleteProperty(messages[1]!.info, "sessionID"))],
    [
      "no session id anywhere",
      edited((messages) => messages.forEach(({ info }) => Reflect.deleteProperty(info, "sessionID"))),
    ],
    ["an empty session id", edited((messages) => messages.forEach(({ info }) => (info.sessionID = "")))],
    ["a numeric session id", edited((messages) => messages.forEach(({ info }) => Reflect.set(info, "sessionID", 7)))],
    ["messages of two sessions", edited((messages) => Reflect.set(messages[1]?.info ?? {}, "sessionID", "ses_2"))],
  ],
  "not-plain-data": [
    ["a proxy for the array", (messages) => proxied(messages)],
    ["a revoked proxy for the array", (messages) => revoked(messages)],
    ["a proxy for a message", replaced(proxied)],
    ["a revoked proxy for a message", replaced(revoked)],
    ["a proxy for info", replaced((message) => ({ ...message, info: proxied(message.info) }))],
    ["a revoked proxy for info", replaced((message) => ({ ...message, info: revoked(message.info) }))],
    ["a proxy for parts", replaced((message) => ({ ...message, parts: proxied(message.parts) }))],
    ["a revoked proxy for parts", replaced((message) => ({ ...message, parts: revoked(message.parts) }))],
    ["a proxy for a part", replaced((message) => ({ ...message, parts: message.parts.map(proxied) }))],
    ["a revoked proxy for a part", replaced((message) => ({ ...message, parts: message.parts.map(revoked) }))],
    ["info that throws", edited((messages) => withGetter(messages[1], "info"))],
    ["parts that throw", edited((messages) => withGetter(messages[1], "parts"))],
    ["a session id that throws", edited((messages) => withGetter(messages[1]?.info, "sessionID"))],
    ["a role that throws", edited((messages) => withGetter(messages[1]?.info, "role"))],
    ["a user's model that throws", edited((messages) => withGetter(messages[2]?.info, "model"))],
    ["a part's type that throws", edited((messages) => withGetter(messages[1]?.parts[0], "type"))],
    ["a frozen array", (messages) => Object.freeze(messages)],
    ["a slot that cannot be written", edited((messages) => Object.defineProperty(messages, 1, { writable: false }))],
    [
      "another slot that cannot be written",
      edited((messages) => Object.defineProperty(messages, 3, { writable: false })),
    ],
    ["a slot that is an accessor", edited((messages) => withGetter(messages, 1, () => ({})))],
    ["a slot that throws", edited((messages) => withGetter(messages, 1))],
    ["a hole", edited((messages) => Reflect.deleteProperty(messages, 2))],
    ["a hole at the end", edited((messages) => (messages.length += 1))],
    ["an array subclass", (messages) => Messages.from(messages)],
    ["an array without a prototype", edited((messages) => Object.setPrototypeOf(messages, null))],
    ["an array-like object", (messages) => Object.assign({ length: messages.length }, messages)],
    ["a set", (messages) => new Set(messages)],
    ["a typed array", () => new Uint8Array(4)],
    ["text", () => "messages"],
    ["a number", () => 7],
    ["null", () => null],
    ["nothing", () => undefined],
    ["a function", () => fail],
  ],
  "unknown-content": [
    ["a part's state that throws", edited((messages) => withGetter(messages[1]?.parts[1], "state"))],
    ["an output that throws", edited((messages) => withGetter(stateOf(messages), "output"))],
    ["an output that is an accessor", edited((messages) => withGetter(stateOf(messages), "output", () => "text"))],
    ["a field of info that throws", edited((messages) => withGetter(messages[0]?.info, "agent"))],
    ["a hole in parts", edited((messages) => (messages[1]!.parts.length += 1))],
    ["parts of an array subclass", replaced((message) => ({ ...message, parts: Messages.from([]) }))],
    ["a part of a class", edited((messages) => messages[1]?.parts.push(new Odd() as never))],
    ["a cycle", edited((messages) => (stateOf(messages)["metadata"] = stateOf(messages)))],
    ["a map", edited((messages) => (stateOf(messages)["metadata"] = new Map()))],
    ["a date", edited((messages) => (stateOf(messages)["metadata"] = new Date(0)))],
    ["a bigint", edited((messages) => (stateOf(messages)["input"] = { offset: 1n }))],
    ["a function deep inside", edited((messages) => (stateOf(messages)["metadata"] = { run: fail }))],
    ["a symbol", edited((messages) => (stateOf(messages)["title"] = Symbol("title")))],
    ["a revoked proxy deep inside", edited((messages) => (stateOf(messages)["metadata"] = revoked({})))],
    ["a part kind that nobody knows", edited((messages) => messages[3]?.parts.push({ id: "prt", type: "hologram" }))],
    ["an output that is no text", edited((messages) => (stateOf(messages)["output"] = 7))],
  ],
  "empty-history": [["no message", () => []]],
  "unknown-model": [["no user message", edited((messages) => messages.splice(0, 4, messages[1] as Message))]],
}
for (const [reason, cases] of Object.entries(breakages))
  for (const [name, breakage] of cases)
    test(`${name}: ${reason}, and nothing is touched`, async () => {
      const instance = startInstance()
      const output = { messages: breakage(longHistory()) }
      const snapshot = createSnapshots()
      const before = snapshot(output)
      // With and without a remembered catalog entry.
      for (const known of [false, true]) {
        if (known) await instance.transform(longHistory("ses_other"))
        await assert.doesNotReject(instance.call("experimental.chat.messages.transform", {}, output))
        assert.deepStrictEqual(snapshot(output), before)
      }
      assert.deepEqual(instance.outcomes(), [reason, "projected", reason])
      const warnings = instance.fake.logged().filter(({ level }) => level === "warn")
      assert.equal(warnings.length, reason === "empty-history" ? 0 : 1, "a reason is told once")
      instance.fake.assertNothingWritten()
    })

const oddOutputs: [name: string, output: unknown, reason: string][] = [
  ["none", undefined, "failed"],
  ["null", null, "failed"],
  ["without messages", {}, "not-plain-data"],
  ["a number", 7, "not-plain-data"],
  ["whose messages throw", Object.defineProperty({}, "messages", { get: fail }), "failed"],
  ["that is a revoked proxy", revoked({}), "failed"],
]
for (const [name, output, reason] of oddOutputs)
  test(`an output ${name}: ${reason}`, async () => {
    const instance = startInstance()
    await assert.doesNotReject(instance.call("experimental.chat.messages.transform", undefined, output))
    assert.deepEqual(instance.outcomes(), [reason])
  })

test("a frozen output is no obstacle: only its array is written", async () => {
  const instance = startInstance()
  const output = Object.freeze({ messages: longHistory() })
  await instance.call("experimental.chat.messages.transform", {}, output)
  assert.deepEqual(clearedTargets(output.messages), ["old.ts"])
})

test("an array that cannot grow is no obstacle: its length never changes", async () => {
  const instance = startInstance()
  const messages = Object.preventExtensions(longHistory())
  await instance.transform(messages)
  assert.deepEqual(clearedTargets(messages), ["old.ts"])
})

type Disturbance = (messages: Message[], output: { messages: unknown }) => unknown
const anotherModel = { providerID: "lab", modelID: "lab-2" }
const userMessage = (info: Fields): Message => ({
  info: { id: "msg_z", sessionID: "ses_1", role: "user", time: { created: 99_000 }, ...info },
  parts: [{ id: "prt_z", type: "text", text: "late" }],
})
const disturbances: [name: string, reason: string, disturb: Disturbance][] = [
  ["the array is replaced by an equal one", "request-changed", (messages, output) => (output.messages = [...messages])],
  ["the array is taken away", "request-changed", (_messages, output) => delete (output as Partial<Fields>)["messages"]],
  ["the array is emptied", "request-changed", (messages) => (messages.length = 0)],
  ["the array is frozen", "request-changed", (messages) => Object.freeze(messages)],
  ["a slot is locked", "request-changed", (messages) => Object.defineProperty(messages, 1, { writable: false })],
  ["a message is deleted", "request-changed", (messages) => Reflect.deleteProperty(messages, 1)],
  ["a malformed message is pushed", "request-changed", (messages) => messages.push({} as Message)],
  [
    "another session's message is pushed",
    "request-changed",
    (messages) => messages.push(userMessage({ sessionID: "x" })),
  ],
  ["the session changes", "request-changed", (messages) => messages.forEach(({ info }) => (info.sessionID = "ses_2"))],
  ["a proxy is pushed", "request-changed", (messages) => messages.push(proxied(userMessage({})))],
  ["the output throws", "failed", (_messages, output) => withGetter(output, "messages")],
  ["the model changes", "model-changed", (messages) => (messages[2]!.info["model"] = anotherModel)],
  ["only the provider changes", "model-changed", (messages) => setModel(messages, { providerID: "acme" })],
  ["only the provider's model changes", "model-changed", (messages) => setModel(messages, { modelID: "lab-2" })],
  ["the model goes", "model-changed", (messages) => (messages[2]!.info["model"] = undefined)],
  [
    "a newer user asks for another model",
    "model-changed",
    (messages) => messages.push(userMessage({ model: anotherModel })),
  ],
  [
    "a part of unknown size is added",
    "unknown-content",
    (messages) => messages[3]?.parts.push({ id: "p", type: "odd" }),
  ],
]

function setModel(messages: readonly Message[], fields: Fields): void {
  const asked = messages[2]?.info
  assert.ok(asked)
  asked["model"] = { ...(asked["model"] as Fields), ...fields }
}

for (const [name, reason, disturb] of disturbances)
  test(`during the lookup ${name}: ${reason}, and nothing is touched`, async () => {
    const late = answersLate()
    const instance = startInstance({ providers: late.endpoint })
    const messages = longHistory()
    const output = { messages }
    const request = instance.call("experimental.chat.messages.transform", {}, output)
    disturb(messages, output)
    const snapshot = createSnapshots()
    const held = [messages, output]
    const before = snapshot(held)
    late.answer(catalogWith(NARROW))
    await assert.doesNotReject(request)
    assert.deepStrictEqual(snapshot(held), before)
    assert.deepEqual(instance.outcomes(), [reason])
  })

test("a message of the same session and model that arrives during the lookup is part of what is projected", async () => {
  const late = answersLate()
  const instance = startInstance({ providers: late.endpoint })
  const messages = longHistory()
  const request = instance.transform(messages)
  const added = userMessage({ model: { providerID: "lab", modelID: "lab-1" } })
  messages.push(added)
  late.answer(catalogWith(NARROW))
  await request
  assert.equal(messages.length, 5)
  assert.equal(messages[4], added)
  assert.deepEqual(clearedTargets(messages), ["old.ts"])
})

const garbage: unknown[] = [
  undefined,
  null,
  7,
  "text",
  Symbol("odd"),
  1n,
  [],
  {},
  { sessionID: 7 },
  { event: null },
  { event: { type: "session.deleted" } },
  { event: { type: "session.deleted", properties: { info: null } } },
  { event: { type: "session.deleted", properties: { info: { id: { toString: fail } } } } },
  { sessionID: "ses_1", agent: null },
  Object.defineProperties({}, { sessionID: { get: fail }, agent: { get: fail }, event: { get: fail } }),
  revoked({}),
  fail,
]
for (const hook of HOOK_NAMES)
  test(`${hook} takes any argument without a rejection or a thrown error`, async () => {
    const instance = startInstance()
    for (const input of garbage) for (const output of garbage) await instance.call(hook, input, output)
    await instance.call(hook)
    instance.fake.assertNothingWritten()
  })
