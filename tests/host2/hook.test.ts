import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import test, { type TestContext } from "node:test"
import { ContextCatalog } from "../../lib/host2/catalog.ts"
import { createContextHook, type ContextRooms } from "../../lib/host2/context-hook.ts"
import type { LoweredProjection } from "../../lib/host2/project.ts"
import { registerContextHook } from "../../lib/host2/setup.ts"
import type { ContextEvent, SetupContext } from "../../lib/host2/types.ts"
import { loadConfig } from "../../lib/config/load.ts"
import { createEvent, createHost, MODEL, NARROW, type HostSetup, type TwoHost } from "./host.ts"
import { HostMessage } from "./lowering.ts"
import { longRows } from "./stories.ts"

const SMALL = { dtc: { protectRecentSteps: 1, protectRecentTokens: 0 } }
const PLACEHOLDER = "[Old tool result content cleared]"

/** Directories of its own, so that nobody's configuration is read. */
function createRoot(context: TestContext): string {
  const root = mkdtempSync(path.join(tmpdir(), "dcp-two-"))
  context.after(() => rmSync(root, { recursive: true, force: true }))
  return root
}

async function startHost(
  context: TestContext,
  setup: HostSetup = {},
  env: Record<string, string> = {},
): Promise<TwoHost> {
  const root = createRoot(context)
  const host = createHost({ options: SMALL, ...setup })
  const surroundings = { env: { XDG_CONFIG_HOME: root, ...env }, home: root, workingDirectory: () => root }
  await registerContextHook(host.context, surroundings)
  return host
}

/** Positions of the messages that hold the placeholder. */
const clearedIn = (messages: readonly HostMessage[]): number[] =>
  messages.flatMap((message, index) => (JSON.stringify(message).includes(PLACEHOLDER) ? [index] : []))

test("an old output of a request over target goes out as the host's placeholder; all else is the very same", async (t) => {
  const host = await startHost(t)
  const plain = createEvent({ rows: longRows() })
  const sent = await host.dispatch({ rows: longRows() })
  assert.deepEqual(clearedIn(sent), [2])
  assert.ok(sent[2] instanceof HostMessage)
  assert.deepEqual(sent[2].content[0], {
    ...(plain.messages[2] as HostMessage).content[0],
    result: { type: "text", value: PLACEHOLDER },
  })
  assert.deepEqual(sent.toSpliced(2, 1), plain.messages.toSpliced(2, 1))
})

test("the event keeps its array, and the host's messages are not written", async (t) => {
  const host = await startHost(t)
  const event = createEvent({ rows: longRows() })
  const { messages } = event
  const before = structuredClone(messages)
  const originals = messages.map((message) => Object.freeze(message))
  await host.callHooks(event)
  assert.equal(event.messages, messages)
  assert.deepEqual(structuredClone(originals), before)
  assert.deepEqual(
    messages.map((message, index) => message === originals[index]),
    [true, true, false, true, true, true],
  )
})

test("the host's text for the last step changes nothing", async (t) => {
  const host = await startHost(t)
  const sent = await host.dispatch({ rows: longRows(), lastStep: true })
  assert.deepEqual(clearedIn(sent), [2])
})

const budgets: readonly [what: string, setup: HostSetup, cleared: number[]][] = [
  ["the catalog's limits are too small", {}, [2]],
  ["the catalog's limits are roomy", { catalog: { lab: { "lab-1": { context: 200_000, output: 500 } } } }, []],
  ["the catalog has another model only", { catalog: { lab: { "lab-2": NARROW } } }, []],
  ["the catalog has another provider only", { catalog: { other: { "lab-1": NARROW } } }, []],
  [
    "the entry is another model's",
    { catalog: { lab: { "lab-1": { id: "x", providerID: "lab", limit: NARROW } } } },
    [],
  ],
  [
    "the entry is another provider's",
    { catalog: { lab: { "lab-1": { id: "lab-1", providerID: "x", limit: NARROW } } } },
    [],
  ],
  ["the entry is none", { catalog: { lab: { "lab-1": 7 } } }, []],
  ["its limits are zero", { catalog: { lab: { "lab-1": { context: 0, output: 0 } } } }, []],
  ["there is no catalog", { catalog: "none" }, []],
  [
    "there is none, but configured limits",
    { catalog: "none", options: { ...SMALL, models: { "lab/lab-1": { limit: NARROW } } } },
    [2],
  ],
  [
    "the catalog beats configured limits",
    {
      catalog: { lab: { "lab-1": { context: 200_000, output: 500 } } },
      options: { ...SMALL, models: { "*/*": { limit: NARROW } } },
    },
    [],
  ],
  ["the model has a policy of its own", { options: { models: { "lab/lab-1": SMALL.dtc } } }, [2]],
  ["the defaults hold", { options: {} }, []],
  ["the plugin is off", { options: { ...SMALL, enabled: false } }, []],
  ["clearing is off", { options: { dtc: { ...SMALL.dtc, enabled: false } } }, []],
]
for (const [what, setup, cleared] of budgets)
  test(`${what}: ${cleared.length} cleared`, async (t) => {
    const host = await startHost(t, setup)
    assert.deepEqual(clearedIn(await host.dispatch({ rows: longRows() })), cleared)
  })

