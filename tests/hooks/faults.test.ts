import assert from "node:assert/strict"
import test from "node:test"
import { identifyRequest } from "../../lib/request.ts"
import type { Message } from "../../lib/dtc/types.ts"
import { answersLate, catalogWith } from "../helpers/client.ts"
import { clearedTargets } from "../helpers/history.ts"
import { longHistory, NARROW, startInstance } from "./instance.ts"

test("a compaction whose session cannot be read stops clearing instead of going unnoticed", async () => {
  const instance = startInstance()
  const unreadable = Object.defineProperty({}, "sessionID", { get: () => assert.fail("read") })
  await instance.call("experimental.session.compacting", unreadable, {})
  assert.equal(instance.controls.halted, true)
})

test("a huge sparse array is refused at its first hole", () => {
  const messages: unknown[] = []
  messages.length = 2 ** 32 - 1
  assert.equal(identifyRequest(messages), "not-plain-data")
})

test("slots without a new mark keep their objects, also where ids repeat", async () => {
  const messages = longHistory()
  const [, second, , fourth] = messages
  if (second && fourth) fourth.info.id = second.info.id
  const original = [...messages]
  await startInstance().transform(messages)
  assert.deepEqual(
    messages.map((message, index) => message === original[index]),
    [true, false, true, true],
  )
})

test("a part that shows something else than its description says leaves the request alone", async () => {
  const messages: Message[] = longHistory()
  const part = messages[1]?.parts.find(({ type }) => type === "tool")
  assert.ok(part)
  const lying = (target: object, key: PropertyKey): unknown => (key === "title" ? () => 1 : Reflect.get(target, key))
  part["state"] = new Proxy(part["state"] as object, { get: lying })
  await startInstance().transform(messages)
  assert.deepEqual(clearedTargets(messages), [])
})

test("clearing that stops during a lookup stops for that request too", async () => {
  const late = answersLate()
  const messages = longHistory()
  const instance = startInstance({ providers: late.endpoint })
  const request = instance.transform(messages)
  await instance.compacting("")
  late.answer(catalogWith(NARROW))
  await request
  assert.deepEqual(clearedTargets(messages), [])
})

test("a deleted session without an id forgets nothing", async () => {
  const instance = startInstance()
  await instance.prune("undefined")
  await instance.call("event", { event: { type: "session.deleted", properties: {} } })
  assert.equal(instance.controls.hasPendingClear("undefined"), true)
})
