import assert from "node:assert/strict"
import childProcess from "node:child_process"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import path from "node:path"
import test from "node:test"
import { fileURLToPath, pathToFileURL } from "node:url"
import { policyFor } from "../lib/config/policy.ts"
import { projectMessages } from "../lib/dtc/engine.ts"
import { createSandbox } from "./config/sandbox.ts"
import { LIMIT, READS } from "./cli/sessions.ts"
import { createTerminal } from "./cli/terminal.ts"
import { DEFAULT_POLICY, read as readCall, session, step, text, tokens, user } from "./helpers/history.ts"
import { withTraps } from "./helpers/traps.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const read = (file: string): string => fs.readFileSync(path.join(root, file), "utf8")

test("start, configuration, requests, compaction and tools of both hosts use nothing but the host's client", (t) => {
  const sandbox = createSandbox(t)
  const settings = '{ "debug": true, "notify": "toast", "odd": 1, "dtc": { "protectRecentSteps": 1 } }'
  sandbox.write("home/.config/opencode/dcp.jsonc", settings)
  const home = sandbox.at("home")
  const before = fs.readdirSync(home, { recursive: true })
  const { status, stdout, stderr } = childProcess.spawnSync(
    process.execPath,
    [
      "--import",
      "tsx",
      fileURLToPath(new URL("helpers/trapped-session.ts", import.meta.url)),
      sandbox.at("home/project"),
    ],
    { cwd: root, encoding: "utf8", env: { ...process.env, HOME: home, XDG_CONFIG_HOME: path.join(home, ".config") } },
  )
  assert.equal(status, 0, stderr)
  assert.deepEqual(JSON.parse(stdout), {
    called: [],
    endpoints: ["app.log", "config.providers", "session.message", "tui.showToast"],
    cleared: ["old.ts", "old.ts", "old.ts"],
    recalled: true,
    told: true,
    clearedOnTwo: true,
  })
  assert.deepEqual(fs.readdirSync(home, { recursive: true }), before)
})

test("the command line writes the page that was asked for, and nothing else", async (t) => {
  const terminal = createTerminal(t)
  const file = terminal.write("session.json", READS)
  const run = (...args: string[]) => withTraps(async () => void (await terminal.run(...args)))
  for (const args of [["--help"], ["config"], ["explain", file, "--limit", LIMIT], ["explain", file, "--json"]])
    assert.deepEqual(await run(...args), [])
  assert.deepEqual(await run("explain", file, "--limit", LIMIT, "--html", "page.html"), ["writeFile"])
})

test("the traps tell on whoever sends, listens, runs or writes", async () => {
  const attempts = [
    () => fetch("http://127.0.0.1:9"),
    () => import("node:http").then(({ request }) => request("http://127.0.0.1:9")),
    () => import("node:fs/promises").then(({ writeFile }) => writeFile("/nowhere/x", "")),
    () => import("node:fs/promises").then(({ open }) => open("/nowhere/x", "w")),
    () => import("node:fs/promises").then(({ open }) => open("/nowhere/x", fs.constants.O_RDWR)),
    () => import("node:net").then(({ createServer }) => createServer().listen(0)),
  ]
  const called = await withTraps(async () => {
    for (const attempt of attempts) await assert.rejects(async () => attempt())
  })
  assert.deepEqual(called, ["fetch", "request", "writeFile", "open", "open", "createServer"])
})

/** The command line reads files and writes a page; nothing of it is loaded by a host. */
const COMMAND_LINE_IMPORTS = [
  "node:buffer",
  "node:crypto",
  "node:fs",
  "node:fs/promises",
  "node:module",
  "node:os",
  "node:path",
  "node:util",
]
/** What the plugin's own code imports beside its own rooms. The host's modules are none of it. */
const IMPORTS = [
  "ajv",
  "image-size",
  "jsonc-parser",
  "node:async_hooks",
  "node:fs",
  "node:fs/promises",
  "node:module",
  "node:os",
  "node:path",
  "node:util",
]

