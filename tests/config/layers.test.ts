import assert from "node:assert/strict"
import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from "node:fs"
import path from "node:path"
import { test } from "node:test"
import { OPTIONS_FILE } from "../../lib/config/load.ts"
import { placesOf } from "../../lib/config/places.ts"
import { createSandbox, marked } from "./sandbox.ts"

const GLOBAL = "home/.config/opencode/dcp.jsonc"
const PROJECT = "home/project/.opencode/dcp.jsonc"

test("without any layer every key has the schema's default", async (t) => {
  const { config, layers, diagnostics, origins } = await createSandbox(t).load()
  assert.deepEqual(config, {
    enabled: true,
    debug: false,
    dtc: {
      enabled: true,
      protectRecentSteps: 4,
      protectRecentTokens: 16000,
      targetRatio: 0.7,
      minimumSavingsTokens: 512,
      protectedTools: [],
      stablePrefix: true,
      clearAtLeastRatio: 0.3,
      estimateMedia: true,
      calibrate: true,
    },
    tool: { enabled: true, recall: true },
    notify: "off",
    models: {},
  })
  assert.deepEqual({ layers, diagnostics }, { layers: [], diagnostics: [] })
  assert.ok(origins.every((origin) => origin.file === undefined))
  assert.deepEqual(origins.slice(-2), [
    { key: "notify", value: "off" },
    { key: "models", value: {} },
  ])
})

test("the layers win in order: global, config directory, project, options", async (t) => {
  const sandbox = createSandbox(t)
  const env = { OPENCODE_CONFIG_DIR: sandbox.at("custom") }
  const steps = async (options?: unknown) => (await sandbox.load({ env, options })).config.dtc.protectRecentSteps

  sandbox.write(GLOBAL, marked(11))
  assert.equal(await steps(), 11)
  sandbox.write("custom/dcp.jsonc", marked(12))
  assert.equal(await steps(), 12)
  sandbox.write(PROJECT, marked(13))
  assert.equal(await steps(), 13)
  assert.equal(await steps(marked(14)), 14)

  const { layers } = await sandbox.load({ env, options: {} })
  assert.deepEqual(layers, [
    { source: "global", file: sandbox.at(GLOBAL), used: true },
    { source: "config-dir", file: sandbox.at("custom/dcp.jsonc"), used: true },
    { source: "project", file: sandbox.at(PROJECT), used: true },
    { source: "options", file: OPTIONS_FILE, used: true },
  ])
})

test("layers merge key by key and lists replace", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(GLOBAL, { debug: true, dtc: { protectedTools: ["read", "grep"], targetRatio: 0.5 } })
  sandbox.write(PROJECT, { dtc: { protectedTools: ["bash"] }, tool: { enabled: false } })
  const { config } = await sandbox.load({ options: { enabled: false } })
  assert.equal(config.debug, true)
  assert.equal(config.enabled, false)
  assert.deepEqual(config.tool, { enabled: false, recall: true })
  assert.equal(config.dtc.targetRatio, 0.5)
  assert.equal(config.dtc.enabled, true)
  assert.deepEqual(config.dtc.protectedTools, ["bash"])
})

test("origins name the layer and the line of every effective key", async (t) => {
  const sandbox = createSandbox(t)
  const file = sandbox.write(
    PROJECT,
    '{\n  "dtc": {\n    "targetRatio": 0.5,\n    "protectRecentSteps": 2 },\n  "models": { "acme/m-1.5": {\n    "targetRatio": 0.3 } }\n}',
  )
  const { origins } = await sandbox.load({ options: { dtc: { protectRecentSteps: 3 } } })
  assert.deepEqual(origins, [
    { key: "enabled", value: true },
    { key: "debug", value: false },
    { key: "dtc.enabled", value: true },
    { key: "dtc.protectRecentSteps", value: 3, file: OPTIONS_FILE },
    { key: "dtc.protectRecentTokens", value: 16000 },
    { key: "dtc.targetRatio", value: 0.5, file, line: 3, column: 5 },
    { key: "dtc.minimumSavingsTokens", value: 512 },
    { key: "dtc.protectedTools", value: [] },
    { key: "dtc.stablePrefix", value: true },
    { key: "dtc.clearAtLeastRatio", value: 0.3 },
    { key: "dtc.estimateMedia", value: true },
    { key: "dtc.calibrate", value: true },
    { key: "tool.enabled", value: true },
    { key: "tool.recall", value: true },
    { key: "notify", value: "off" },
    { key: 'models["acme/m-1.5"].targetRatio', value: 0.3, file, line: 6, column: 5 },
  ])
})

