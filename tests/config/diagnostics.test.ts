import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import fs, { appendFileSync, chmodSync, mkdirSync, symlinkSync, type PathLike } from "node:fs"
import type { FileHandle } from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { test, type TestContext } from "node:test"
import { LARGEST_FILE_BYTES } from "../../lib/config/disk.ts"
import { describeExpected, type SchemaNode } from "../../lib/config/expected.ts"
import { OPTIONS_FILE } from "../../lib/config/load.ts"
import { loadValidate } from "../../lib/config/schema.ts"
import { describeDiagnostic } from "../../lib/config/problems.ts"
import { RETIRED_OPTIONS } from "../../lib/config/retired.ts"
import { createSandbox, marked, type Sandbox } from "./sandbox.ts"

const GLOBAL = "home/.config/opencode/dcp.jsonc"
const PROJECT = "home/project/.opencode/dcp.jsonc"
/** Node makes no named pipes; every POSIX system has this command. */
const MAKE_PIPE = "mkfifo"

test("comments, trailing commas, a byte order mark and CRLF are fine", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(PROJECT, '\uFEFF// first\r\n{\r\n  /* second */ "dtc": { "protectRecentSteps": 9, },\r\n}\r\n')
  const { config, diagnostics } = await sandbox.load()
  assert.equal(config.dtc.protectRecentSteps, 9)
  assert.deepEqual(diagnostics, [])
})

test("$schema is fine and sets nothing", async (t) => {
  const { config, diagnostics, origins } = await createSandbox(t).load({ options: { $schema: "dcp.schema.json" } })
  assert.deepEqual(Object.keys(config), ["enabled", "debug", "dtc", "tool", "notify", "models"])
  assert.deepEqual(diagnostics, [])
  assert.ok(origins.every((origin) => origin.file === undefined))
})

test("a typo is named with file, line, column, key and what was expected", async (t) => {
  const sandbox = createSandbox(t)
  const file = sandbox.write(PROJECT, '{\r\n  // comment\r\n  "dtc": {\r\n    "targetRatoi": 0.5\r\n  }\r\n}')
  const { config, diagnostics } = await sandbox.load()
  assert.equal(config.dtc.targetRatio, 0.7)
  assert.deepEqual(diagnostics, [
    {
      kind: "unknown-key",
      file,
      line: 4,
      column: 5,
      key: "dtc.targetRatoi",
      message: "unknown key, did you mean targetRatio?",
      expected: "targetRatio",
    },
  ])
  const [line] = diagnostics.map(describeDiagnostic)
  assert.equal(line, `${file}:4:5 dtc.targetRatoi: unknown key, did you mean targetRatio?`)
})

