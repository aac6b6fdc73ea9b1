import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { pathToFileURL } from "node:url"
import type { PromptOptions } from "./host.ts"
import { recordOf } from "./json.ts"
import { conversationText, findClearedCallIDs } from "./model-request.ts"
import { bash, call, idsOf, proportionalUsage, read, type ScriptedCall } from "./model-script.ts"
import { linesOfTokens } from "./pressure-files.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor, type SessionAccount } from "./session-account.ts"
import { providerWith } from "./small-window.ts"
import { assertSummarySaw } from "./summary-claims.ts"
import { assertAllSucceeded, assertStoredUnchanged, assertWire } from "./wire-assertions.ts"

/*
 * What is reported is what was sent, and the host compacts on its own at the window less 4k of output. The plugin's
 * target is 0.7 of that for the history alone; the system prompt and the tools take some 10k more.
 *
 * At 64k, nine reads of 5k cross the target of 42k while 60k are far: clearing begins. Then files of 5k are written, and
 * no call's input can be cleared: the history grows until the host summarises it. At 32k, three protected reads of 7k and
 * what the host adds are more than the window: it summarises again and again, and the plugin finds little to clear.
 */
const WIDE = "scripted/wide"
const NARROW = "scripted/narrow"
const LIMITS = { wide: { context: 64_000, output: 4_000 }, narrow: { context: 32_000, output: 4_000 } }

const WIDE_READS = 9
const WRITES = 10
const NARROW_READS = 9
const REFERENCES = ["notes/first.txt", "notes/second.txt"]

const numbered = (count: number, name: (index: number) => string, tokens: number): [string, string][] =>
  Array.from({ length: count }, (_, index) => [name(index), linesOfTokens(tokens, name(index))])

const FILES = Object.fromEntries([
  ...numbered(WIDE_READS, (index) => `wide/page-${index}.txt`, 5_000),
  ...numbered(NARROW_READS, (index) => `narrow/page-${index}.txt`, 7_000),
  ...REFERENCES.map((name) => [name, linesOfTokens(3_000, name)]),
])

test(
  "Automatic compaction: clearing comes before the first summary at 64k, and every tool succeeds, at 32k too",
  { timeout: 360_000 },
  () => {
    const setup = {
      files: FILES,
      providers: { scripted: providerWith("openai", LIMITS) },
      model: { usage: proportionalUsage(1) },
      pluginOptions: { debug: true },
      timeoutMs: 330_000,
    }
    return playScenario(setup, async (scenario) => {
      const ordinary = await runTask(scenario, "ordinary", wideTask("ordinary"), { model: WIDE })
      assertClearingBeforeSummary(ordinary)

      const parts = referencingParts(scenario.home.project)
      const referencing = await runTask(scenario, "references", wideTask("references"), { model: WIDE, parts })
      assertClearingBeforeSummary(referencing)
      assertReferencesSent(referencing)

      const narrow = await runTask(scenario, "narrow", narrowTask(), { model: NARROW })
      assert.ok(narrow.summaries.length >= 2, `${narrow.summaries.length} summaries at 32k`)
    })
  },
)

/** Runs it to its end as one prompt, and holds what must hold whatever the window. */
async function runTask(
  scenario: Scenario,
  name: string,
  calls: readonly ScriptedCall[],
  options: PromptOptions,
): Promise<SessionAccount> {
  const { host, model, home, runTurn } = scenario
  const { id } = await host.createSession(name)
  const conclusion = `The work on ${name} is done.`
  model.script("main", [...calls.map((one) => ({ tools: [one] })), { text: conclusion }], id)
  await runTurn(id, "Work through all of it.", options)

  const session = await accountFor(scenario, id)
  assertAllSucceeded(session.stored, idsOf(calls))
  assertContinued(session)
  assert.equal(model.countUnusedSteps("main", id), 0, "the script was played to its end")
  const texts = session.stored.flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")))
  assert.ok(texts.includes(conclusion), "the session came to the task's conclusion")
  assert.equal(recordOf(session.stored.at(-1)?.info)["finish"], "stop", "the session ended of itself")
  assert.equal(await host.isBusy(id), false)
  assert.equal(
    readFileSync(join(home.project, ledgerOf(name)), "utf8"),
    ledgerEntries(calls).join(""),
    "each ledger entry was made once, in order",
  )
  assertStoredUnchanged(session.stored, (await host.exportSession(id)).messages)
  return session
}