test("the host's output ceiling counts from its environment", async (t) => {
  const setup = { catalog: { lab: { "lab-1": { context: 66_000, output: 64_000 } } } }
  const roomy = await startHost(t, setup)
  assert.deepEqual(clearedIn(await roomy.dispatch({ rows: longRows() })), [])
  const raised = await startHost(t, setup, { OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX: "64000" })
  assert.deepEqual(clearedIn(await raised.dispatch({ rows: longRows() })), [2])
})

test("a catalog that changes is followed", async (t) => {
  const host = await startHost(t)
  host.reloadCatalog({ lab: { "lab-1": NARROW } })
  assert.deepEqual(clearedIn(await host.dispatch({ rows: longRows() })), [2])
  host.reloadCatalog({ lab: { "lab-1": { context: 200_000, output: 500 } } })
  assert.deepEqual(clearedIn(await host.dispatch({ rows: longRows() })), [])
})

test("the project's layer is that of the directory that the host names, else of its working directory", async (t) => {
  const root = createRoot(t)
  mkdirSync(path.join(root, ".opencode"))
  writeFileSync(path.join(root, ".opencode/dcp.jsonc"), JSON.stringify(SMALL))
  const named = await startHost(t, { options: {}, directory: root })
  assert.deepEqual(clearedIn(await named.dispatch({ rows: longRows() })), [2])

  const host = createHost({ options: {} })
  await registerContextHook(host.context, {
    env: { XDG_CONFIG_HOME: "/nowhere" },
    home: "/nowhere",
    workingDirectory: () => root,
  })
  assert.deepEqual(clearedIn(await host.dispatch({ rows: longRows() })), [2])
})

test("before it registers, `setup` reads the host's hook and nothing else", async () => {
  const touched: string[] = []
  const watch = (target: object, name: string): object =>
    new Proxy(target, {
      get: (inner, key) => {
        touched.push(`${name}${String(key)}`)
        return Reflect.get(inner, key) as unknown
      },
    })
  const context = watch({ session: watch({ hook: async () => void touched.push("registered") }, "session.") }, "")
  const surroundings = { env: {}, home: "/", workingDirectory: () => "/" }
  await registerContextHook(context, surroundings)
  assert.deepEqual(touched, ["session", "session.hook", "registered"])
})

for (const [what, context] of [
  ["no hooks", {}],
  ["nothing", undefined],
  ["another session", { session: 7 }],
  ["a hook that throws", { session: { hook: () => assert.fail("no") } }],
  ["a hook that refuses", { session: { hook: () => Promise.reject(new Error("no")) } }],
] as const)
  test(`a host with ${what} is left alone`, async () => {
    const surroundings = { env: {}, home: "/", workingDirectory: () => "/" }
    await registerContextHook(context as unknown as SetupContext, surroundings)
  })

/** The hook itself, which says why it left a request alone. */
function createHook(
  more: Partial<ContextRooms> = {},
  context: SetupContext = createHost().context,
): (event: unknown) => Promise<LoweredProjection | string> {
  const catalog = new ContextCatalog({ context, outputTokenMax: 32_000 })
  const load = async (): Promise<Awaited<ReturnType<ContextRooms["loadConfig"]>>> =>
    (
      await loadConfig({
        directory: "/nowhere",
        options: SMALL,
        env: { XDG_CONFIG_HOME: "/nowhere" },
        home: "/nowhere",
      })
    ).config
  const hook = createContextHook({ catalog, loadConfig: load, outputTokenMax: 32_000, ...more })
  return (event) => hook(event as ContextEvent)
}

const eventWith = (fields: object): object => ({ ...createEvent({ rows: longRows() }), ...fields })
const throwing = Object.defineProperty({}, "messages", { get: () => assert.fail("read") })

const skips: readonly [what: string, event: unknown, reason: string][] = [
  ["nothing", undefined, "not-plain-data"],
  ["a number", 7, "not-plain-data"],
  ["an accessor", throwing, "not-plain-data"],
  ["a proxy", new Proxy(eventWith({}), {}), "not-plain-data"],
  ["no messages", eventWith({ messages: undefined }), "not-plain-data"],
  [
    "messages that cannot be written",
    eventWith({ messages: Object.freeze([...createEvent({ rows: longRows() }).messages]) }),
    "not-plain-data",
  ],
  ["an empty history", eventWith({ messages: [] }), "empty-history"],
  ["no session", eventWith({ sessionID: "" }), "unidentified-session"],
  ["no model", eventWith({ model: undefined }), "unknown-model"],
  ["half a model", eventWith({ model: { providerID: "lab" } }), "unknown-model"],
  ["a model without limits", eventWith({ model: { providerID: "lab", id: "lab-2" } }), "unavailable-budget"],
  ["a message that is none", eventWith({ messages: [7] }), "malformed-message"],
  ["another kind of request", eventWith({ kind: "compaction" }), "other-request"],
]
for (const [what, event, reason] of skips)
  test(`${what}: ${reason}`, async () => assert.equal(await createHook()(event), reason))