/** Layer, and its diagnostics as `line:column key: message`. */
const cases: [layer: string, diagnostics: string[]][] = [
  ['{ "enabled": "yes" }', ["1:3 enabled: expected true or false"]],
  ['{ "$schema": 5 }', ["1:3 $schema: expected a text"]],
  ['{ "dtc": 5 }', ["1:3 dtc: expected an object"]],
  ['{ "dtc": [] }', ["1:3 dtc: expected an object"]],
  ['{ "dtc": { "protectRecentSteps": 0 } }', ["1:12 dtc.protectRecentSteps: expected an integer from 1"]],
  ['{ "dtc": { "protectRecentSteps": 0.5 } }', ["1:12 dtc.protectRecentSteps: expected an integer from 1"]],
  ['{ "dtc": { "protectRecentSteps": 1e300 } }', ["1:12 dtc.protectRecentSteps: expected an integer from 1"]],
  ['{ "dtc": { "protectRecentSteps": 1e999 } }', ["1:12 dtc.protectRecentSteps: expected an integer from 1"]],
  ['{ "dtc": { "protectRecentTokens": -1 } }', ["1:12 dtc.protectRecentTokens: expected an integer from 0"]],
  ['{ "dtc": { "minimumSavingsTokens": null } }', ["1:12 dtc.minimumSavingsTokens: expected an integer from 1"]],
  ['{ "dtc": { "targetRatio": 0 } }', ["1:12 dtc.targetRatio: expected a number above 0 up to 1"]],
  ['{ "dtc": { "targetRatio": 1.01 } }', ["1:12 dtc.targetRatio: expected a number above 0 up to 1"]],
  ['{ "dtc": { "protectedTools": "bash" } }', ["1:12 dtc.protectedTools: expected a list of texts"]],
  ['{ "dtc": {\n "protectedTools": ["a",\n 3] } }', ["3:2 dtc.protectedTools[1]: expected a text"]],
  ['{ "dtc": { "protectedTools": [{}] } }', ["1:12 dtc.protectedTools[0]: expected a text"]],
  ['{ "models": { "m": {} } }', ["1:15 models.m: unknown key, expected provider/model, provider/* or */*"]],
  ['{ "models": { "*/m": {} } }', ['1:15 models["*/m"]: unknown key, expected provider/model, provider/* or */*']],
  ['{ "models": { "a/b*": {} } }', ['1:15 models["a/b*"]: unknown key, expected provider/model, provider/* or */*']],
  ['{ "models": { "a/b": 1 } }', ['1:15 models["a/b"]: expected an object']],
  [
    '{ "models": { "a/b": { "limit": { "output": 1 } } } }',
    ['1:24 models["a/b"].limit: expected an object with context and output'],
  ],
  [
    '{ "models": { "a/b": { "limit": { "output": 1, "context": 0 } } } }',
    ['1:48 models["a/b"].limit.context: expected an integer from 1'],
  ],
  [
    '{ "models": { "a/b": { "enabled": true } } }',
    [
      '1:24 models["a/b"].enabled: unknown key, expected one of ' +
        "protectRecentSteps, protectRecentTokens, targetRatio, minimumSavingsTokens, protectedTools, stablePrefix, clearAtLeastRatio, estimateMedia, calibrate, limit",
    ],
  ],
  ['{ "Enabled": false }', ["1:3 Enabled: unknown key, did you mean enabled?"]],
  ['{ "dtc.targetRatio": 1 }', ['1:3 ["dtc.targetRatio"]: unknown key, did you mean "targetRatio" inside "dtc"?']],
  [
    '{ "dtc.target": 1 }',
    ['1:3 ["dtc.target"]: unknown key, expected one of $schema, enabled, debug, dtc, tool, notify, models'],
  ],
  ['{ "targetRatio": 1 }', ["1:3 targetRatio: unknown key, did you mean dtc.targetRatio?"]],
  [
    '{ "constructor": 1 }',
    ["1:3 constructor: unknown key, expected one of $schema, enabled, debug, dtc, tool, notify, models"],
  ],
  ['{ "a b": 1 }', ['1:3 ["a b"]: unknown key, expected one of $schema, enabled, debug, dtc, tool, notify, models']],
  ['{ "dtc": { "tailTurns": 2 } }', ["1:12 dtc.tailTurns: this option does nothing here: use dtc.protectRecentSteps"]],
  [
    '{ "debug": 1,\n\n "debug": 2 }',
    ["3:2 debug: expected true or false", "3:2 debug: duplicate key, it replaces the one in line 1"],
  ],
  [
    '{ "x": [[[[[1]]]], { "y": { "z": { "deep": { "deeper": [1] } } } }],\n "debug": 3 }',
    [
      "1:3 x: unknown key, expected one of $schema, enabled, debug, dtc, tool, notify, models",
      "2:2 debug: expected true or false",
    ],
  ],
  ['{ "tol": 1,\n "enabled": 3 }', ["1:3 tol: unknown key, did you mean tool?", "2:2 enabled: expected true or false"]],
  ['{ "enabled": 3,\n "tol": 1 }', ["1:3 enabled: expected true or false", "2:2 tol: unknown key, did you mean tool?"]],
  ["", ["1:1: does not parse, expected a value"]],
  ['{ "debug": true', ["1:16: does not parse, expected a closing }"]],
  ['{\r\n "debug": true\r\n "enabled": true }', ["3:2: does not parse, expected a comma"]],
  [
    "{ debug: true }",
    ["1:3: does not parse, expected a value: true, false, null, a number, a text in double quotes, [ or {"],
  ],
  ['{ "debug": "x }', ["1:12: does not parse, expected a closing double quote"]],
  ["{} {}", ["1:4: does not parse, expected the end of the file"]],
  ["{ /*", ["1:3: does not parse, expected the end of the comment"]],
  ["[]", ["1:1: array, expected an object"]],
  ["// first\r\n  [1, 2] // last", ["2:3: array, expected an object"]],
  ["\n\nnull", ["3:1: null, expected an object"]],
  ["1", ["1:1: number, expected an object"]],
  ['"text"', ["1:1: string, expected an object"]],
]
for (const [layer, expected] of cases)
  test(`the layer ${JSON.stringify(layer)} is answered with ${JSON.stringify(expected)}`, async (t) => {
    const sandbox = createSandbox(t)
    const file = sandbox.write(PROJECT, layer)
    const { diagnostics, config } = await sandbox.load()
    const lines = diagnostics.map(describeDiagnostic)
    assert.deepEqual(
      lines,
      expected.map((line) => `${file}:${line}`),
    )
    assert.deepEqual(config, (await sandbox.load({ directory: sandbox.at("home") })).config, "nothing of it counts")
  })

