import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { loadConfig } from "../../lib/config/load.ts"
import { ContextCatalog } from "../../lib/host2/catalog.ts"
import { createContextHook } from "../../lib/host2/context-hook.ts"
import { ownValue } from "../../lib/host2/lowered.ts"
import type { LoweredProjection } from "../../lib/host2/project.ts"
import { registerContextHook } from "../../lib/host2/setup.ts"
import type { ContextEvent, SetupContext } from "../../lib/host2/types.ts"
import { createSnapshots } from "../hooks/instance.ts"
import { createEvent, createHost } from "./host.ts"
import { longRows, stories, toRows } from "./stories.ts"

const RUNS = { numRuns: 400, ...(process.env["FUZZ_SEED"] && { seed: Number(process.env["FUZZ_SEED"]) }) }

const options = { dtc: { protectRecentSteps: 1, protectRecentTokens: 0, minimumSavingsTokens: 1 } }
const { config } = await loadConfig({
  directory: "/nowhere",
  options,
  env: { XDG_CONFIG_HOME: "/nowhere" },
  home: "/nowhere",
})

function createHook(
  context: SetupContext = createHost().context,
): (event: unknown) => Promise<LoweredProjection | string> {
  const catalog = new ContextCatalog({ context, outputTokenMax: 32_000 })
  const hook = createContextHook({ catalog, loadConfig: () => Promise.resolve(config), outputTokenMax: 32_000 })
  return (event) => hook(event as ContextEvent)
}

const throwing = (): never => {
  throw new Error("not to be touched")
}
const traps: ProxyHandler<object> = {
  get: throwing,
  ownKeys: throwing,
  getOwnPropertyDescriptor: throwing,
  getPrototypeOf: throwing,
}
const cycle: unknown[] = []
cycle.push({ role: "user", content: cycle })

const anything = fc.oneof(
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true }),
  fc.anything({ withSparseArray: true, withTypedArray: true, withObjectString: true, withBoxedValues: true }),
  fc.constantFrom<unknown[]>(
    "text",
    "assistant",
    "tool",
    "tool-result",
    "tool-call",
    Symbol("odd"),
    cycle,
    new Proxy({}, traps),
    new Proxy([], traps),
  ),
  fc.constant(Object.defineProperty({ type: "text" }, "text", { get: throwing, enumerable: true })),
)

type Spoiler = (container: object, key: PropertyKey, value: unknown) => void

/** One place, however deep, becomes something else: another value, an accessor, or something frozen. */
const spoilers: fc.Arbitrary<Spoiler> = fc.constantFrom<Spoiler[]>(
  (container, key, value) => void Reflect.set(container, key, value),
  (container, key) =>
    void Reflect.defineProperty(container, key, { get: throwing, enumerable: true, configurable: true }),
  (container, key) => void Reflect.deleteProperty(container, key),
  (container) => void Object.freeze(container),
  (container, key) => {
    const value: unknown = Reflect.get(container, key)
    if (typeof value === "object" && value !== null) Reflect.set(container, key, new Proxy(value, traps))
  },
)

function spoil(container: unknown, path: readonly number[], value: unknown, spoiler: Spoiler): void {
  const [step, ...rest] = path
  if (typeof container !== "object" || container === null || step === undefined) return
  const keys = Object.keys(container)
  const key = keys[step % keys.length]
  if (key === undefined) return
  const inner: unknown = Object.getOwnPropertyDescriptor(container, key)?.value
  if (rest.length === 0 || typeof inner !== "object" || inner === null) spoiler(container, key, value)
  else spoil(inner, rest, value, spoiler)
}

const spoiledEvents = fc
  .tuple(
    fc.oneof(stories.map(toRows), fc.constant(longRows())),
    fc.array(fc.nat(), { minLength: 1, maxLength: 7 }),
    anything,
    spoilers,
  )
  .map(([rows, path, value, spoiler]) => {
    const event = createEvent({ rows })
    spoil(event, path, value, spoiler)
    return event
  })

test("no event makes the hook reject, and one that is not projected stays as it was", async () => {
  const hook = createHook()
  const seen = { projected: 0, skipped: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 1, arbitrary: anything }, { weight: 5, arbitrary: spoiledEvents }),
      async (event) => {
        const snapshot = createSnapshots()
        const before = snapshot(event)
        const outcome = await hook(event)
        if (typeof outcome === "string" || outcome.cleared.length === 0) assert.deepStrictEqual(snapshot(event), before)
        seen[typeof outcome === "string" ? "skipped" : "projected"]++
      },
    ),
    RUNS,
  )
  for (const [kind, count] of Object.entries(seen)) assert.ok(count > 30, `hardly ever ${kind}: ${count}`)
})

test("a projected event differs in the chosen results only, however odd the rest is", async () => {
  const hook = createHook()
  let cleared = 0
  await fc.assert(
    fc.asyncProperty(spoiledEvents, async (event) => {
      const listed = listOwn(ownValue(event, "messages"))
      const snapshot = createSnapshots()
      const originals = snapshot(listed)
      const outcome = await hook(event)
      if (typeof outcome === "string") return
      assert.deepStrictEqual(snapshot(listed), originals, "the host's own messages were written")
      const changed = new Set(outcome.cleared.map(({ messageIndex }) => messageIndex))
      for (const [index, message] of event.messages.entries())
        assert.equal(message !== listed[index], changed.has(index))
      cleared += Math.min(1, changed.size)
    }),
    RUNS,
  )
  assert.ok(cleared > 30, `hardly ever cleared: ${cleared}`)
})

/** The slots of a list, without calling an accessor or a trap. */
function listOwn(list: unknown): unknown[] {
  const length = ownValue(list, "length")
  return Array.from({ length: typeof length === "number" ? length : 0 }, (_, index) => ownValue(list, String(index)))
}

test("a host may offer anything as its context or catalog", async () => {
  const surroundings = { env: { XDG_CONFIG_HOME: "/nowhere" }, home: "/nowhere", workingDirectory: () => "/nowhere" }
  const contexts = fc.oneof(
    anything,
    fc.record({ session: anything, catalog: anything, options: anything, location: anything }),
  )
  await fc.assert(
    fc.asyncProperty(contexts, async (context) => {
      await registerContextHook(context as SetupContext, surroundings)
    }),
    RUNS,
  )
  await fc.assert(
    fc.asyncProperty(anything, anything, async (catalog, draft) => {
      const transform = async (show: (shown: never) => void): Promise<unknown> => (show(draft as never), undefined)
      for (const offered of [catalog, { transform }, { transform: catalog }]) {
        const event = createEvent({ rows: longRows() })
        const outcome = await createHook({ catalog: offered } as unknown as SetupContext)(event)
        assert.equal(outcome, "unavailable-budget")
      }
    }),
    { numRuns: 150 },
  )
})
