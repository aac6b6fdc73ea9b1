import assert from "node:assert/strict"
import test from "node:test"
import { estimateMessages, projectMessages } from "../../lib/dtc/engine.ts"
import { copyPlain, isPlain, withField } from "../../lib/dtc/plain.ts"
import type { Message } from "../../lib/dtc/types.ts"
import { DEFAULT_POLICY, session, user } from "../helpers/history.ts"

const cycle: Record<string, unknown> = {}
cycle["self"] = { cycle }
/** A little more than ten million values, so that looking at all of them would end too. */
const wide = Array.from({ length: 5 }).reduce<unknown>((inner) => Array.from({ length: 26 }, () => inner), "x")

/** Each stands somewhere in a message; none of its code may run. */
const odd: Record<string, () => unknown> = {
  "an accessor": () => ({
    get value(): never {
      throw new Error("read")
    },
  }),
  "an accessor that answers": () => ({
    get value() {
      return assert.fail("called")
    },
  }),
  "a setter": () => Object.defineProperty({}, "value", { enumerable: true, set: () => {} }),
  "an accessor in an array": () =>
    Object.defineProperty([1], 0, { enumerable: true, get: () => assert.fail("called") }),
  "a hole": () => [1, , 2], // oxlint-disable-line no-sparse-arrays
  "an array of another class": () => new (class Special extends Array<number> {})(),
  "a class instance": () => new (class Special {})(),
  "a date": () => new Date(0),
  "a map": () => new Map(),
  "a function": () => () => 1,
  "a symbol": () => Symbol("x"),
  "a bigint": () => 1n,
  "a cycle": () => cycle,
  "endless depth": () => Array.from({ length: 9_000 }).reduce<unknown>((inner) => [inner], 1),
  "shared references that unfold to too many values": () => wide,
  "a proxy that throws": () => new Proxy({}, { ownKeys: () => assert.fail("trapped") }),
  "a revoked proxy": () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
}

for (const [name, make] of Object.entries(odd)) {
  test(`not plain: ${name}`, () => {
    const messages = session(user("x"))
    Object.assign(messages[0]?.parts[0] ?? {}, { metadata: { deep: [make()] } })
    assert.equal(isPlain(messages), false)
    assert.ok(copyPlain(messages) === undefined)
    const projection = projectMessages(messages, { inputBudget: 1, policy: DEFAULT_POLICY })
    assert.equal(projection.stats.skipped, "unknown-content")
    assert.equal(projection.messages, messages, "what cannot be copied comes back as it is")
    assert.equal(projection.cleared.length, 0)
    assert.equal(estimateMessages(messages), undefined)
  })
}

test("only lists are copied", () => {
  assert.equal(copyPlain({ length: 0 } as never), undefined)
})

test("an invalid budget is named before unreadable content", () => {
  const { stats } = projectMessages([{}] as Message[], { inputBudget: 0, policy: DEFAULT_POLICY })
  assert.equal(stats.skipped, "invalid-budget")
})

test("malformed but plain messages come back as a copy", () => {
  const messages = [{ info: {} }] as Message[]
  const { messages: copy, stats } = projectMessages(messages, { inputBudget: 10, policy: DEFAULT_POLICY })
  assert.deepStrictEqual(copy, messages)
  assert.notEqual(copy, messages)
  assert.equal(stats.skipped, "unknown-content")
})

test("a copy is equal and independent, whatever the keys and prototypes", () => {
  const value = [
    { a: [1, null, undefined, Number.NaN, -0], b: JSON.parse('{"__proto__": {"x": 1}}') as object },
    Object.create(null),
  ]
  const copy = copyPlain(value)
  assert.deepStrictEqual(copy, value)
  assert.notEqual(copy?.[0], value[0])
  const shared = { list: [1] }
  const twice = copyPlain([shared, shared])
  assert.deepStrictEqual(twice, [shared, shared])
})

function failsAfter<T>(times: number, answer: T): () => T {
  let left = times
  return () => (left-- > 0 ? answer : assert.fail("asked once too often"))
}

test("what shows something else than its description says is not plain, whenever it does", () => {
  const liar = (truths: number): object => {
    let left = truths
    return new Proxy({ x: 1 }, { get: () => (left-- > 0 ? 1 : () => assert.fail("called")) })
  }
  assert.equal(isPlain([liar(0)]), false)
  assert.equal(isPlain([liar(1)]), true)
  assert.deepStrictEqual(copyPlain([liar(2)]), [{ x: 1 }])
  const reluctant = new Proxy({ x: 1 }, { ownKeys: failsAfter(1, ["x"]) })
  assert.equal(isPlain([new Proxy({ x: 1 }, { ownKeys: failsAfter(1, ["x"]) })]), true)
  assert.equal(copyPlain([reluctant]), undefined)
})

test("what a prototype brings in is no part of the data", () => {
  // oxlint-disable-next-line no-extend-native
  Object.defineProperty(Object.prototype, "inherited", { value: () => 1, enumerable: true, configurable: true })
  try {
    assert.deepStrictEqual(Object.keys(copyPlain([{ x: 1 }])?.[0] ?? {}), ["x"])
  } finally {
    Reflect.deleteProperty(Object.prototype, "inherited")
  }
})

test("values are counted, those of lists and those of records", () => {
  const list = Array.from({ length: 4_000 }, () => 1)
  const record = Object.fromEntries(list.map((value, index) => [`k${index}`, value]))
  const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
  for (const value of [list, record]) {
    assert.equal(isPlain(times(2_000, value)), true)
    assert.equal(isPlain(times(3_000, value)), false)
  }
})

test("symbols as keys and properties that are not enumerable are no data", () => {
  const source = Object.defineProperties(
    { x: 1 },
    { hidden: { value: 2 }, [Symbol("s")]: { enumerable: true, get: () => assert.fail("called") } },
  )
  assert.deepStrictEqual(copyPlain([source]), [{ x: 1 }])
})

test("a record with a field set keeps its other fields and its prototype", () => {
  const bare = Object.assign(Object.create(null) as object, { a: 1 })
  for (const record of [bare, { a: 1 }]) {
    const changed = withField(record, "b", 2)
    assert.deepStrictEqual(Object.entries(changed), Object.entries({ a: 1, b: 2 }))
    assert.equal(Object.getPrototypeOf(changed), Object.getPrototypeOf(record))
    assert.deepStrictEqual(Object.keys(record), ["a"])
  }
})

test("two hundred levels are plain, one more is none, of lists and of records", () => {
  const nest = (levels: number, wrap: (inner: unknown) => unknown): unknown[] => [
    Array.from({ length: levels }).reduce<unknown>((inner) => wrap(inner), "x"),
  ]
  for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ inner })]) {
    assert.equal(isPlain(nest(200, wrap)), true)
    assert.equal(isPlain(nest(201, wrap)), false)
  }
})