/** Layer, its duplicates as `line:column key: line before`, and what counts in the end. */
const duplicates: [layer: string, duplicates: string[], counts: object][] = [
  ['{ "debug": true,\n "debug": false }', ["2:2 debug: 1"], { debug: false }],
  ['{ "debug": false, "debug": true }', ["1:19 debug: 1"], { debug: true }],
  ['{ "debug": 1,\n "debug": 2,\n "debug": true }', ["2:2 debug: 1", "3:2 debug: 2"], { debug: true }],
  [
    '{ "dtc": { "targetRatio": 0.1,\n "targetRatio": 0.2 } }',
    ["2:2 dtc.targetRatio: 1"],
    { dtc: { targetRatio: 0.2 } },
  ],
  [
    '{ "dtc": { "targetRatio": 0.1, "protectRecentSteps": 9 },\n "dtc": { "targetRatio": 0.2 } }',
    ["2:2 dtc: 1"],
    { dtc: { targetRatio: 0.2, protectRecentSteps: 4 } },
  ],
  [
    '{ "models": { "a/b": { "targetRatio": 0.1 },\n "c/d": {},\n "a/b": { "calibrate": false } } }',
    ['3:2 models["a/b"]: 1'],
    { models: { "a/b": { calibrate: false } } },
  ],
  [
    '{ "models": { "a/b": { "limit": { "context": 9, "output": 1,\n "context": 8 } } } }',
    ['2:2 models["a/b"].limit.context: 1'],
    { models: { "a/b": { limit: { context: 8, output: 1 } } } },
  ],
  ['{ "tool": { "enabled": true }, "enabled": true, "dtc": { "enabled": true } }', [], { enabled: true }],
  ['{ "dtc": {},\n "\\u0064tc": { "targetRatio": 0.2 } }', ["2:2 dtc: 1"], { dtc: { targetRatio: 0.2 } }],
]
for (const [layer, expected, counts] of duplicates)
  test(`of a key that stands twice the last counts, and the file's line is told: ${layer}`, async (t) => {
    const sandbox = createSandbox(t)
    const file = sandbox.write(PROJECT, layer)
    const { config, diagnostics } = await sandbox.load()
    assert.deepEqual(
      diagnostics.map(describeDiagnostic),
      expected.map((line) => `${file}:${line.replace(": ", ": duplicate key, it replaces the one in line ")}`),
    )
    assert.ok(diagnostics.every(({ kind }) => kind === "duplicate-key"))
    assert.deepEqual(pick(config, counts), counts)
  })

/** The part of a value that has another's keys. */
function pick(value: unknown, keys: unknown): unknown {
  if (typeof keys !== "object" || keys === null) return value
  return Object.fromEntries(
    Object.entries(keys).map(([key, inner]) => [key, pick(Reflect.get(Object(value), key), inner)]),
  )
}

test("duplicates beside other mistakes are bounded with them, and all are counted", async (t) => {
  const sandbox = createSandbox(t)
  const file = sandbox.write(PROJECT, `{ "x": 1,\n${'"debug": true,\n'.repeat(50_000)} }`)
  const { config, diagnostics } = await sandbox.load()
  assert.equal(config.debug, true)
  assert.equal(diagnostics.length, 101)
  assert.deepEqual(diagnostics.at(-1), { kind: "too-many-problems", file, message: "49900 further problems" })
  assert.deepEqual(diagnostics[0]?.kind, "unknown-key")
})

