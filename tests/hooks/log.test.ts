import assert from "node:assert/strict"
import { setImmediate } from "node:timers/promises"
import test from "node:test"
import type { Diagnostic } from "../../lib/config/types.ts"
import type { HostClient } from "../../lib/host.ts"
import { Log } from "../../lib/log.ts"
import type { Message } from "../../lib/dtc/types.ts"
import {
  answers,
  catalog,
  catalogWith,
  createClient,
  entry,
  neverAnswers,
  provider,
  rejects,
  throws,
  type Endpoint,
} from "../helpers/client.ts"
import { createSandbox } from "../config/sandbox.ts"
import { HOSTILE, PATH_HOSTILE, STEERING } from "../helpers/hostile.ts"
import { createStatusTool } from "../../lib/tools/status.ts"
import { bash, clearedTargets, read, reasoning, session, step, text, tokens, user } from "../helpers/history.ts"
import { longHistory, NARROW, startInstance } from "./instance.ts"

const oddThenable: Endpoint = (options) => new Proxy({}, { get: () => throws(options) })
const failures: [how: string, endpoint: Endpoint][] = [
  ["throws", throws],
  ["rejects", rejects],
  ["never answers", neverAnswers],
  ["answers nothing", () => undefined],
  ["answers an object that cannot be awaited", oddThenable],
]

/** Each has its own line or toast; two are of one file. */
const diagnostics: Diagnostic[] = [
  { kind: "unknown-key", file: "/a/dcp.jsonc", line: 2, column: 3, key: "debgu", message: 'expected "debug"' },
  {
    kind: "invalid-value",
    file: "/a/dcp.jsonc",
    line: 3,
    column: 3,
    key: "dtc.targetRatio",
    message: "expected a ratio",
  },
  { kind: "parse-error", file: "/b/dcp.json", line: 1, column: 1, message: "expected an object" },
]

for (const [how, endpoint] of failures)
  test(`a log or a toast that ${how} has no effect on requests, guards or scheduled clears`, async () => {
    const instance = startInstance({ log: endpoint as () => unknown, showToast: endpoint as () => unknown })
    const messages = longHistory()
    await instance.transform(messages)
    assert.deepEqual(clearedTargets(messages), ["old.ts"])
    for (let index = 0; index < 257; index++) await instance.prune(`ses_${index}`)
    for (let index = 0; index < 257; index++) await instance.compacting(`ses_${index}`)
    await instance.transform([{}])
    const log = new Log(instance.fake.client, true, diagnostics)
    log.showDiagnostics()
    log.warnOnce("once")
    await setImmediate()
    assert.equal(instance.fake.countOf("tui.showToast"), 2)
  })

for (const [what, client] of [
  ["without endpoints", {}],
  ["that is missing", undefined],
  ["whose endpoints throw when they are read", Object.defineProperty({}, "app", { get: () => assert.fail("read") })],
] as const)
  test(`a client ${what} is no failure`, () => {
    const log = new Log(client as HostClient, true, diagnostics)
    log.debug("line", {})
    log.showDiagnostics()
  })

test("each diagnostic is one line, at once, with file, line, column and key", () => {
  const { client, logged, toasted } = createClient()
  const log = new Log(client, false, diagnostics)
  assert.deepEqual(
    logged().map(({ service, level, message }) => [service, level, message]),
    [
      ["opencode-dcp", "warn", 'opencode-dcp: /a/dcp.jsonc:2:3 debgu: expected "debug"'],
      ["opencode-dcp", "warn", "opencode-dcp: /a/dcp.jsonc:3:3 dtc.targetRatio: expected a ratio"],
      ["opencode-dcp", "warn", "opencode-dcp: /b/dcp.json:1:1: expected an object"],
    ],
  )
  assert.deepEqual(toasted(), [], "before a request there may be no user interface")
  log.showDiagnostics()
  assert.equal(logged().length, 3)
})

