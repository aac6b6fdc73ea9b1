import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { fileURLToPath, pathToFileURL } from "node:url"
import { renderPage } from "../../lib/cli/page.ts"
import type { Report } from "../../lib/cli/types.ts"
import type { Message, Source } from "../../lib/dtc/types.ts"
import { bash, read, session, step, text, tokens, user } from "../helpers/history.ts"
import { exported, LIMIT, READS, SETTINGS } from "../cli/sessions.ts"
import { Chromium } from "./chromium.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), "dcp-page-"))
let browser: Chromium

before(async () => {
  mkdirSync(join(scratch, ".opencode"))
  writeFileSync(join(scratch, ".opencode/dcp.json"), JSON.stringify(SETTINGS))
  browser = await Chromium.open()
})
after(async () => {
  await browser.close()
  rmSync(scratch, { recursive: true, force: true })
})

/** Runs the built program and opens what it wrote, from disk. */
async function openPage(stored: unknown, limit = LIMIT): Promise<string> {
  explain(stored, limit, "--html", "page.html")
  return openWritten()
}

async function openWritten(): Promise<string> {
  const url = pathToFileURL(join(scratch, "page.html")).href
  await browser.goto(url)
  return url
}

function explain(stored: unknown, limit: string, ...format: string[]): string {
  writeFileSync(join(scratch, "session.json"), JSON.stringify(stored))
  const args = [join(root, "dist/lib/cli/main.js"), "explain", "session.json", "--limit", limit, ...format]
  const env = { PATH: process.env["PATH"], HOME: scratch }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: scratch, env, encoding: "utf8" })
  assert.deepEqual([status, stderr], [0, ""])
  return stdout
}

const textOf = (selector: string): Promise<string> =>
  browser.evaluate(`document.querySelector("${selector}").innerText`)
const details = (): Promise<string> => textOf("#request h2")
const visibleRows = (): Promise<string[]> =>
  browser.evaluate(
    `[...document.querySelectorAll("#outputs tbody tr")].filter((row) => !row.hidden).map((row) => row.innerText)`,
  )

interface Box {
  x: number
  y: number
  width: number
  height: number
}
const boxOf = (selector: string): Promise<Box> =>
  browser.evaluate(`document.querySelector('${selector}').getBoundingClientRect().toJSON()`)

/** The middle of a request's column. */
async function placeOf(request: number, requests: number): Promise<[x: number, y: number]> {
  const { x, y, width, height } = await boxOf("#plot")
  return [x + ((request - 0.5) / requests) * width, y + height / 2]
}

async function clickOn(selector: string): Promise<void> {
  await browser.evaluate(`document.querySelector('${selector}').scrollIntoView({ block: "center" })`)
  const { x, y, width, height } = await boxOf(selector)
  await browser.clickAt(x + width / 2, y + height / 2)
}

test("the page opens from disk, loads nothing and complains about nothing", async () => {
  const url = await openPage(exported(READS))
  assert.deepEqual(browser.requests, [url])
  assert.deepEqual(browser.complaints, [])
  assert.equal(await textOf("h1"), "A look around")
  assert.match(
    await textOf(".headline"),
    /4 outputs of [\d,]+ tokens would have been left out, in 2 batches over 9 requests/,
  )
  assert.equal(await details(), "Request 6 of 9", "the first batch is shown")
  assert.match(await textOf("#request"), /read a\.ts saves [\d,]+: an identical copy came later/)
})

test("pointing shows a request, a click keeps it", async () => {
  await openPage(exported(READS))
  await browser.moveTo(...(await placeOf(3, 9)))
  assert.equal(await details(), "Request 3 of 9")
  assert.match(await textOf("#request"), /Nothing is cleared/)
  await browser.moveTo(5, 5)
  assert.equal(await details(), "Request 6 of 9")
  await browser.clickAt(...(await placeOf(7, 9)))
  await browser.moveTo(5, 5)
  assert.equal(await details(), "Request 7 of 9")
  const chosen = await browser.evaluate<string[]>(
    `[...document.querySelectorAll("#outputs tr.chosen code")].map((cell) => cell.innerText)`,
  )
  assert.deepEqual(chosen, ["b.ts", "a.ts", "c.ts"], "what is cleared there stands out in the table")
})

test("the keyboard alone reaches the chart and every request", async () => {
  await openPage(exported(READS))
  await browser.press("Tab")
  assert.equal(await browser.evaluate("document.activeElement.id"), "chart")
  const presses: [key: string, request: number][] = [
    ["ArrowRight", 7],
    ["ArrowRight", 8],
    ["ArrowLeft", 7],
    ["Home", 1],
    ["ArrowLeft", 1],
    ["End", 9],
    ["ArrowRight", 9],
    ["PageDown", 1],
    ["PageUp", 9],
  ]
  for (const [key, request] of presses) {
    await browser.press(key)
    assert.equal(await details(), `Request ${request} of 9`, key)
    assert.equal(
      await browser.evaluate(`document.querySelector("#chart").getAttribute("aria-valuenow")`),
      String(request),
    )
  }
  assert.match(
    await browser.evaluate(`document.querySelector("#chart").getAttribute("aria-valuetext")`),
    /^request 9: [\d,]+ tokens without the plugin, [\d,]+ with it$/,
  )
})