const globalPlaces: { title: string; env: Record<string, string>; expected: string }[] = [
  { title: "no variable", env: {}, expected: "/home/me/.config/opencode" },
  { title: "an empty variable", env: { XDG_CONFIG_HOME: "" }, expected: "/home/me/.config/opencode" },
  { title: "a relative variable", env: { XDG_CONFIG_HOME: "conf" }, expected: "/home/me/.config/opencode" },
  { title: "an absolute variable", env: { XDG_CONFIG_HOME: "/xdg" }, expected: "/xdg/opencode" },
]
for (const { title, env, expected } of globalPlaces)
  test(`the global directory with ${title} is ${expected}`, () => {
    const [global] = placesOf({ directory: "/p", env, home: "/home/me" }, path.posix)
    assert.deepEqual(global, { source: "global", directories: [expected] })
  })

test("XDG_CONFIG_HOME takes the place of ~/.config on disk too", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(GLOBAL, marked(11))
  sandbox.write("xdg/opencode/dcp.jsonc", marked(12))
  const { config } = await sandbox.load({ env: { XDG_CONFIG_HOME: sandbox.at("xdg") } })
  assert.equal(config.dtc.protectRecentSteps, 12)
})

const directoriesOf = (directory: string, home: string, custom: string) =>
  placesOf({ directory, home, env: { OPENCODE_CONFIG_DIR: custom } }, path.posix).map((place) => place.directories)

test("a missing home and relative directories name no place; a relative config directory lies in the project", () => {
  assert.deepEqual(directoriesOf("p", "", ""), [[], [], []])
  assert.deepEqual(directoriesOf("p", "me", "conf"), [[], [], []])
  assert.deepEqual(directoriesOf("/p", "", "conf"), [[], ["/p/conf"], ["/p/.opencode", "/.opencode"]])
  assert.deepEqual(directoriesOf("/p/../q/", "", "/c")[2], ["/q/.opencode", "/.opencode"])
})

const windowsDirectories: [directory: string, ancestors: string[]][] = [
  ["C:\\Users\\me\\p", ["C:\\Users\\me\\p", "C:\\Users\\me", "C:\\Users", "C:\\"]],
  ["C:/Users/me", ["C:\\Users\\me", "C:\\Users", "C:\\"]],
  ["\\\\server\\share\\p", ["\\\\server\\share\\p", "\\\\server\\share\\"]],
]
for (const [directory, ancestors] of windowsDirectories)
  test(`the walk from ${directory} ends at its root`, () => {
    const project = placesOf({ directory, env: {}, home: "C:\\Users\\me" }, path.win32)[2]
    assert.deepEqual(
      project?.directories,
      ancestors.map((each) => path.win32.join(each, ".opencode")),
    )
  })

test("a Windows directory on another system finds no project and harms nothing", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(GLOBAL, marked(11))
  const { config, diagnostics } = await sandbox.load({ directory: "C:\\Users\\me\\p" })
  assert.equal(config.dtc.protectRecentSteps, 11)
  assert.deepEqual(diagnostics, [])
})

test("the nearest ancestor with a DCP file is the project, alone", async (t) => {
  const sandbox = createSandbox(t)
  const directory = sandbox.at("home/project/packages/app")
  mkdirSync(directory, { recursive: true })
  const load = async () => (await sandbox.load({ directory })).config

  sandbox.write("home/.opencode/dcp.jsonc", { debug: true, ...marked(11) })
  assert.equal((await load()).dtc.protectRecentSteps, 11)
  sandbox.write(PROJECT, marked(12))
  assert.equal((await load()).dtc.protectRecentSteps, 12)
  assert.equal((await load()).debug, false)
})

const passedOver: [title: string, make: (at: (relative: string) => string) => void][] = [
  ["without a DCP file", (at) => mkdirSync(at("home/project/.opencode/plugin"), { recursive: true })],
  ["that is a link to nothing", (at) => symlinkSync("nowhere", at("home/project/.opencode"))],
  ["that is a link to itself", (at) => symlinkSync(".opencode", at("home/project/.opencode"))],
]
for (const [title, make] of passedOver)
  test(`an .opencode ${title} does not stop the walk`, async (t) => {
    const sandbox = createSandbox(t)
    make(sandbox.at)
    sandbox.write("home/.opencode/dcp.jsonc", marked(11))
    const { config, diagnostics } = await sandbox.load()
    assert.equal(config.dtc.protectRecentSteps, 11)
    assert.deepEqual(diagnostics, [])
  })