test("a kind that the host does not set otherwise changes nothing", async () => {
  for (const kind of [undefined, "agent", 7]) assert.equal(typeof (await createHook()(eventWith({ kind }))), "object")
})

test("a configuration that cannot be loaded leaves the request as it was", async () => {
  const hook = createHook({ loadConfig: () => Promise.reject(new Error("no")) })
  assert.equal(await hook(eventWith({})), "failed")
})

const changes: readonly [what: string, change: (event: ContextEvent) => void, outcome: string][] = [
  ["the array", (event) => (event.messages = [...event.messages]), "request-changed"],
  ["the session", (event) => (event.sessionID = "ses_2"), "request-changed"],
  ["the model", (event) => (event.model = { providerID: "lab", id: "lab-2" }), "model-changed"],
  ["the provider", (event) => (event.model = { ...MODEL, providerID: "x" }), "model-changed"],
  ["everything", (event) => (event.messages.length = 0), "empty-history"],
]
for (const [what, change, outcome] of changes)
  test(`${what} changes while the catalog is asked: ${outcome}`, async () => {
    const { context } = createHost()
    const event = createEvent({ rows: longRows() })
    const transform: NonNullable<SetupContext["catalog"]>["transform"] = (callback) => {
      change(event)
      return context.catalog?.transform(callback) ?? Promise.resolve()
    }
    const hook = createHook({}, { ...context, catalog: { transform } })
    assert.equal(await hook(event), outcome)
    assert.deepEqual(clearedIn(event.messages as HostMessage[]), [])
  })

test("once configuration and catalog are known, a request is projected before anything is awaited", async () => {
  const hook = createHook()
  await hook(eventWith({}))
  const event = createEvent({ rows: longRows() })
  const done = hook(event)
  assert.deepEqual(clearedIn(event.messages as HostMessage[]), [2])
  await done
})

test("a catalog that is shown only when it is made anew is asked for that", async () => {
  const { context } = createHost()
  let show: (() => void) | undefined
  const catalog: SetupContext["catalog"] = {
    transform: async (callback) => {
      show = () => void context.catalog?.transform(callback)
    },
    reload: async () => show?.(),
  }
  assert.equal(typeof (await createHook({}, { catalog })(eventWith({}))), "object")
})

test("a catalog that refuses is asked again, one that is silent is not", async (t) => {
  const { context } = createHost()
  let asked = 0
  const refuses: SetupContext["catalog"] = {
    transform: (callback) => {
      if (++asked === 1) throw new Error("not ready")
      return context.catalog?.transform(callback) ?? Promise.resolve()
    },
  }
  const hook = createHook({}, { catalog: refuses })
  assert.equal(await hook(eventWith({})), "unavailable-budget")
  assert.equal(typeof (await hook(eventWith({}))), "object")
  assert.equal(asked, 2)

  t.mock.timers.enable({ apis: ["setTimeout"] })
  let silentlyAsked = 0
  const silent: SetupContext["catalog"] = { transform: () => (silentlyAsked++, new Promise(() => undefined)) }
  const waiting = createHook({ loadConfig: createLoaded() }, { catalog: silent })
  const first = waiting(eventWith({}))
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  t.mock.timers.tick(2_000)
  assert.equal(await first, "unavailable-budget")
  assert.equal(await waiting(eventWith({})), "unavailable-budget")
  assert.equal(silentlyAsked, 1)
})

const defaults = await loadConfig({ directory: "/nowhere", env: { XDG_CONFIG_HOME: "/nowhere" }, home: "/nowhere" })
const createLoaded = (): ContextRooms["loadConfig"] => () => Promise.resolve(defaults.config)

test("a catalog of another shape is none", async () => {
  for (const draft of [
    undefined,
    {},
    { provider: { list: () => [{}] } },
    { provider: { list: () => assert.fail("no") } },
  ]) {
    const catalog = { transform: async (callback: (shown: never) => void) => callback(draft as never) }
    assert.equal(await createHook({}, { catalog })(eventWith({})), "unavailable-budget")
  }
})

test("a provider that is listed twice has no limits", async () => {
  const models = new Map([["lab-1", { id: "lab-1", providerID: "lab", limit: NARROW }]])
  const listed = { provider: { id: "lab" }, models }
  const catalogOf = (list: (typeof listed)[]): SetupContext["catalog"] => ({
    transform: async (callback) => callback({ provider: { list: () => list } }),
  })
  assert.equal(typeof (await createHook({}, { catalog: catalogOf([listed]) as never })(eventWith({}))), "object")
  assert.equal(
    await createHook({}, { catalog: catalogOf([listed, listed]) as never })(eventWith({})),
    "unavailable-budget",
  )
})
