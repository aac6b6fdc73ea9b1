import assert from "node:assert/strict"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import test, { type TestContext } from "node:test"
import type { Message } from "../../lib/dtc/types.ts"
import type { Report } from "../../lib/cli/types.ts"
import { assistant, bash, failed, read, session, step, text, tokens, tool, user } from "../helpers/history.ts"
import { HOSTILE, PATH_HOSTILE, STEERING } from "../helpers/hostile.ts"
import { exported, LIMIT, SETTINGS } from "./sessions.ts"
import { createTerminal, type Ran, type Terminal } from "./terminal.ts"

/** A session in two windows whose every name, id, path, text and piece of metadata carries the given text. */
function sessionOf(name: string): object {
  const readAgain = () => read(`${name}/a.ts`, tokens(1_500, name), { title: name, metadata: { preview: name } })
  const drafts = [
    user(name, { agent: name, system: name, tools: { [name]: true } }),
    step(readAgain(), text(name)),
    step(read(`${name}/b.ts`, tokens(1_500, "b")), bash(`echo ${name}`, tokens(1_200, "t"), 1)),
    step(readAgain(), tool(name, { [name]: name }, name), tool(`${name} 2`, { deep: { text: name } }, name)),
    step(bash(`cat ${name}`, tokens(1_500, "c"))),
    step(read(`${name}/d.ts`, tokens(1_500, "d")), failed(`${name} 3`, { a: name }, name)),
    step(read(`${name}/e.ts`, tokens(1_500, "e"))),
    { role: "user", parts: [{ type: "compaction", auto: true }], info: { id: "compact" } },
    assistant([text(name)], { id: "summary", summary: true, finish: "stop", parentID: "compact" }),
    user(name),
    step(bash(name, name), { type: name, note: name }),
  ]
  const messages = session(...drafts).map((message, index) => rename(message, name, index))
  return exported(messages, { title: name, id: name })
}

function rename({ info, parts }: Message, name: string, index: number): Message {
  const isPair = info.id === "compact" || info.id === "summary"
  const model = info.role === "user" && { model: { providerID: name, modelID: `${name}/m` } }
  return {
    info: { ...info, ...model, sessionID: name, ...(!isPair && { id: `${name} ${index}` }) },
    parts: parts.map((part, place) => ({
      ...part,
      id: `${name} ${index} ${place}`,
      callID: `${name} ${index} ${place}`,
    })),
  }
}

function start(t: TestContext, setup: Parameters<typeof createTerminal>[1] = {}): Terminal {
  const terminal = createTerminal(t, setup)
  terminal.write("project/.opencode/dcp.jsonc", SETTINGS)
  return terminal
}

const explain = (terminal: Terminal, name: string, ...args: string[]): Promise<Ran> =>
  terminal.run("explain", terminal.write("session.json", sessionOf(name)), "--limit", LIMIT, ...args)

function assertSteersNothing(shown: string): void {
  assert.doesNotMatch(shown.replaceAll("\n", ""), STEERING)
}

test("the hostile session is one that has something to show everywhere", async (t) => {
  const report = JSON.parse((await explain(start(t), HOSTILE, "--json")).out) as Report
  assert.ok(report.totals.batches > 0 && report.windows.length === 2)
  assert.ok(report.outputs.some(({ reason }) => reason === "redundant"))
  assert.ok(report.outputs.some(({ reason }) => reason === "other-tool"))
  assert.ok(report.windows[0]?.sources?.length)
})

for (const [what, args] of [
  ["text", ["--all"]],
  ["page's name", ["--html", `page ${PATH_HOSTILE}.html`]],
  ["JSON", ["--json"]],
] as const)
  test(`nothing in a session steers the terminal that its report is shown in: ${what}`, async (t) => {
    const { code, out, err } = await explain(start(t), HOSTILE, ...args)
    assert.deepEqual([code, err], [0, ""])
    assertSteersNothing(out)
  })

test("on a terminal the only sequences are the report's own colours", async (t) => {
  const { out, err } = await explain(start(t, { outIsTTY: true, errIsTTY: true }), HOSTILE, "--all")
  const colours = [0, 1, 2, 33, 36].map((style) => `\u001B[${style}m`)
  assert.ok(colours.slice(0, 3).every((colour) => out.includes(colour)))
  assertSteersNothing(colours.reduce((shown, colour) => shown.replaceAll(colour, ""), out))
  assertSteersNothing(err.replaceAll("\r\u001B[K", ""))
})

test("the JSON holds every text as it was, whatever it is shown as", async (t) => {
  const report = JSON.parse((await explain(start(t), HOSTILE, "--json")).out) as Report
  // A file is UTF-8, which has no lone surrogates, and the JSON of the test's file has escapes for them.
  assert.equal(report.session.title, HOSTILE)
  assert.equal(report.session.model, `${HOSTILE}/${HOSTILE}/m`)
  assert.ok(report.outputs.some((output) => output.tool === HOSTILE && output.target.startsWith(HOSTILE.slice(0, 200))))
})

