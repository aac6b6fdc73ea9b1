import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import test, { type TestContext } from "node:test"
import plugin from "../index.ts"
import * as entryModule from "../index.ts"
import type { HostClient, Hooks } from "../lib/host.ts"
import {
  answers,
  catalogWith,
  createClient,
  neverAnswers,
  rejects,
  throws,
  type ClientScript,
  type FakeClient,
} from "./helpers/client.ts"
import { clearedTargets } from "./helpers/history.ts"
import { longHistory } from "./hooks/instance.ts"
import { createHost } from "./host2/host.ts"
import { longRows } from "./host2/stories.ts"

const PROJECTING_HOOKS = [
  "chat.message",
  "chat.params",
  "dispose",
  "event",
  "experimental.chat.messages.transform",
  "experimental.session.compacting",
]

interface Home {
  directory: string
  write: (relative: string, content: string) => void
}

/** Home and configuration directories of its own for one test, so that nobody's real configuration is read. */
function createHome(context: TestContext): Home {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "dcp-entry-")))
  const directory = path.join(root, "project")
  mkdirSync(directory)
  const changes: Record<string, string | undefined> = {
    HOME: root,
    USERPROFILE: root,
    XDG_CONFIG_HOME: path.join(root, "xdg"),
    OPENCODE_CONFIG_DIR: undefined,
    OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX: undefined,
  }
  const before = Object.fromEntries(Object.keys(changes).map((name) => [name, process.env[name]]))
  setEnvironment(changes)
  context.after(() => {
    setEnvironment(before)
    rmSync(root, { recursive: true, force: true })
  })
  return {
    directory,
    write(relative, content) {
      const file = path.join(root, relative)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, content)
    },
  }
}

function setEnvironment(values: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(values))
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
}

async function start(
  { directory }: Home,
  options?: unknown,
  script: ClientScript = {},
): Promise<{ hooks: Hooks; fake: FakeClient }> {
  const fake = createClient({ providers: answers(catalogWith({ context: 3_000, output: 500 })), ...script })
  return { hooks: await plugin.server({ client: fake.client, directory }, options), fake }
}

/** Protection small enough that `longHistory` has something to clear. */
const SMALL = { dtc: { protectRecentSteps: 1, protectRecentTokens: 0 } }

async function clearedBy(hooks: Hooks): Promise<string[]> {
  const messages = longHistory()
  await hooks["experimental.chat.messages.transform"]?.({}, { messages })
  return clearedTargets(messages)
}

test("the module has one export, and the plugin is an id, a server for 1.x and a setup for 2.x", () => {
  assert.deepEqual(Object.keys(entryModule), ["default"])
  assert.deepEqual(Object.keys(plugin), ["id", "server", "setup"])
  assert.equal(plugin.id, "opencode-dcp")
})

test("the same module, loaded by OpenCode 2.x, takes its options and the layers of the host's directory", async (t) => {
  const home = createHome(t)
  home.write("project/.opencode/dcp.jsonc", JSON.stringify({ dtc: { protectRecentTokens: 0 } }))
  const host = createHost({ options: { dtc: { protectRecentSteps: 1 } }, directory: home.directory })
  await host.load(plugin)
  const sent = await host.dispatch({ rows: longRows() })
  assert.deepEqual(
    sent.map((message) => JSON.stringify(message).includes("content cleared")),
    [false, false, true, false, false, false],
  )
})

test("without any configuration it clears, offers its tools, and says nothing", async (t) => {
  const { hooks, fake } = await start(createHome(t))
  assert.deepEqual(Object.keys(hooks).toSorted(), [...PROJECTING_HOOKS, "tool"].toSorted())
  assert.deepEqual(Object.keys(hooks.tool ?? {}), ["dcp_prune", "dcp_status", "dcp_recall"])
  await clearedBy(hooks)
  assert.deepEqual(
    fake.calls.map(({ endpoint }) => endpoint),
    ["config.providers"],
  )
})

test("the options of opencode.json reach the request, and dcp_prune the next one", async (t) => {
  const home = createHome(t)
  const { hooks, fake } = await start(home, SMALL)
  assert.deepEqual(await clearedBy(hooks), ["old.ts"])
  const roomy = await start(home, SMALL, { providers: answers(catalogWith({ context: 200_000, output: 500 })) })
  assert.deepEqual(await clearedBy(roomy.hooks), [])
  const { dcp_prune: prune } = roomy.hooks.tool ?? {}
  assert.match((await prune?.execute({}, { sessionID: "ses_1" })) ?? "", /^Scheduled/)
  assert.deepEqual(await clearedBy(roomy.hooks), ["old.ts"])
  assert.deepEqual(await clearedBy(roomy.hooks), [])
  fake.assertNothingWritten()
})