test("an invalid field keeps the lower layer's value and its siblings count", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(GLOBAL, { dtc: { targetRatio: 0.5, protectedTools: ["grep"] } })
  sandbox.write(PROJECT, {
    unknown: 1,
    compress: { debug: true },
    dtc: { targetRatio: 2, protectedTools: ["a", 1], protectRecentSteps: 9, mergeRuns: true },
    models: { bad: { targetRatio: 0.1 }, "a/b": { targetRatio: 0.2, protectRecentSteps: "x" } },
  })
  const { config, diagnostics } = await sandbox.load()
  assert.equal(config.dtc.targetRatio, 0.5)
  assert.deepEqual(config.dtc.protectedTools, ["grep"])
  assert.equal(config.dtc.protectRecentSteps, 9)
  assert.deepEqual(config.models, { "a/b": { targetRatio: 0.2 } })
  assert.deepEqual(diagnostics.map((each) => `${each.kind} ${each.key}`).toSorted(), [
    "invalid-value dtc.protectedTools[1]",
    "invalid-value dtc.targetRatio",
    'invalid-value models["a/b"].protectRecentSteps',
    "retired-option compress",
    "retired-option dtc.mergeRuns",
    "unknown-key models.bad",
    "unknown-key unknown",
  ])
})

test("a layer that does not parse or is no object is ignored whole, the others count", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(GLOBAL, marked(11))
  for (const content of ['{ "debug": true, "dtc": { "protectRecentSteps": 12 ', '[{ "debug": true }]', "text"]) {
    sandbox.write(PROJECT, content)
    const { config, layers } = await sandbox.load({ options: { tool: { enabled: false } } })
    assert.equal(config.dtc.protectRecentSteps, 11)
    assert.equal(config.debug, false)
    assert.equal(config.tool.enabled, false)
    assert.deepEqual(
      layers.map((layer) => layer.used),
      [true, false, true],
    )
  }
})

const retired = [
  "compress",
  "strategies",
  "turnProtection",
  "commands",
  "manualMode",
  "summarize",
  "autoPrune",
  "experimental",
  "language",
  "pruneNotification",
  "pruneNotificationType",
  "protectedFilePatterns",
  "autoUpdate",
  "dtc.tailTurns",
  "dtc.lowWatermarkRatio",
  "dtc.driftThreshold",
  "dtc.toolOutputKeepChars",
  "dtc.mergeRuns",
]

test("the retired options are these", () => {
  assert.deepEqual(Object.keys(RETIRED_OPTIONS).toSorted(), retired.toSorted())
})

for (const key of retired)
  test(`the retired option ${key} is reported and does nothing`, async (t) => {
    const sandbox = createSandbox(t)
    const [section, option] = key.split(".")
    const file = sandbox.write(PROJECT, option === undefined ? { [key]: {} } : { [section ?? ""]: { [option]: 1 } })
    const { config, diagnostics } = await sandbox.load()
    const message = `this option does nothing here: ${RETIRED_OPTIONS[key]}`
    const column = option === undefined ? 2 : 9
    assert.deepEqual(diagnostics, [{ kind: "retired-option", file, line: 1, column, key, message }])
    assert.deepEqual(config, (await sandbox.load({ directory: sandbox.at("home") })).config)
  })

const unreadable: [title: string, message: RegExp, make: (sandbox: Sandbox) => void][] = [
  ["a directory", /not a regular file, expected a file$/, ({ at }) => mkdirSync(at(PROJECT))],
  ["a link to nothing", /cannot be read \(ENOENT\)/, ({ at }) => symlinkSync("nowhere", at(PROJECT))],
  ["a link to itself", /cannot be read \(ELOOP\)/, ({ at }) => symlinkSync("dcp.jsonc", at(PROJECT))],
  [
    "text in another encoding",
    /not UTF-8, expected UTF-8 text$/,
    ({ write }) => write(PROJECT, Buffer.from("{}", "utf16le").fill(0xff, 0, 1)),
  ],
  [
    "too large",
    /1048577 bytes, expected at most 1048576 bytes$/,
    ({ write }) => write(PROJECT, `{}${" ".repeat(LARGEST_FILE_BYTES - 1)}`),
  ],
  ["nested too deeply", /nested too deeply/, ({ write }) => write(PROJECT, "[".repeat(500_000))],
]
for (const [title, message, make] of unreadable)
  test(`a file that is ${title} is a diagnostic, and the rest counts`, async (t) => {
    const sandbox = createSandbox(t)
    sandbox.write(GLOBAL, marked(11))
    sandbox.write("home/project/.opencode/dcp.json", marked(12))
    make(sandbox)
    const { config, diagnostics } = await sandbox.load()
    assert.equal(config.dtc.protectRecentSteps, 11)
    assert.equal(diagnostics.length, 1)
    assert.equal(diagnostics[0]?.file, sandbox.at(PROJECT))
    assert.match(diagnostics[0]?.message ?? "", message)
  })

