import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import test from "node:test"
import { createTerminal } from "./terminal.ts"

test("config shows each value with the place that set it", async (t) => {
  const terminal = createTerminal(t)
  const global = terminal.write(".config/opencode/dcp.jsonc", '{ "debug": true, "dtc": { "targetRatio": 0.5 } }')
  const project = terminal.write("project/.opencode/dcp.jsonc", '{\n  "dtc": { "targetRatio": 0.4 }\n}')
  const { code, out, err } = await terminal.run("config")
  assert.deepEqual({ code, err }, { code: 0, err: "" })
  const rows = out.split("\n").map((line) => line.split(/ {2,}/))
  const rowOf = (key: string) => rows.find(([first]) => first === key)
  assert.deepEqual(rowOf("enabled"), ["enabled", "true", "default"])
  assert.deepEqual(rowOf("debug"), ["debug", "true", `${global}:1:3`])
  assert.deepEqual(rowOf("dtc.targetRatio"), ["dtc.targetRatio", "0.4", `${project}:2:12`])
  assert.deepEqual(rowOf("notify"), ["notify", '"off"', "default"])
  assert.ok(out.startsWith(`Configuration in ${terminal.at("project")}\n`))
  assert.ok(out.includes(`Layers, later ones win:\n  global: ${global}\n  project: ${project}\n`))
})

test("without any file the rows are the README's table of settings", async (t) => {
  const { out } = await createTerminal(t).run("config")
  const rows = out.split("\n").flatMap((line) => (line.endsWith("  default") ? [line.split(/ {2,}/).slice(0, 2)] : []))
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8")
  const table = [...readme.matchAll(/^\| `([\w.]+)` +\| [^|]+ \| `([^`]+)` +\|/gm)].map(([, key, value]) => [
    key,
    value,
  ])
  assert.ok(table.length > 10)
  assert.deepEqual(rows, table)
})

test("models that some layer sets are listed one by one", async (t) => {
  const terminal = createTerminal(t)
  terminal.write("project/.opencode/dcp.jsonc", '{ "models": { "a/b": { "calibrate": false } } }')
  const { out } = await terminal.run("config")
  assert.match(out, /^models\["a\/b"\]\.calibrate +false +\S+dcp\.jsonc:1:24$/m)
  assert.doesNotMatch(out, /^models /m)
})

test("config takes a directory, relative to the current one", async (t) => {
  const terminal = createTerminal(t)
  const file = terminal.write("other/.opencode/dcp.json", { debug: true })
  const { code, out } = await terminal.run("config", "../other")
  assert.equal(code, 0)
  assert.match(out, new RegExp(`debug +true +${file}:1:2`))
  assert.match((await terminal.run("config")).out, /No dcp\.jsonc or dcp\.json was found/)
})

test("problems are told with file and line and are no failure; a layer that is ignored is one", async (t) => {
  const terminal = createTerminal(t)
  const file = terminal.write("project/.opencode/dcp.jsonc", '{\n  "dtc": { "targetRatoi": 0.4 }\n}')
  const wrong = await terminal.run("config")
  assert.equal(wrong.code, 0)
  assert.ok(wrong.out.includes(`Problems:\n  ${file}:2:12 dtc.targetRatoi: unknown key, did you mean targetRatio?\n`))

  terminal.write("project/.opencode/dcp.jsonc", "{ broken")
  const broken = await terminal.run("config")
  assert.equal(broken.code, 1)
  assert.ok(broken.out.includes(`project: ${file} (ignored, see below)`))
  assert.match(broken.out, /Problems:\n .*dcp\.jsonc:1:3: does not parse/)
})

test("a dcp.json beside a dcp.jsonc is listed as not used, and is no failure", async (t) => {
  const terminal = createTerminal(t)
  const hidden = terminal.write("project/.opencode/dcp.json", { debug: true })
  assert.doesNotMatch((await terminal.run("config")).out, /not used/)
  const file = terminal.write("project/.opencode/dcp.jsonc", "{}")
  const { code, out } = await terminal.run("config")
  assert.equal(code, 0)
  assert.ok(out.includes(`  project: ${hidden} (not used: dcp.jsonc stands beside it)\n  project: ${file}\n`))
  assert.match(out, /debug +false +default/)
})

test("config tries options as opencode.json would give them", async (t) => {
  const terminal = createTerminal(t)
  const { code, out } = await terminal.run("config", "--options", '{ "notify": "toast" }')
  assert.equal(code, 0)
  assert.match(out, /notify +"toast" +opencode\.json \(plugin options\)\n/)
  assert.doesNotMatch(out, /try them with --options/)
  assert.match((await terminal.run("config")).out, /try them with --options/)
  assert.equal((await terminal.run("config", "--options", "7")).code, 1, "no object: the layer is ignored")
})

test("what a configuration names cannot steer the terminal", async (t) => {
  const terminal = createTerminal(t)
  terminal.write("project/.opencode/dcp.jsonc", '{ "dtc": { "protectedTools": ["\\u009b31m\\u202ex"] } }')
  const { out } = await terminal.run("config")
  assert.match(out, /\["\\u\{009b\}31m\\u\{202e\}x"\]/)
  assert.doesNotMatch(out.replaceAll("\n", ""), /\p{Cc}|\p{Cf}/u)
})

test("a directory that is not there is no place to look", async (t) => {
  const terminal = createTerminal(t)
  const file = terminal.write("project/.opencode/dcp.jsonc", "{}")
  for (const place of ["nowhere", file]) {
    const { code, out, err } = await terminal.run("config", place)
    assert.deepEqual({ code, out, err }, { code: 1, out: "", err: `opencode-dcp: ${place} is no directory\n` })
  }
})