test("the table is filtered by state, and its numbers lead to their requests", async () => {
  await openPage(exported(READS))
  assert.equal((await visibleRows()).length, 4, "the cleared ones at first")
  await clickOn('input[value="kept"]')
  const kept = await visibleRows()
  assert.equal(kept.length, 7)
  assert.ok(kept.some((row) => /npm test.*kept.*the command failed/s.test(row)))
  await clickOn('input[value="all"]')
  assert.equal((await visibleRows()).length, 11)
  await clickOn('#outputs button[data-request="8"]')
  assert.equal(await details(), "Request 8 of 9")
})

test("where the messages of a request come from unfolds, up to the step that answered it", async () => {
  const report = JSON.parse(explain(exported(READS), LIMIT, "--json")) as Report
  const [window] = report.windows
  assert.ok(window)
  window.sources = [
    { type: "history", messageIndex: 0, role: "user" },
    { type: "history", messageIndex: 1, step: 0, role: "assistant", cleared: [{ callID: "hidden" }] },
    { type: "<b>odd</b>", messageIndex: 2, step: 0, note: "<i>" },
  ] as unknown as Source[]
  const script = readFileSync(join(root, "dist/lib/cli/page/browser.js"), "utf8")
  writeFileSync(join(scratch, "page.html"), renderPage(report, script))
  await openWritten()
  await clickOn("#chart")
  await browser.press("Home")
  await browser.press("ArrowRight")
  assert.equal(await textOf("#request summary"), "Messages on the wire: 2")
  await browser.press("End")
  await clickOn("#request summary")
  await browser.evaluate("document.querySelector('#chart').focus()")
  await browser.press("ArrowLeft")
  const rows = await browser.evaluate<string[]>(
    `[...document.querySelectorAll("#request details tr")].map((row) => row.innerText)`,
  )
  assert.deepEqual(rows, [
    "what\tmessage\tstep\tmore",
    "history\t0\t\trole user",
    "history\t1\t0\trole assistant",
    "<b>odd</b>\t2\t0\tnote <i>",
  ])
})

test("the details say that the cost is of the messages alone, and the legend why the first request is small", async () => {
  await openPage(exported(READS))
  assert.match(
    await textOf("#request dl"),
    /of the messages alone, read from the cache\s+[\d,]+\s+of the messages alone, written anew/,
  )
  assert.match(await textOf(".note"), /^the first request of a window is the history alone/)
})

test("large figures wrap inside a narrow tile", async () => {
  await openPage(exported(READS))
  const overflows = await browser.evaluate<boolean[]>(`(() => {
    document.querySelector(".figures").style.width = "170px"
    for (const number of document.querySelectorAll(".figures b")) number.innerHTML = "<s>10,512,233 →</s> 5,374,844"
    return [...document.querySelectorAll(".figures li")].map((tile) => tile.scrollWidth > tile.clientWidth)
  })()`)
  assert.deepEqual(overflows, [false, false, false, false])
})

const EVIL = `</script><!--<script>window.owned = 1</script><img src="https://example.com/x.png" onerror="owned = 1">&lt;b>'"`

test("markup and script of a session are text", async () => {
  const messages = session(
    user(EVIL),
    step(text(EVIL), read(EVIL, tokens(9_000, EVIL)), bash(`echo ${EVIL}`, EVIL)),
    step(bash("ls", "a")),
    step(bash("ls", "b")),
  )
  for (const { info } of messages) info.sessionID = EVIL
  const url = await openPage(exported(messages, { title: EVIL, id: EVIL }))
  assert.equal(await browser.evaluate("typeof owned"), "undefined")
  assert.equal(await browser.evaluate(`document.querySelectorAll("img, #outputs script, header script").length`), 0)
  assert.equal(await textOf("h1"), EVIL)
  assert.equal(await textOf("#outputs code"), EVIL)
  assert.equal(await textOf("#request code"), EVIL)
  assert.deepEqual(browser.requests, [url])
  assert.deepEqual(browser.complaints, [])
})

test("light and dark follow the system", async () => {
  await openPage(exported(READS))
  const colours: string[] = []
  for (const scheme of ["light", "dark"] as const) {
    await browser.preferScheme(scheme)
    colours.push(await browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    mkdirSync(join(root, "coverage"), { recursive: true })
    writeFileSync(join(root, `coverage/page-${scheme}.png`), await browser.screenshot())
  }
  assert.deepEqual(colours, ["rgb(255, 255, 255)", "rgb(13, 17, 23)"])
})

const REQUESTS = 500

test("500 requests are quick: to open, and from key to key", async () => {
  const many: Message[] = session(
    user("go"),
    ...Array.from({ length: REQUESTS }, (_, index) =>
      step(read(`src/file-${index % 70}.ts`, tokens(600, `f${index}`))),
    ),
  )
  const started = performance.now()
  await openPage(exported(many), "60000,8000")
  const openedMs = performance.now() - started
  assert.match(await details(), /of 500$/)
  const keysMs = await browser.evaluate<number>(`(() => {
    const chart = document.querySelector("#chart")
    const started = performance.now()
    for (let press = 0; press < 100; press++) {
      chart.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }))
      document.body.offsetHeight
    }
    return performance.now() - started
  })()`)
  assert.ok(openedMs < 10_000, `${openedMs} ms from the export to the page`)
  assert.ok(keysMs < 3_000, `${keysMs} ms for 100 keys`)
})

test("a session without a request is a page too", async () => {
  await openPage(exported(session(user("hello"))))
  assert.deepEqual(browser.complaints, [])
  assert.match(await textOf(".headline"), /holds no request/)
})
