import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { errorName } from "./host.ts"
import { recordOf } from "./json.ts"
import { findClearedCallIDs, type ModelRequest } from "./model-request.ts"
import { inputTokens } from "./model-server.ts"
import { bash, call, fixedUsage, idsOf, oneByOne, read, type ScriptedCall } from "./model-script.ts"
import { linesOfTokens } from "./pressure-files.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor, type SessionAccount } from "./session-account.ts"
import { providerWith } from "./small-window.ts"
import { storedOutput, type StoredMessage } from "./stored.ts"
import { assertSummarySaw } from "./summary-claims.ts"
import { unclearedTokens } from "./uncleared-size.ts"
import { assertAllSucceeded, assertStoredUnchanged, assertWire } from "./wire-assertions.ts"

/*
 * The endpoint refuses what is over 60k, whatever the request is for. It reports little usage, so that the host learns of
 * the limit by the refusal alone. Sixteen files of 3.5k and what the host adds itself are over it.
 */
const INPUT_LIMIT = 60_000
const LIMIT = { context: 64_000, output: 4_000 }
const READS = 16

/** In folders of their own: beside an ordinary file, the host would attach the instructions to each read of it. */
const pathOf = (name: string, index: number): string => `pages-${name}/${index}/${name}`

const pages = (name: string): [string, string][] =>
  Array.from({ length: READS }, (_, index) => [pathOf(name, index), linesOfTokens(3_500, `${name} ${index}`)])

const FILES = Object.fromEntries([...pages("text.txt"), ...pages("CONTEXT.md")])

test(
  "Hard input limit: ordinary reads stay below it, protected ones are refused and resumed, an oversized summary ends",
  { timeout: 360_000 },
  () => {
    const setup = {
      files: FILES,
      providers: { scripted: providerWith("openai", { standard: LIMIT }) },
      model: { usage: fixedUsage(1_000), inputLimitTokens: INPUT_LIMIT },
      pluginOptions: { debug: true },
      timeoutMs: 330_000,
    }
    return playScenario(setup, async (scenario) => {
      await fitByClearing(scenario)
      await resumeAfterRefusal(scenario)
      await endWhenTheSummaryIsRefused(scenario)
      await endWhenEverythingIsRefused(scenario)
      assertLimitKept(scenario.model.requests)
    })
  },
)

async function fitByClearing(scenario: Scenario): Promise<void> {
  const { requests, summaries, stored } = await readEverything(scenario, "text.txt")
  assert.equal(requests.length, READS + 3)
  for (const request of requests) assertWire(request, isAccepted(request), "it is not refused")
  assert.equal(summaries.length, 0, "nothing to summarise")
  const last = requests.at(-1)
  assert.ok(last !== undefined)
  assertWire(last, findClearedCallIDs(last).length > 0, "old reads are cleared")
  const uncleared = unclearedTokens(last, stored)
  assertWire(last, uncleared > INPUT_LIMIT + 2_000, `it would have been refused with all its ${uncleared} tokens`)
}

async function resumeAfterRefusal(scenario: Scenario): Promise<void> {
  const { requests, summaries, stored } = await readEverything(scenario, "CONTEXT.md")
  const refused = requests.filter((request) => !isAccepted(request))
  assert.ok(refused.length > 0, "the same work on instructions is refused")
  assert.equal(summaries.length, refused.length, "a summary for each refusal")
  for (const request of requests)
    for (const callID of findClearedCallIDs(request))
      assertWire(request, !callID.includes("-read-"), `${callID} holds instructions`)
  for (const [index, request] of refused.entries()) {
    const summary = summaries[index]
    const resumed = requests.find(({ number }) => number > request.number)
    assert.ok(summary !== undefined && resumed !== undefined, `refused request ${request.number} is resumed`)
    assertWire(summary, summary.number > request.number && summary.number < resumed.number, "it is between the two")
    assertWire(summary, isAccepted(summary), "the summary is accepted")
    assertWire(resumed, isAccepted(resumed), "the resumed request is accepted")
    if (index === 0) assertSummarySaw(summary, stored, ["CONTEXT.md-ledger"])
  }
  const marks = stored.flatMap(({ parts }) => parts).filter((part) => part.type === "compaction")
  assert.ok(marks.every((part) => recordOf(part)["auto"] === true && recordOf(part)["overflow"] === true))
  assert.equal(marks.length, refused.length)
}