const switches: [options: object, names: string[]][] = [
  [{ enabled: false }, []],
  [{ dtc: { enabled: false } }, []],
  [{ enabled: false, dtc: { enabled: true }, tool: { enabled: true } }, []],
  [{ tool: { enabled: false } }, PROJECTING_HOOKS],
  [{}, [...PROJECTING_HOOKS, "tool"]],
]
for (const [options, names] of switches)
  test(`with ${JSON.stringify(options)} it returns ${names.length} hooks, never nothing`, async (t) => {
    const { hooks } = await start(createHome(t), options)
    assert.deepEqual(Object.keys(hooks).toSorted(), names.toSorted())
  })

const odd: [what: string, client: unknown][] = [
  ["never answers", createClient({ providers: neverAnswers, log: neverHeard, showToast: neverHeard }).client],
  ["rejects", createClient({ providers: rejects, log: refused, showToast: refused }).client],
  ["throws", createClient({ providers: throws, log: broken, showToast: broken }).client],
  ["has no endpoint", {}],
  ["is missing", undefined],
  [
    "throws when it is read",
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("not ready")
        },
      },
    ),
  ],
]
for (const [what, client] of odd)
  test(`a client that ${what} does not hold up the start, even with something to tell`, async (t) => {
    const home = createHome(t)
    home.write("xdg/opencode/dcp.jsonc", '{ "debug": true, "debgu": 1 }')
    const hooks = await plugin.server({ client: client as HostClient, directory: home.directory }, { odd: 1 })
    assert.ok(hooks["experimental.chat.messages.transform"])
  })

function neverHeard(): Promise<never> {
  return new Promise(() => undefined)
}
function refused(): Promise<never> {
  return Promise.reject(new Error("refused"))
}
function broken(): never {
  throw new Error("broken")
}

test("recall can be left out alone", async (t) => {
  const { hooks } = await start(createHome(t), { tool: { recall: false } })
  assert.deepEqual(Object.keys(hooks.tool ?? {}), ["dcp_prune", "dcp_status"])
})

test("starting asks the host for nothing", async (t) => {
  const { fake } = await start(createHome(t), SMALL)
  assert.deepEqual(fake.calls, [])
})

test("a configuration that cannot be read is told once in the log, then in one toast, and the defaults hold", async (t) => {
  const home = createHome(t)
  home.write("xdg/opencode/dcp.jsonc", "{ not json")
  home.write("project/.opencode/dcp.jsonc/is-a-directory", "")
  const { hooks, fake } = await start(home, SMALL)
  assert.equal(fake.logged().length, 2)
  assert.ok(fake.logged().every(({ message }) => message.includes("dcp.jsonc")))
  assert.deepEqual(fake.toasted(), [])
  assert.deepEqual(await clearedBy(hooks), ["old.ts"])
  await clearedBy(hooks)
  assert.equal(fake.toasted().length, 2)
  assert.equal(fake.logged().filter(({ level }) => level === "warn").length, 2)
})

for (const options of [null, 7, "text", [], () => undefined, Symbol("odd"), 1n, { toJSON: broken }])
  test(`options that are no object (${typeof options} ${Array.isArray(options)}) are told and ignored`, async (t) => {
    const { hooks, fake } = await start(createHome(t), options)
    assert.ok(hooks["experimental.chat.messages.transform"])
    assert.equal(fake.logged().length, 1)
  })

test("the host's output ceiling counts from its environment", async (t) => {
  const home = createHome(t)
  process.env["OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"] = "64000"
  const providers = answers(catalogWith({ context: 200_000, output: 131_072 }))
  const { hooks, fake } = await start(home, { debug: true }, { providers })
  await clearedBy(hooks)
  const stats = fake.logged().at(-1)?.extra?.["stats"] as { inputBudget: number } | undefined
  assert.equal(stats?.inputBudget, 136_000)
})

test("instances share no guard, no scheduled clear and no catalog", async (t) => {
  const home = createHome(t)
  const first = await start(home, SMALL)
  const second = await start(home, SMALL)
  await first.hooks["experimental.session.compacting"]?.({ sessionID: "ses_1" }, {})
  assert.deepEqual(await clearedBy(second.hooks), ["old.ts"])
  assert.deepEqual(await clearedBy(first.hooks), [])
  assert.deepEqual(await clearedBy(first.hooks), ["old.ts"])
  assert.deepEqual([first.fake.countOf("config.providers"), second.fake.countOf("config.providers")], [1, 1])
})
