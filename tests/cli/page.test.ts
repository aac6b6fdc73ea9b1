import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import test from "node:test"
import { html, Html, jsonData } from "../../lib/cli/html.ts"
import { read, session, step, tokens, user } from "../helpers/history.ts"
import { exported, LIMIT, READS, SETTINGS } from "./sessions.ts"
import { createTerminal } from "./terminal.ts"

test("a value in a template is text, markup stays markup, lists are joined", () => {
  const { text } = html`<a title="${`"'`}">${"<b>&"}${[html`<i>${1}</i>`, new Html("<u>")]}</a>`
  assert.equal(text, '<a title="&quot;&#39;">&lt;b&gt;&amp;<i>1</i>\n<u></a>')
})

test("no text can end a data block or begin a comment in it", () => {
  const value = { text: "</script><!--<script>" }
  const { text } = jsonData(value)
  assert.doesNotMatch(text, /</)
  assert.deepEqual(JSON.parse(text), value)
})

async function writePage(t: test.TestContext, stored: unknown): Promise<string> {
  const terminal = createTerminal(t)
  terminal.write("project/.opencode/dcp.jsonc", SETTINGS)
  const file = terminal.write("session.json", stored)
  const { code, out } = await terminal.run("explain", file, "--limit", LIMIT, "--html", "page.html")
  assert.deepEqual([code, out], [0, "page.html is written: open it in a browser\n"])
  return readFileSync(terminal.at("project/page.html"), "utf8")
}

test("the page lets nothing in but its own style and script, and names no address", async (t) => {
  const page = await writePage(t, exported(READS))
  const policy = /Content-Security-Policy"\s+content="([^"]+)"/.exec(page)?.[1]?.replaceAll("&#39;", "'") ?? ""
  const hashOf = (text = "") => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
  const [, style] = /<style>([^]*?)<\/style>/.exec(page) ?? []
  const [, script] = /<script type="module">([^]*?)<\/script>/.exec(page) ?? []
  assert.equal(
    policy,
    `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`,
  )
  assert.doesNotMatch(page.replaceAll("https://example.com", ""), /https?:|\ssrc=|\shref=|url\(|@import/)
  assert.doesNotMatch(page, /\sstyle="/, "the policy would ignore it")
})

test("what the session holds stands in the page escaped, and what steers a text is shown", async (t) => {
  const evil = `</script><img src=x onerror="alert(1)">&amp;\u202E\u0007`
  const messages = session(user("go"), step(read(evil, tokens(9_000))), step(read("b", "b")), step(read("c", "c")))
  const page = await writePage(t, exported(messages, { title: evil, id: evil }))
  assert.doesNotMatch(page, /<img/)
  assert.doesNotMatch(page.replaceAll("\n", ""), /[\p{Cc}\p{Cf}]/u)
  assert.ok(page.includes("&lt;/script&gt;&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;amp;\\u{202e}\\u{0007}"))
  assert.equal(page.match(/<\/script>/g)?.length, 2)
})

test("the chart has a column for every request, a mark for every batch, and both lines", async (t) => {
  const page = await writePage(t, exported(READS))
  const areas = ["plain", "own"].map((name) => new RegExp(`class="${name}"\\s+d="([^"]+)"`).exec(page)?.[1] ?? "")
  for (const area of areas) assert.equal(area.match(/H/g)?.length, 9)
  assert.notEqual(areas[0], areas[1])
  assert.equal(page.split('class="legend"')[0]?.match(/class="batch" d="M\d+(\.\d+)? /g)?.length, 2)
  assert.match(page, /budget 10,000/)
  assert.match(page, /target 7,000/)
  assert.doesNotMatch(page, /NaN|Infinity|undefined/)
})

test("the chart shows where a compaction was and which requests have no size", async (t) => {
  const page = await writePage(t, exported(READS))
  assert.doesNotMatch(page, /class="window"|class="unknown"/)
  const audio = user("hear", {}, { type: "file", mime: "audio/wav", url: "data:audio/wav;base64,AAAA" })
  const messages = session(
    user("go"),
    step(read("a.ts", "a")),
    { role: "user", parts: [{ type: "compaction" }], info: { id: "compact" } },
    { role: "assistant", parts: [], info: { summary: true, finish: "stop", parentID: "compact" } },
    step(read("b.ts", "b")),
    audio,
    step(read("c.ts", "c")),
  )
  const eventful = await writePage(t, messages)
  assert.equal(eventful.match(/class="window"/g)?.length, 1)
  assert.equal(eventful.match(/class="unknown"/g)?.length, 1)
  assert.match(eventful, /In 1 request of 3 there is content of unknown size/)
})