test("each file is one toast, once", () => {
  const { client, toasted } = createClient()
  const log = new Log(client, false, diagnostics)
  log.showDiagnostics()
  log.showDiagnostics()
  assert.deepEqual(
    toasted().map(({ message, variant }) => [message, variant]),
    [
      ['/a/dcp.jsonc:2:3 debgu: expected "debug" (and 1 more, see the log)', "warning"],
      ["/b/dcp.json:1:1: expected an object", "warning"],
    ],
  )
})

test("without debug a request in order logs its batch alone, and each reason is told once per instance", async () => {
  const instance = startInstance({}, { debug: false })
  for (let round = 0; round < 3; round++) {
    await instance.transform(longHistory())
    await instance.transform([])
    await instance.compacting("ses_1")
    await instance.transform(longHistory())
  }
  assert.deepEqual(
    instance.fake.logged().map(({ level }) => level),
    ["info"],
    "the one batch that three equal requests share",
  )
  for (let round = 0; round < 3; round++) {
    await instance.transform([{}])
    await instance.transform(Object.freeze(longHistory()))
  }
  assert.deepEqual(
    instance.fake
      .logged()
      .slice(1)
      .map(({ level, message }) => [level, message.split(": ").at(-1)]),
    [
      ["warn", "malformed-message"],
      ["warn", "not-plain-data"],
    ],
  )
})

test("a model without limits is named, with what would help", async () => {
  const instance = startInstance({ providers: answers({ providers: [] }) }, { debug: false })
  for (let round = 0; round < 2; round++) await instance.transform(longHistory())
  const [line, ...others] = instance.fake.logged().map(({ message }) => message)
  assert.deepEqual(others, [])
  assert.match(line ?? "", /^opencode-dcp: no token limits for lab\/lab-1 .* models\["lab\/lab-1"\]\.limit/)
})

test("messages that were said are remembered within bounds, the oldest is forgotten first", () => {
  const { client, logged } = createClient()
  const log = new Log(client, false, [])
  for (let index = 0; index < 256; index++) log.warnOnce(`no limits for ${index}`)
  log.warnOnce("no limits for 0")
  assert.equal(logged().length, 256, "still known")
  log.warnOnce("one more")
  log.warnOnce("no limits for 255")
  assert.equal(logged().length, 257)
  log.warnOnce("no limits for 0")
  assert.equal(logged().length, 258)
})

test("with debug each request is exactly one debug line", async () => {
  const instance = startInstance()
  const requests: unknown[] = [longHistory(), [], [{}], longHistory(), undefined]
  for (const messages of requests) await instance.transform(messages)
  assert.equal(instance.outcomes().length, requests.length)
})

const SECRET = "SECRET-7f3a"

/** A history whose every text, input, output, title, path and piece of metadata carries the secret. */
function secretHistory(): Message[] {
  return session(
    user(`${SECRET} go`, { system: SECRET, title: SECRET, agent: SECRET, tools: { [SECRET]: true } }),
    step(
      text(SECRET),
      reasoning(SECRET, { anthropic: { signature: SECRET } }),
      read(`/${SECRET}/a.ts`, tokens(3_000, SECRET), { title: SECRET, metadata: { preview: SECRET } }),
      bash(`echo ${SECRET}`, tokens(3_000, SECRET)),
    ),
    user(SECRET),
    step(bash(SECRET, SECRET, 1), { type: "patch", files: [SECRET], hash: SECRET }),
  )
}

/** The host hands the provider's key to this hook. */
const secretParams = () => ({
  sessionID: "ses_1",
  agent: SECRET,
  model: { ...entry(NARROW), options: { apiKey: SECRET }, headers: { authorization: SECRET } },
  provider: { source: "api", options: { apiKey: SECRET }, info: { key: SECRET } },
  message: secretHistory().at(-2)?.info,
})

const secretCatalog = catalog(
  provider(
    { "lab-1": entry(NARROW, { headers: { authorization: SECRET }, options: { apiKey: SECRET } }) },
    { key: SECRET, options: { apiKey: SECRET }, env: [SECRET] },
  ),
)