const tagsOf = (page: string): string[] =>
  Array.from(page.matchAll(/<[^>]*>/g), ([tag]) =>
    tag.replaceAll(/\d+(\.\d+)?/g, "0").replaceAll(/'sha256-[^']+'/g, ""),
  )

async function pageOf(t: TestContext, name: string): Promise<string> {
  const terminal = start(t)
  const { code } = await explain(terminal, name, "--html", "page.html")
  assert.equal(code, 0)
  return readFileSync(terminal.at("project/page.html"), "utf8")
}

test("a hostile session's page has the same elements and attributes as a harmless one's", async (t) => {
  const [hostile, harmless] = [await pageOf(t, HOSTILE), await pageOf(t, HOSTILE.replaceAll(/[<>&"']/g, "|"))]
  assert.deepEqual(tagsOf(hostile), tagsOf(harmless))
  assertSteersNothing(hostile)
  const [, script] = /<script type="module">([^]*?)<\/script>/.exec(hostile) ?? []
  assert.equal(script, "// the page's script")
})

test("the page's data is JSON in which no text can end the block, and every text is printable", async (t) => {
  const page = await pageOf(t, HOSTILE)
  const [, block = ""] = /<script type="application\/json" id="report">([^]*?)<\/script>/.exec(page) ?? []
  assert.doesNotMatch(block, /</)
  const texts: string[] = []
  JSON.parse(block, (_key, value: unknown) => void (typeof value === "string" && texts.push(value)))
  assert.ok(texts.length > 30)
  for (const each of texts) assert.doesNotMatch(each, STEERING)
})

const faults: [what: string, args: string[]][] = [
  ["a missing file", ["explain", `${PATH_HOSTILE}.json`, "--limit", LIMIT]],
  ["a missing directory", ["explain", "x", "--dir", PATH_HOSTILE, "--limit", LIMIT]],
  ["a page that cannot be written", ["explain", "session.json", "--html", `${PATH_HOSTILE}/x.html`, "--limit", LIMIT]],
  ["no limits", ["explain", "session.json"]],
  ["an unknown option", ["explain", `--${PATH_HOSTILE}`]],
  ["an odd value", ["explain", "x", "--html", `-${PATH_HOSTILE}`]],
  ["an unknown command", [PATH_HOSTILE]],
  ["a directory that is none", ["config", PATH_HOSTILE]],
]
for (const [what, args] of faults)
  test(`a line that says what is wrong steers nothing either: ${what}`, async (t) => {
    const terminal = createTerminal(t)
    terminal.write("project/session.json", sessionOf(HOSTILE))
    const { code, err } = await terminal.run(...args)
    assert.ok(code === 1 || code === 2)
    assert.match(err, /u\{202e\}/, "it names what was given")
    assertSteersNothing(err)
  })

test("keys, values and places of configuration files steer nothing", async (t) => {
  const terminal = createTerminal(t)
  const place = `project/${PATH_HOSTILE}`
  const settings = {
    [PATH_HOSTILE]: 1,
    dtc: { [PATH_HOSTILE]: 2, protectedTools: [HOSTILE] },
    models: { [`a/${PATH_HOSTILE}`]: { targetRatio: 0.5, [PATH_HOSTILE]: 3 }, [HOSTILE]: {} },
  }
  const options = JSON.stringify({ notify: HOSTILE, [PATH_HOSTILE]: 1, dtc: { protectedTools: 7 } })
  terminal.write(`${place}/.opencode/dcp.jsonc`, settings)
  const shown = await terminal.run("config", PATH_HOSTILE, "--options", options)
  assert.equal(shown.code, 0)
  for (const named of [/^models\[.+\.targetRatio +0\.5 /m, /Problems:/, /protectedTools .+dcp\.jsonc:\d/])
    assert.match(shown.out, named)
  assertSteersNothing(shown.out)

  terminal.write("session.json", sessionOf("x"))
  const explained = await terminal.run("explain", "../session.json", "--dir", PATH_HOSTILE, "--limit", LIMIT)
  assert.equal(explained.code, 0)
  assert.match(explained.err, /unknown key/)
  assertSteersNothing(explained.err)

  mkdirSync(terminal.at(place), { recursive: true })
  writeFileSync(terminal.at(`${place}/.opencode/dcp.jsonc`), `{ "${HOSTILE.replaceAll(/[\n\r"\\\0]/g, "")}`)
  const broken = await terminal.run("config", PATH_HOSTILE)
  assert.equal(broken.code, 1)
  assertSteersNothing(broken.out)
})
