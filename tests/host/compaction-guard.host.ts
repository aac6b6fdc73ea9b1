import assert from "node:assert/strict"
import { test } from "node:test"
import { PRESSURE } from "./continuity-checks.ts"
import { KNOWN_LIMITS, NATIVE_PROVIDERS } from "./continuity-setup.ts"
import { findClearedCallIDs, findToolCalls, readMessages, type ModelRequest } from "./model-request.ts"
import { bash, fixedUsage, idsOf, read, type Step } from "./model-script.ts"
import { openaiReply } from "./openai-reply.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor, protecting } from "./session-account.ts"
import { linesOfTokens } from "./small-window.ts"
import { findToolParts } from "./stored.ts"
import { assertFaithfulSummary } from "./summary-claims.ts"
import { assertAllSucceeded, assertWire } from "./wire-assertions.ts"

/*
 * Two pages of 3k tokens a step, against a target of 14k. Twelve pages are 36k; the host retains what fits into 16k, two
 * steps, so that the part to summarise is over the target by itself: without a guard it would be cleared.
 */
const PAGES = "abcdefghijklmnopqr".split("")
const FILES = Object.fromEntries(PAGES.map((name) => [`${name}.txt`, linesOfTokens(3_000, name)]))
const PROTECTION = { steps: 1, tokens: 4_000 }
const MODEL = "openai/small"
const CALLS_PER_STEP = 3
const SUMMARY = "## Goal\nRead every page."

const READING = stepsOf(PAGES.slice(0, 12))
const READING_ON = stepsOf(PAGES.slice(12))

function stepsOf(names: readonly string[]): Step[] {
  return names.flatMap((name, index) => {
    const next = names[index + 1]
    if (index % 2 === 1 || next === undefined) return []
    return [
      { tools: [read(`${name}.txt`, name), bash(`echo "saw ${name}"`, `note-${name}`), read(`${next}.txt`, next)] },
    ]
  })
}

const SETUP = {
  files: FILES,
  providers: NATIVE_PROVIDERS,
  defaultModel: MODEL,
  model: { usage: fixedUsage(2_000), defaults: { compaction: { text: SUMMARY } } },
  pluginOptions: { debug: true, models: KNOWN_LIMITS, dtc: protecting(PROTECTION) },
  config: { compaction: { preserve_recent_tokens: 16_000 } },
  timeoutMs: 220_000,
}

/** How a session comes to its compaction; the script for the work after it is in place. */
const ways: Record<string, (scenario: Scenario, sessionID: string) => Promise<unknown>> = {
  "by hand": async ({ host, model, runTurn }, id) => {
    model.script("main", [...READING, { text: "Read." }, ...READING_ON], id)
    await runTurn(id, "Read all pages.")
    await host.summarize(id, MODEL)
    await runTurn(id, "Read on.")
  },
  automatic: async ({ model, runTurn }, id) => {
    const [last, ...earlier] = READING.toReversed()
    model.script("main", [...earlier.toReversed(), { ...last, usage: PRESSURE }, ...READING_ON], id)
    await runTurn(id, "Read all pages.")
  },
  "after an overflow": async ({ model, runTurn }, id) => {
    const refusal: Step = { fail: { status: 400, body: openaiReply.overflowBody(30_000, 20_000) } }
    model.script("main", [...READING, { text: "Read." }, refusal, ...READING_ON], id)
    await runTurn(id, "Read all pages.")
    await runTurn(id, "Read on.")
  },
}

test(
  "Compaction guard: no summary is given a placeholder, by hand, automatic or after an overflow",
  { timeout: 240_000 },
  async () => {
    await playScenario(SETUP, async (scenario) => {
      for (const [way, compact] of Object.entries(ways)) {
        const { id } = await scenario.host.createSession(way)
        await compact(scenario, id)
        await assertGuarded(scenario, id, way)
      }
    })
  },
)

async function assertGuarded(scenario: Scenario, id: string, way: string): Promise<void> {
  const { host, model } = scenario
  const stored = await host.readMessages(id)
  assertAllSucceeded(stored, idsOf([...READING, ...READING_ON].flatMap(({ tools = [] }) => tools)))
  assert.equal(model.countUnusedSteps("main", id), 0, way)
  const requests = model.requests.filter(({ sessionID }) => sessionID === id)
  const [summary, ...more] = requests.filter(({ lane }) => lane === "compaction")
  assert.ok(
    summary !== undefined && more.length === 0,
    `${way}: ${summary === undefined ? 0 : 1 + more.length} summaries`,
  )
  const before = requests.findLast(({ number, lane }) => number < summary.number && lane === "main")
  const [first, ...later] = requests.filter(({ number, lane }) => number > summary.number && lane === "main")
  assert.ok(before !== undefined && first !== undefined)

  const pages = findToolParts(stored).slice(0, READING.length * CALLS_PER_STEP)
  const retained = pages.filter((part) => findToolCalls(first).some(({ callID }) => callID === part.callID))
  const summarised = pages.filter((part) => !retained.includes(part))
  const cleared = new Set(findClearedCallIDs(before))
  assertWire(
    before,
    summarised.some(({ callID }) => cleared.has(callID)),
    `${way}: something to summarise was cleared`,
  )
  assert.deepEqual(
    assertFaithfulSummary(summary, stored),
    summarised.map(({ callID }) => callID),
    `${way}: the summary is given what is not retained`,
  )
  assert.ok(retained.length > 0, `${way}: no tail was retained`)
  assertSummaryStandsFirst(first)
  assert.ok(
    [first, ...later].some((request) => findClearedCallIDs(request).length > 0),
    `${way}: nothing was cleared after the compaction`,
  )
  await accountFor(scenario, id, PROTECTION)
}

/** Created last, and yet before the older messages that the host retained. */
function assertSummaryStandsFirst(request: ModelRequest): void {
  const messages = readMessages(request).filter(({ role }) => role !== "system")
  const summary = messages.findIndex(({ text }) => text.includes(SUMMARY))
  const firstCall = messages.findIndex(({ calls }) => calls.length > 0)
  assertWire(request, summary >= 0 && summary < firstCall, "the summary stands before the retained tail")
}