test("no line and no toast holds conversation text or anything of the catalog but sizes", async () => {
  const configs: Parameters<typeof startInstance>[1][] = [
    {},
    { notify: "toast" },
    { models: { "lab/lab-1": { limit: NARROW } } },
  ]
  const endpoints: Endpoint[] = [
    answers(secretCatalog),
    answers({ error: SECRET }),
    () => Promise.reject(new Error(SECRET)),
    () => {
      throw new Error(SECRET)
    },
  ]
  const spoiled: ((messages: Message[]) => unknown)[] = [
    (messages) => messages,
    (messages) => [...messages, { info: SECRET, parts: SECRET }],
    (messages) => Object.freeze(messages),
    (messages) => [...messages, { info: messages[0]?.info, parts: [{ type: SECRET, text: SECRET }] }],
    (messages) => messages.map(({ info, parts }) => ({ info: { ...info, model: SECRET }, parts })),
    (messages) =>
      Object.defineProperty(messages, 0, {
        get() {
          throw new Error(SECRET)
        },
      }),
  ]
  for (const config of configs)
    for (const providers of endpoints)
      for (const spoil of spoiled) {
        const instance = startInstance({ providers }, config)
        await instance.prune("ses_1")
        for (let round = 0; round < 2; round++) {
          await instance.transform(spoil(secretHistory()))
          await instance.call("chat.message", { sessionID: "ses_1", agent: SECRET }, { parts: [{ text: SECRET }] })
          await instance.call("chat.params", secretParams(), { options: { apiKey: SECRET } })
        }
        const status = createStatusTool({ dispatches: instance.dispatches, recall: true })
        assert.ok(!(await status.execute({}, { sessionID: "ses_1" })).includes(SECRET), "status tells of it")
        const told = JSON.stringify([instance.fake.logged(), instance.fake.toasted()])
        assert.ok(told.length > 100, "something was logged")
        assert.ok(!told.includes(SECRET), told.slice(0, 2_000))
        instance.fake.assertNothingWritten()
      }
})

test("the secret history is one whose outputs are cleared, and its dispatch is told", async () => {
  const instance = startInstance({ providers: answers(secretCatalog) })
  const messages = secretHistory()
  await instance.transform(messages)
  await instance.call("chat.params", secretParams(), {})
  assert.equal(instance.dispatches.findRecord("ses_1")?.placeholders.length, 2)
  assert.ok(instance.fake.logged().some(({ message }) => message === "request dispatched"))
  assert.equal(clearedTargets(messages).length, 2)
})

test("names from files and sessions cannot steer whoever reads the log or a toast", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(`home/${PATH_HOSTILE}/.opencode/dcp.jsonc`, { [HOSTILE]: 1, debug: true, notify: "toast" })
  const { config, diagnostics: found } = await sandbox.load({ directory: sandbox.at(`home/${PATH_HOSTILE}`) })
  const configured = createClient()
  new Log(configured.client, config.debug, found).showDiagnostics()

  const unknown = startInstance({ providers: answers(undefined) })
  const projected = startInstance(
    { providers: answers(catalogWith(NARROW)) },
    { notify: "toast", models: { "*/*": { limit: NARROW } } },
  )
  for (const instance of [unknown, projected]) {
    const messages = longHistory(HOSTILE)
    for (const { info, parts } of messages) {
      info.id = `${HOSTILE} ${info.id}`
      if (info.role === "user") info["model"] = { providerID: HOSTILE, modelID: HOSTILE }
      for (const part of parts) Object.assign(part, { id: `${HOSTILE} ${part.id}`, callID: HOSTILE })
    }
    await instance.prune(HOSTILE)
    await instance.transform(messages)
    await instance.params(HOSTILE, HOSTILE)
    for (let index = 0; index < 257; index++) await instance.prune(`${HOSTILE} ${index}`)
  }
  assert.deepEqual([unknown.outcomes(), projected.outcomes()], [["unavailable-budget"], ["forced"]])
  const told = [configured, unknown.fake, projected.fake].flatMap((fake) => [...fake.logged(), ...fake.toasted()])
  assert.ok(told.some(({ message }) => message.includes("u{202e}")))
  const texts: string[] = []
  JSON.parse(JSON.stringify(told), (_key, value: unknown) => void (typeof value === "string" && texts.push(value)))
  for (const each of texts) assert.doesNotMatch(each, STEERING)
})