const NOBODY = 65_534

/** Root may read everything, so the one who loads must be somebody else. What the load itself needs is loaded before. */
async function withoutRoot<T>(load: () => Promise<T>): Promise<T> {
  await loadValidate()
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    return await load()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

const forbidden: [title: string, locked: string][] = [
  ["file", PROJECT],
  ["directory", "home/project/.opencode"],
]
for (const [title, locked] of forbidden)
  test(`a ${title} without permission is a diagnostic`, async (t) => {
    const sandbox = createSandbox(t)
    sandbox.write(GLOBAL, marked(11))
    sandbox.write(PROJECT, marked(12))
    chmodSync(sandbox.at("."), 0o755)
    chmodSync(sandbox.at(locked), 0o000)
    const { config, diagnostics } = await withoutRoot(sandbox.load)
    chmodSync(sandbox.at(locked), 0o700)
    assert.equal(config.dtc.protectRecentSteps, 11)
    assert.deepEqual(diagnostics.map(describeDiagnostic), [
      `${sandbox.at(PROJECT)}: cannot be read (EACCES), expected a readable file`,
    ])
  })

test("a file of the largest size is read", async (t) => {
  const sandbox = createSandbox(t)
  const text = '{ "debug": true }'
  sandbox.write(PROJECT, text.padEnd(LARGEST_FILE_BYTES))
  assert.equal((await sandbox.load()).config.debug, true)
})

test("a named pipe does not hold up the start", { timeout: 10_000 }, async (t) => {
  const sandbox = createSandbox(t)
  mkdirSync(sandbox.at("home/project/.opencode"))
  execFileSync(MAKE_PIPE, [sandbox.at(PROJECT)])
  const { diagnostics } = await sandbox.load()
  assert.deepEqual(
    diagnostics.map((each) => each.kind),
    ["unreadable"],
  )
})

/** What stands at the path changes right after it has been looked at. */
function changeAfterLook(t: TestContext, file: string, change: () => void): void {
  const look = fs.promises.stat
  t.mock.method(fs.promises, "stat", async (place: PathLike) => {
    const stats = await look(place)
    if (place === file) change()
    return stats
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

const changes: [title: string, change: (file: string) => void, kind: string, message: RegExp][] = [
  [
    "grows",
    (file) => appendFileSync(file, " ".repeat(LARGEST_FILE_BYTES)),
    "too-large",
    /^more than 1048576 bytes, expected at most 1048576 bytes$/,
  ],
  ["becomes a device without end", linkTo("/dev/zero"), "too-large", /^more than 1048576 bytes/],
  ["becomes a pipe that nobody writes", becomePipe, "parse-error", /expected a value$/],
  ["becomes a directory", becomeDirectory, "unreadable", /^cannot be read \(EISDIR\)/],
  ["goes away", (file) => fs.rmSync(file), "unreadable", /^cannot be read \(ENOENT\)/],
]
for (const [title, change, kind, message] of changes)
  test(`a file that ${title} while it is read is one diagnostic, in little time`, { timeout: 10_000 }, async (t) => {
    const sandbox = createSandbox(t)
    sandbox.write(GLOBAL, marked(11))
    const file = sandbox.write(PROJECT, marked(12))
    changeAfterLook(t, file, () => change(file))
    const { config, diagnostics } = await sandbox.load()
    assert.equal(config.dtc.protectRecentSteps, 11)
    assert.deepEqual(
      diagnostics.map((each) => [each.kind, each.file]),
      [[kind, file]],
    )
    assert.match(diagnostics[0]?.message ?? "", message)
  })

function linkTo(target: string): (file: string) => void {
  return (file) => {
    fs.rmSync(file)
    symlinkSync(target, file)
  }
}

function becomePipe(file: string): void {
  fs.rmSync(file)
  execFileSync(MAKE_PIPE, [file])
}

function becomeDirectory(file: string): void {
  fs.rmSync(file)
  mkdirSync(file)
}

test("a file that grows within bounds is read whole", async (t) => {
  const sandbox = createSandbox(t)
  const file = sandbox.write(PROJECT, '{ "debug": true }')
  changeAfterLook(t, file, () => appendFileSync(file, `\n// ${"grown ".repeat(100_000)}\n/* unfinished`))
  const [diagnostic] = (await sandbox.load()).diagnostics
  assert.deepEqual([diagnostic?.kind, diagnostic?.line], ["parse-error", 3])
})

/** Each handle that is opened, as a test wants it. */
function watchHandles(t: TestContext, onOpen: (handle: FileHandle) => void): void {
  const open = fs.promises.open
  t.mock.method(fs.promises, "open", async (...args: Parameters<typeof open>) => {
    const handle = await open(...args)
    onOpen(handle)
    return handle
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

test("a file that comes in small pieces, as over a network, is read whole", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(PROJECT, '{ "debug": true, "dtc": { "protectRecentSteps": 12 } }')
  let reads = 0
  watchHandles(t, (handle) => {
    const read = handle.read.bind(handle) as (...args: unknown[]) => Promise<unknown>
    const inPieces = (bytes: Uint8Array, offset: number, length: number): Promise<unknown> => {
      reads++
      return read(bytes, offset, Math.min(length, 7))
    }
    t.mock.method(handle, "read", inPieces as never)
  })
  const { config, diagnostics } = await sandbox.load()
  assert.deepEqual([config.debug, config.dtc.protectRecentSteps, diagnostics], [true, 12, []])
  assert.ok(reads > 5)
})

test("no handle stays open, whatever a file is", { timeout: 20_000 }, async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(GLOBAL, marked(11))
  mkdirSync(sandbox.at(PROJECT), { recursive: true })
  const opened: { fd: number }[] = []
  watchHandles(t, (handle) => opened.push(handle))
  changeAfterLook(t, sandbox.at(GLOBAL), () => becomeDirectory(sandbox.at(GLOBAL)))
  await sandbox.load()
  await sandbox.load({ env: { OPENCODE_CONFIG_DIR: sandbox.at("home/.config/opencode") } })
  assert.ok(opened.length > 0)
  assert.deepEqual(
    opened.filter(({ fd }) => fd !== -1),
    [],
  )
})

test("a file behind a link is read as settings, and nothing of its values is told", async (t) => {
  const sandbox = createSandbox(t)
  const secrets: [content: string, kinds: string[]][] = [
    ["root:SECRET:0:0:root:/root:/bin/sh\n", ["parse-error"]],
    ['{ "debug": "SECRET", "$schema": ["SECRET"], "models": { "a/b": "SECRET" } }', Array(3).fill("invalid-value")],
    ['["SECRET"]', ["not-an-object"]],
    ['"SECRET"', ["not-an-object"]],
    ['{ "token": "SECRET", "deep": { "token": "SECRET" } }', ["unknown-key", "unknown-key"]],
  ]
  for (const [index, [content, kinds]] of secrets.entries()) {
    const secret = sandbox.write(`secret-${index}`, content)
    const project = sandbox.at(`home/project-${index}`)
    mkdirSync(`${project}/.opencode`, { recursive: true })
    symlinkSync(`../../../secret-${index}`, `${project}/.opencode/dcp.jsonc`)
    const loaded = await sandbox.load({ directory: project })
    assert.deepEqual(
      loaded.diagnostics.map(({ kind }) => kind),
      kinds,
    )
    assert.ok(!JSON.stringify(loaded).includes("SECRET"))
    assert.deepEqual(fs.readFileSync(secret, "utf8"), content)
  }
})

test(
  "a file full of mistakes gives a page of diagnostics and a count, in little time",
  { timeout: 10_000 },
  async (t) => {
    const sandbox = createSandbox(t)
    const keys = Array.from({ length: 50_000 }, (_, index) => `"k${index}": 1`)
    sandbox.write(PROJECT, `{ ${keys.join(",\n")}, "debug": true }`)
    const { config, diagnostics } = await sandbox.load()
    assert.equal(config.debug, true)
    assert.equal(diagnostics.length, 101)
    assert.equal(diagnostics.at(-1)?.message, "49900 further problems")
  },
)

test("many models are read in little time", { timeout: 10_000 }, async (t) => {
  const sandbox = createSandbox(t)
  const models = Array.from({ length: 25_000 }, (_, index) => [`a/${index}`, { targetRatio: 0.5 }])
  sandbox.write(PROJECT, { models: Object.fromEntries(models) })
  assert.equal(Object.keys((await sandbox.load()).config.models).length, 25_000)
})

const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic
const throwing = {
  get enabled(): boolean {
    throw new Error("no")
  },
}
const oddOptions: [title: string, options: unknown][] = [
  ["null", null],
  ["a text", "x"],
  ["a list", []],
  ["a number", 1],
  ["a function", () => ({})],
  ["a symbol", Symbol("x")],
  ["a big integer", 1n],
  ["a cycle", cyclic],
  ["a throwing accessor", throwing],
]
for (const [title, options] of oddOptions)
  test(`options that are ${title} are one diagnostic`, async (t) => {
    const { config, diagnostics, layers } = await createSandbox(t).load({ options })
    assert.deepEqual(
      diagnostics.map(({ message: _message, ...diagnostic }) => diagnostic),
      [{ kind: "not-an-object", file: OPTIONS_FILE, expected: "an object" }],
      "a text that nobody wrote has no lines",
    )
    assert.deepEqual(layers, [{ source: "options", file: OPTIONS_FILE, used: false }])
    assert.equal(config.enabled, true)
  })

test("problems of the options name no line", async (t) => {
  const { diagnostics } = await createSandbox(t).load({ options: { dtc: { targetRatio: 2 } } })
  assert.deepEqual(diagnostics.map(describeDiagnostic), [
    `${OPTIONS_FILE} dtc.targetRatio: expected a number above 0 up to 1`,
  ])
})

test("keys with a meaning in JavaScript are keys like any other", async (t) => {
  const sandbox = createSandbox(t)
  const polluting = '{ "debug": true, "polluted": true }'
  sandbox.write(
    PROJECT,
    `{ "__proto__": ${polluting}, "constructor": { "prototype": ${polluting} }, "dtc": { "__proto__": { "targetRatio": 0.1 } },
       "models": { "__proto__": { "limit": {} }, "a/b": { "__proto__": { "targetRatio": 0.1 }, "limit": { "context": 9, "output": 1, "__proto__": { "input": 5 } } } } }`,
  )
  const { config, diagnostics } = await sandbox.load()
  assert.equal("polluted" in {}, false)
  assert.equal(config.debug, false)
  assert.equal(config.dtc.targetRatio, 0.7)
  assert.deepEqual(config.models, { "a/b": { limit: { context: 9, output: 1 } } })
  assert.equal(Object.getPrototypeOf(config.models["a/b"]), Object.prototype)
  assert.deepEqual(
    diagnostics.map((each) => each.key),
    [
      "__proto__",
      "constructor",
      "dtc.__proto__",
      "models.__proto__",
      'models["a/b"].__proto__',
      'models["a/b"].limit.__proto__',
    ],
  )
})

test("a very long key is shortened", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(PROJECT, { ["x".repeat(5000)]: 1 })
  const [diagnostic] = (await sandbox.load()).diagnostics
  assert.equal(diagnostic?.key, `${"x".repeat(80)}…`)
})

const words: [node: SchemaNode, expected: string][] = [
  [{ type: "string", enum: ["off", "toast"] }, '"off" or "toast"'],
  [{ type: "integer" }, "an integer"],
  [{ type: "number", minimum: 0, maximum: 5 }, "a number from 0 up to 5"],
  [{ type: "number", minimum: 0, exclusiveMaximum: 1 }, "a number from 0 below 1"],
  [{ type: "array" }, "a list"],
  [{}, "another value"],
]
for (const [node, expected] of words)
  test(`the words for ${JSON.stringify(node)} are ${expected}`, () => {
    assert.equal(describeExpected(node), expected)
  })