/** What would make code, a pattern, a page or a message of a text, or reach a module that no import names. */
const FORBIDDEN_CODE: [what: string, pattern: RegExp][] = [
  ["code", /\beval\(|\bnew Function\b|\bFunction\(|set(?:Timeout|Interval)\(["'`]/],
  ["a pattern", /\bRegExp\(|\.(?:match|matchAll|search)\((?!\/)/],
  ["a module", /\bimport\([^"]|\brequire\(|getBuiltinModule|process\.(?:binding|dlopen|_linkedBinding)/],
  ["a module by require", /createRequire\((?!import\.meta\.url\)\("opencode-dcp\/)/],
  ["markup", /\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|srcdoc|createContextualFragment|DOMParser/],
  ["a message", /\b(?:fetch|sendBeacon)\(|\b(?:WebSocket|EventSource|XMLHttpRequest|BroadcastChannel|Worker)\b/],
]

const forbidden: string[] = [
  `eval("1")`,
  "new Function(text)",
  "new RegExp(text)",
  "text.match(pattern)",
  "import(name)",
  `require("net")`,
  `createRequire(import.meta.url)("net")`,
  `process.getBuiltinModule("net")`,
  "element.innerHTML = text",
  "fetch(url)",
  "new WebSocket(url)",
]
test("the check of the sources knows what it forbids", () => {
  for (const code of forbidden)
    assert.ok(
      FORBIDDEN_CODE.some(([, pattern]) => pattern.test(code)),
      code,
    )
  for (const code of [`text.match(/x/)`, `createRequire(import.meta.url)("opencode-dcp/package.json")`])
    assert.ok(!FORBIDDEN_CODE.some(([, pattern]) => pattern.test(code)), code)
})

test("the sources import these modules only, and nothing that could evaluate a text or make a pattern of one", () => {
  const sources = ["index.ts", ...filesUnder("lib")].map((file) => ({ file, code: read(file) }))
  const importsOf = (ofCommandLine: boolean): string[] => {
    const imports = sources
      .filter(({ file }) => file.startsWith("lib/cli/") === ofCommandLine)
      .flatMap(({ code }) => Array.from(code.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g), ([, name]) => name ?? ""))
    return [...new Set(imports.filter((name) => !name.startsWith(".")).map(packageOf))].toSorted()
  }
  assert.deepEqual(importsOf(false), IMPORTS)
  assert.deepEqual(importsOf(true), COMMAND_LINE_IMPORTS)
  for (const [what, pattern] of FORBIDDEN_CODE)
    assert.deepEqual(
      sources.filter(({ code }) => pattern.test(code)).map(({ file }) => file),
      [],
      what,
    )
})

test("sessions are projected where no code may be made of texts, whatever they hold", () => {
  const engine = pathToFileURL(path.join(root, "lib/dtc/engine.ts")).href
  const source = `
    const { projectMessages } = await import(${JSON.stringify(engine)})
    let evaluates = true
    try { new Function("1") } catch { evaluates = false }
    const code = "process.exit(9); \${process.exit(9)} $(exit 9) <script>process.exit(9)</script> "
    const info = { id: "m", sessionID: "s", role: "assistant", time: { created: 1 } }
    const state = { status: "completed", input: { filePath: code }, output: code.repeat(900), time: { start: 1, end: 2 } }
    const part = (id) => ({ id, type: "tool", tool: "read", callID: code, state })
    const messages = [{ info, parts: [part("a")] }, { info, parts: [part("b")] }]
    const policy = ${JSON.stringify({ ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0 })}
    const { cleared } = projectMessages(messages, { inputBudget: 9, policy, force: true })
    console.log(JSON.stringify([evaluates, cleared.length]))
  `
  const args = ["--disallow-code-generation-from-strings", "--import", "tsx", "--input-type=module", "--eval", source]
  const { status, stdout, stderr } = childProcess.spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" })
  assert.equal(status, 0, stderr)
  assert.deepEqual(JSON.parse(stdout), [false, 1])
})

test("texts that hold up patterns do not hold up a request", () => {
  for (const hostile of [
    "a".repeat(200_000),
    "/".repeat(200_000),
    "\\".repeat(200_000),
    "a-".repeat(100_000),
    " \n".repeat(100_000),
  ]) {
    const file = {
      type: "file",
      mime: `image/${hostile}`,
      url: `data:image/png;${hostile},${hostile}`,
      filename: hostile,
    }
    const picture = { ...file, mime: "image/png" }
    const document = { type: "file", mime: "application/pdf", url: `data:application/pdf;base64,${hostile}` }
    const messages = session(
      user(hostile, {}, file, picture, document),
      step(
        text(hostile),
        readCall(hostile, hostile, { attachments: [picture] }),
        readCall(`${hostile}AGENTS.md`, hostile),
      ),
      step(readCall("a.ts", tokens(900))),
    )
    const model = { providerID: "lab", modelID: hostile, npm: "@ai-sdk/amazon-bedrock", apiID: hostile }
    const startedMs = performance.now()
    projectMessages(messages, {
      inputBudget: 9,
      model,
      policy: { ...DEFAULT_POLICY, estimateMedia: true },
      force: true,
    })
    assert.ok(performance.now() - startedMs < 2_000)
  }
})

test("no key of a configuration reaches a prototype, and no model's name finds anything there", async (t) => {
  const sandbox = createSandbox(t)
  const entry = '{ "limit": { "context": 9, "output": 1 }, "targetRatio": 0.1 }'
  const models = ["__proto__/x", "constructor/prototype", "a/__proto__", "__proto__", "constructor", "toString"]
  sandbox.write(
    "home/.config/opencode/dcp.jsonc",
    `{ "models": { ${models.map((key) => `"${key}": ${entry}`).join(", ")} } }`,
  )
  sandbox.write("home/project/.opencode/dcp.jsonc", `{ "__proto__": { "models": { "*/*": ${entry} } } }`)
  const { config } = await sandbox.load({
    options: JSON.parse(`{ "__proto__": { "dtc": { "targetRatio": 0.1 } } }`) as object,
  })
  assert.equal("limit" in {}, false)
  assert.equal("dtc" in {}, false)
  assert.equal(Object.getPrototypeOf(config.models), Object.prototype)
  assert.deepEqual(Object.keys(config.models), models.slice(0, 3))
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"])
    for (const model of [
      { providerID: name, modelID: name },
      { providerID: "b", modelID: name },
      { providerID: name, modelID: "" },
    ])
      assert.deepEqual(policyFor(config, model), {
        policy: policyFor(config, { providerID: "b", modelID: "b" }).policy,
      })
  assert.equal(policyFor(config, { providerID: "a", modelID: "__proto__" }).policy.targetRatio, 0.1)
})

test("a configuration names no other file to read: only the layers' own files are read", async (t) => {
  const sandbox = createSandbox(t)
  const secret = sandbox.write("secret.json", { debug: true })
  const layer = { $schema: secret, extends: secret, include: [secret], models: { [`../${secret}`]: {} }, debug: false }
  const files = ["home/.config/opencode/dcp.jsonc", "home/project/.opencode/dcp.jsonc"].map((file) =>
    sandbox.write(file, layer),
  )
  const [opened, looked] = [new Set<string>(), new Set<string>()]
  for (const name of ["readFile", "open", "stat", "lstat"] as const) {
    const original = fs.promises[name] as (file: string, ...rest: unknown[]) => Promise<unknown>
    t.mock.method(fs.promises, name, (file: string, ...rest: unknown[]) => {
      const touched = name === "readFile" || name === "open" ? opened : looked
      touched.add(file)
      return original(file, ...rest)
    })
  }
  syncBuiltinESMExports()
  t.after(syncBuiltinESMExports)
  const { config } = await sandbox.load({ directory: sandbox.at("home/project/../project/./"), options: layer })
  t.mock.restoreAll()
  syncBuiltinESMExports()
  assert.equal(config.debug, false)
  assert.deepEqual([...opened].toSorted(), files.toSorted())
  const besides = files.map((file) => file.replace(/c$/, ""))
  assert.deepEqual([...looked].toSorted(), [...files, ...besides].toSorted(), "whether one hides another")
})

const loops: [title: string, make: (at: (relative: string) => string) => void][] = [
  ["an .opencode that is a link to itself", (at) => fs.symlinkSync(".opencode", at("home/project/.opencode"))],
  ["an .opencode that is a link to its project", (at) => fs.symlinkSync(".", at("home/project/.opencode"))],
  [
    "two directories that are links to each other",
    (at) => {
      fs.symlinkSync("b", at("home/project/a"))
      fs.symlinkSync("a", at("home/project/b"))
      fs.symlinkSync("a", at("home/project/.opencode"))
    },
  ],
  [
    "two files that are links to each other",
    (at) => {
      fs.mkdirSync(at("home/project/.opencode"))
      fs.symlinkSync("dcp.json", at("home/project/.opencode/dcp.jsonc"))
      fs.symlinkSync("dcp.jsonc", at("home/project/.opencode/dcp.json"))
    },
  ],
  [
    "a file that is a link to a device without end",
    (at) => {
      fs.mkdirSync(at("home/project/.opencode"))
      fs.symlinkSync("/dev/zero", at("home/project/.opencode/dcp.jsonc"))
    },
  ],
]
for (const [title, make] of loops)
  test(`${title} does not hold up the start, and the other layers count`, { timeout: 10_000 }, async (t) => {
    const sandbox = createSandbox(t)
    sandbox.write("home/.config/opencode/dcp.jsonc", { debug: true })
    make(sandbox.at)
    const { config, diagnostics } = await sandbox.load()
    assert.equal(config.debug, true)
    for (const { kind } of diagnostics) assert.equal(kind, "unreadable")
  })

test("a directory below a link into itself ends the walk like any other", { timeout: 10_000 }, async (t) => {
  const sandbox = createSandbox(t)
  fs.symlinkSync(".", sandbox.at("home/project/again"))
  sandbox.write("home/project/.opencode/dcp.jsonc", { debug: true })
  const { config, layers } = await sandbox.load({ directory: sandbox.at(`home/project/${"again/".repeat(20)}`) })
  assert.equal(config.debug, true)
  assert.equal(layers.length, 1)
})

test("the dependencies and what they bring along are those of the decision record, which says of each what it is for", () => {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(read("package.json"))
  const record = read("docs/decisions/2026-11-30-dependencies.md")
  const rows = Array.from(record.matchAll(/^\| `([^`]+)` *\| (.+?) *\|$/gm), ([, name = "", purpose = ""]) => ({
    name,
    purpose,
  }))
  const named = (isBrought: boolean) =>
    rows.filter(({ purpose }) => purpose.startsWith("comes with") === isBrought).map(({ name }) => name)
  assert.deepEqual(named(false), Object.keys(manifest.dependencies).toSorted())
  const lock: { packages: Record<string, { inBundle?: boolean; hasInstallScript?: boolean }> } = JSON.parse(
    read("package-lock.json"),
  )
  const bundled = Object.entries(lock.packages).filter(([, { inBundle }]) => inBundle)
  assert.deepEqual(
    bundled.map(([name]) => name.replace("node_modules/", "")).toSorted(),
    [...named(false), ...named(true)].toSorted(),
  )
  assert.deepEqual(
    bundled.filter(([, { hasInstallScript }]) => hasInstallScript),
    [],
  )
})

function packageOf(specifier: string): string {
  const [scope = "", name = ""] = specifier.split("/")
  if (specifier.startsWith("node:")) return specifier
  return scope.startsWith("@") ? `${scope}/${name}` : scope
}

function filesUnder(folder: string): string[] {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesUnder(file) : [file]
  })
}