function wideTask(name: string): ScriptedCall[] {
  return [
    append(name, 1),
    ...Array.from({ length: WIDE_READS }, (_, index) => read(`wide/page-${index}.txt`, `${name}-read-${index}`)),
    append(name, 2),
    ...Array.from({ length: WRITES }, (_, index) => {
      const filePath = `written/${name}-${index}.txt`
      return call("write", { filePath, content: linesOfTokens(5_000, filePath) }, `${name}-write-${index}`)
    }),
    append(name, 3),
    append(name, 4),
  ]
}

const narrowTask = (): ScriptedCall[] =>
  Array.from({ length: NARROW_READS }, (_, index) => read(`narrow/page-${index}.txt`, `narrow-read-${index}`)).flatMap(
    (one, index) => (index % 3 === 2 ? [one, append("narrow", index)] : [one]),
  )

const ledgerOf = (name: string): string => `ledger-${name}.txt`

const append = (name: string, entry: number): ScriptedCall =>
  bash(`echo entry ${entry} >> ${ledgerOf(name)} && echo appended ${entry}`, `${name}-ledger-${entry}`)

const ledgerEntries = (calls: readonly ScriptedCall[]): string[] =>
  calls.flatMap(({ id }) => {
    const entry = /-ledger-(\d+)$/.exec(id ?? "")?.[1]
    return entry === undefined ? [] : [`entry ${entry}\n`]
  })

/** As a user refers to files and a folder: the host puts their content into texts of its own beside these markers. */
function referencingParts(project: string): unknown[] {
  const refer = (path: string, mime: string): unknown => ({
    type: "file",
    mime,
    filename: path,
    url: pathToFileURL(join(project, path)).href,
  })
  return [
    { type: "text", text: "Work through all of it, as the notes say." },
    ...REFERENCES.map((path) => refer(path, "text/plain")),
    refer("notes", "application/x-directory"),
  ]
}

function assertClearingBeforeSummary({ requests, summaries, stored }: SessionAccount): void {
  const cleared = requests.find((request) => findClearedCallIDs(request).length > 0)
  const [summary] = summaries
  assert.ok(summary !== undefined, "the host summarised")
  assert.ok(cleared !== undefined, "outputs were cleared")
  assertWire(cleared, cleared.number < summary.number, `it is before the first summary, request ${summary.number}`)
  assertSummarySaw(summary, stored, findClearedCallIDs(cleared))
}

/** Each summary is followed by an ordinary request of the same session that begins with it. */
function assertContinued({ requests, summaries, stored }: SessionAccount): void {
  for (const summary of summaries) {
    assertWire(summary, summary.reply?.status === 200, "the summary was answered")
    const next = requests.find(({ number }) => number > summary.number)
    assertWire(summary, next !== undefined, "the session goes on after it")
    assertWire(next, conversationText(next).includes("Continue the scripted work."), "it holds the summary")
  }
  const automatic = stored.filter(({ parts }) =>
    parts.some((part) => part.type === "compaction" && recordOf(part)["auto"] === true),
  )
  assert.equal(automatic.length, summaries.length, "every summary was the host's own decision")
}

/** The references are known to the plugin: they make no request unreadable, and their content is sent. */
function assertReferencesSent({ requests, summaries, stored }: SessionAccount): void {
  const markers = stored.flatMap(({ parts }) => parts.filter((part) => part.type === "file").map(({ mime }) => mime))
  assert.ok(markers.includes("text/plain") && markers.includes("application/x-directory"), markers.join())
  for (const request of requests.filter(({ number }) => number < (summaries[0]?.number ?? 0)))
    for (const path of REFERENCES)
      assertWire(request, conversationText(request).includes(`${path} line 1:`), `it holds what ${path} says`)
}