test("an .opencode that is a file does not stop the walk", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write("home/project/.opencode", "no directory")
  sandbox.write("home/.opencode/dcp.jsonc", marked(11))
  const { config, diagnostics } = await sandbox.load()
  assert.equal(config.dtc.protectRecentSteps, 11)
  assert.deepEqual(diagnostics, [])
})

for (const directory of ["home/.config/opencode", "custom", "home/project/.opencode"])
  test(`in ${directory} dcp.json counts only where there is no dcp.jsonc, broken or not`, async (t) => {
    const sandbox = createSandbox(t)
    const load = () => sandbox.load({ env: { OPENCODE_CONFIG_DIR: sandbox.at("custom") } })
    sandbox.write(`${directory}/dcp.json`, marked(11))
    assert.equal((await load()).config.dtc.protectRecentSteps, 11)

    sandbox.write(`${directory}/dcp.jsonc`, marked(12))
    assert.equal((await load()).config.dtc.protectRecentSteps, 12)

    sandbox.write(`${directory}/dcp.jsonc`, "{ broken")
    const { config, layers } = await load()
    assert.equal(config.dtc.protectRecentSteps, 4)
    assert.deepEqual(
      layers.map(({ file, used }) => ({ file, used })),
      [{ file: sandbox.at(`${directory}/dcp.jsonc`), used: false }],
    )
  })

test("a broken project file does not give way to a farther one", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write("home/.opencode/dcp.jsonc", marked(11))
  sandbox.write(PROJECT, "[]")
  assert.equal((await sandbox.load()).config.dtc.protectRecentSteps, 4)
})

test("linked directories are followed", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write("shared/opencode/dcp.jsonc", marked(11))
  symlinkSync(sandbox.at("shared"), sandbox.at("home/.config"))
  assert.equal((await sandbox.load()).config.dtc.protectRecentSteps, 11)
  sandbox.write("elsewhere/dcp.jsonc", marked(12))
  symlinkSync(sandbox.at("elsewhere"), sandbox.at("home/project/.opencode"))
  assert.equal((await sandbox.load()).config.dtc.protectRecentSteps, 12)
})

test("a directory reached twice is read once, as the later layer", async (t) => {
  const sandbox = createSandbox(t)
  const file = sandbox.write(GLOBAL, { ...marked(11), wrong: 1 })
  symlinkSync(sandbox.at("home/.config/opencode"), sandbox.at("link"))

  const asConfigDirectory = await sandbox.load({ env: { OPENCODE_CONFIG_DIR: path.dirname(file) } })
  assert.deepEqual(asConfigDirectory.layers, [{ source: "config-dir", file, used: true }])
  assert.equal(asConfigDirectory.diagnostics.length, 1)

  sandbox.write("custom/dcp.jsonc", marked(12))
  symlinkSync(sandbox.at("home/.config/opencode"), sandbox.at("home/project/.opencode"))
  const asProject = await sandbox.load({ env: { OPENCODE_CONFIG_DIR: sandbox.at("custom") } })
  assert.deepEqual(
    asProject.layers.map((layer) => layer.source),
    ["config-dir", "project"],
  )
  assert.equal(asProject.config.dtc.protectRecentSteps, 11)
})

test("files keep their bytes and times, and nothing is created", async (t) => {
  const sandbox = createSandbox(t)
  const files = [sandbox.write(GLOBAL, '\uFEFF{ "debug": true, } // kept\r\n'), sandbox.write(PROJECT, "{ broken")]
  const snapshot = () => ({
    contents: files.map((file) => ({ bytes: readFileSync(file), mtimeMs: statSync(file).mtimeMs })),
    names: new Set(readdirSync(sandbox.at("."), { recursive: true, encoding: "utf8" })),
  })
  const before = snapshot()
  await sandbox.load({ env: { OPENCODE_CONFIG_DIR: sandbox.at("absent") } })
  assert.deepEqual(snapshot(), before)
})

test("a configuration is frozen in depth and shares nothing with the next", async (t) => {
  const sandbox = createSandbox(t)
  const options = { dtc: { protectedTools: ["bash"] }, models: { "a/b": { limit: { context: 2, output: 1 } } } }
  const { config } = await sandbox.load({ options })
  const limit = config.models["a/b"]?.limit ?? {}
  for (const part of [config, config.dtc, config.dtc.protectedTools, config.models, config.models["a/b"], limit])
    assert.ok(Object.isFrozen(part))
  assert.equal(Object.isFrozen(options.dtc.protectedTools), false)

  const other = await sandbox.load()
  assert.notEqual(other.config.dtc.protectedTools, (await sandbox.load()).config.dtc.protectedTools)
})