/** Instructions or not: reads all of them and appends to a ledger once, in the middle. */
async function readEverything(scenario: Scenario, name: string): Promise<SessionAccount> {
  const { host, model, home, runTurn } = scenario
  const { id } = await host.createSession("", { title: undefined })
  const ledger = `ledger-${name}`
  const reads = Array.from({ length: READS }, (_, index) => read(pathOf(name, index), `${name}-read-${index}`))
  const calls: ScriptedCall[] = [
    ...reads.slice(0, 6),
    bash(`echo appended >> ${ledger}`, `${name}-ledger`),
    ...reads.slice(6),
    bash(`cat ${ledger}`, `${name}-check`),
  ]
  model.script("main", oneByOne(calls), id)
  await runTurn(id, "Read all of them.")

  const session = await accountFor(scenario, id)
  const { stored } = session
  assertAllSucceeded(stored, idsOf(calls))
  for (const index of reads.keys())
    for (const line of linesOfTokens(3_500, `${name} ${index}`).trimEnd().split("\n"))
      assert.ok(storedOutput(stored, `${name}-read-${index}`).includes(line), `read ${index} is stored with: ${line}`)
  assert.equal(readFileSync(join(home.project, ledger), "utf8"), "appended\n", "one append, no replay")
  assert.equal(storedOutput(stored, `${name}-check`), "appended\n")
  assert.equal(model.countUnusedSteps("main", id), 0, "the script was played to its end")
  assert.equal(errorNames(stored).join(), "", "no message ended with an error")
  assert.equal(await host.isBusy(id), false)
  const titles = model.requestsOf("title", id)
  assert.ok(titles.length > 0 && titles.every(isAccepted), "the title was asked for")
  assertStoredUnchanged(stored, (await host.exportSession(id)).messages)
  return session
}

/** The input of a call is part of the summary's transcript as well: a prompt of 40k and a file of 24k are too much. */
async function endWhenTheSummaryIsRefused(scenario: Scenario): Promise<void> {
  const { host, model, home, runTurn } = scenario
  const { id } = await host.createSession("oversized summary")
  const content = linesOfTokens(24_000, "written")
  model.script(
    "main",
    oneByOne([call("write", { filePath: "written.txt", content }, "write"), bash("echo no", "no")]),
    id,
  )
  await runTurn(id, linesOfTokens(40_000, "prompt"))

  const session = await accountFor(scenario, id)
  assert.deepEqual(session.requests.map(isAccepted), [true, false])
  assert.deepEqual(session.summaries.map(isAccepted), [false])
  assertAllSucceeded(session.stored, ["write"])
  assert.equal(readFileSync(join(home.project, "written.txt"), "utf8"), content)
  await assertEndedOverflown(scenario, id)
}

/** The endpoint makes no exception for titles either. */
async function endWhenEverythingIsRefused(scenario: Scenario): Promise<void> {
  const { host, model, runTurn } = scenario
  const { id } = await host.createSession("", { title: undefined })
  await runTurn(id, linesOfTokens(INPUT_LIMIT + 5_000, "prompt"))
  for (const lane of ["main", "title", "compaction"] as const) {
    const requests = model.requestsOf(lane, id)
    assert.ok(requests.length > 0, `a ${lane} request was made`)
    for (const request of requests) assertWire(request, !isAccepted(request), `the ${lane} request is refused`)
  }
  await assertEndedOverflown(scenario, id)
}

async function assertEndedOverflown({ host }: Scenario, id: string): Promise<void> {
  const stored = await host.readMessages(id)
  assert.equal(errorNames(stored).at(-1), "ContextOverflowError", errorNames(stored).join())
  assert.equal(stored.at(-1)?.info.role, "assistant")
  assert.equal(await host.isBusy(id), false, "the session is idle")
  assert.ok(
    host.events.all.some(({ type, properties }) => type === "session.idle" && properties["sessionID"] === id),
    "the host said that the session is idle",
  )
  assertStoredUnchanged(stored, (await host.exportSession(id)).messages)
}

/** The endpoint did what the scenario is about. */
function assertLimitKept(requests: readonly ModelRequest[]): void {
  for (const request of requests) {
    const tokens = inputTokens(request.body)
    const over = tokens > INPUT_LIMIT
    assertWire(request, request.reply?.status === (over ? 400 : 200), `${tokens} tokens, answered as the limit says`)
  }
}

const isAccepted = (request: ModelRequest): boolean => request.reply?.status === 200

const errorNames = (stored: readonly StoredMessage[]): string[] => stored.map(errorName).filter((name) => name !== "")
