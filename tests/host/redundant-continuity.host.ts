import assert from "node:assert/strict"
import { test } from "node:test"
import {
  assertChecks,
  checkAtSummary,
  checkSlowCommand,
  findFailures,
  findIdleFaults,
  playSlowToolDuringCompaction,
  PRESSURE,
  type Play,
} from "./continuity-checks.ts"
import { TracedCommand } from "./continuity-commands.ts"
import { findRuntimes, nativeMode, NATIVE_PROVIDERS } from "./continuity-setup.ts"
import { findClearedCallIDs, findToolResult, type ModelRequest } from "./model-request.ts"
import { bash, fixedUsage, idsOf, oneByOne, read, type ScriptedCall, type Step } from "./model-script.ts"
import { playScenario } from "./scenario.ts"
import { accountFor } from "./session-account.ts"
import { linesOfTokens } from "./small-window.ts"
import { findToolParts, type StoredMessage } from "./stored.ts"
import { assertSummarySaw } from "./summary-claims.ts"
import { assertAllSucceeded, assertSentInFull, assertStoredUnchanged } from "./wire-assertions.ts"

/*
 * 64,000 less 4,000 make a budget of 60k tokens and a target of 42k. Up to "g" the outputs are 45k, and a copy of
 * repeated.txt frees 5k. The newest four reads are 15k, so that the third copy is protected too.
 */
const FILES = {
  "unique.txt": linesOfTokens(3_000, "unique"),
  "repeated.txt": linesOfTokens(5_000, "repeated"),
  ...Object.fromEntries("abcdef".split("").map((name) => [`${name}.txt`, linesOfTokens(4_000, name)])),
  "g.txt": linesOfTokens(3_000, "g"),
}

const page = (name: string): ScriptedCall => read(`${name}.txt`, name)
const notes = (from: number, to: number): ScriptedCall[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).map((number) =>
    bash(`echo "note ${number}"`, `note-${number}`),
  )

const LOOKING: Step[] = [
  ...oneByOne([page("unique"), read("repeated.txt", "copy-1"), ...notes(1, 1), read("repeated.txt", "copy-2")]),
  ...oneByOne("abc".split("").map(page)),
  ...oneByOne([
    read("repeated.txt", "copy-3"),
    ..."de".split("").map(page),
    ...notes(2, 2),
    ..."fg".split("").map(page),
  ]),
  { tools: notes(3, 6) },
  { tools: notes(7, 9) },
]

const GOING_ON: Step[] = [
  ...oneByOne([read("a.txt", "a-again"), ...notes(10, 11)]),
  { tools: notes(12, 18) },
  ...oneByOne([read("unique.txt", "unique-again")]),
]

for (const mode of ["AI SDK", "Native LLM"])
  test(
    `Redundant continuity, ${mode} mode: 32 tools, an old copy goes, the work goes on`,
    { timeout: 240_000 },
    async () => {
      const setup = {
        files: FILES,
        providers: NATIVE_PROVIDERS,
        defaultModel: "openai/standard",
        model: { usage: fixedUsage(2_000) },
        pluginOptions: { debug: true },
        // Without a retained tail the summary is given everything, the slow command included.
        config: { compaction: { tail_turns: 0 } },
        env: mode === "Native LLM" ? nativeMode : {},
        timeoutMs: 220_000,
      }
      await playScenario(setup, async (scenario) => {
        const { host, model, home, runTurn } = scenario
        const { id } = await host.createSession()
        const slow = TracedCommand.slow(home, "slow")
        model.script("main", [...LOOKING, ...slowStepUnderPressure(slow, mode), ...GOING_ON])
        model.script("compaction", [{ text: "## Goal\nGo on.", delayMs: 2_000 }])
        const turn = runTurn(id, "Look at everything, then note what you see.")
        const [checks, beforeSummary] = await Promise.all([
          checkAtSummary(scenario, id, slow),
          readCompletedAtSummary(scenario),
          turn,
        ])
        const requests = await turn
        const stored = await host.readMessages(id)

        assert.deepEqual(findRuntimes(host), [mode === "Native LLM" ? "native" : "ai-sdk"])
        assertChecks([...checks, ...checkSlowCommand(slow, stored)])
        assert.equal(findToolParts(stored).length, 32)
        const looked = idsOf(LOOKING.flatMap(({ tools = [] }) => tools))
        assertAllSucceeded(stored, [...looked, "slow", ...idsOf(GOING_ON.flatMap(({ tools = [] }) => tools))])
        assert.deepEqual(await findIdleFaults(host, id, requests), [])
        assert.equal(model.countUnusedSteps("main"), 0)
        assertOneRequestClearedAnOldCopy(requests, stored)
        const summaries = requests.filter((request) => request.lane === "compaction")
        assert.equal(summaries.length, 1)
        for (const summary of summaries) assertSummarySaw(summary, stored, [...looked, "slow"])
        await accountFor(scenario, id)
        assertStoredUnchanged(beforeSummary, stored)
      })
    },
  )

/**
 * In its AI SDK mode the host lets a running tool settle before it compacts. In its Native LLM mode it aborts the tool,
 * with the plugin or without, so there the pressure comes with the sentence after the command.
 */
function slowStepUnderPressure(slow: TracedCommand, mode: string): Step[] {
  if (mode === "AI SDK") return [{ tools: [slow.call], usage: PRESSURE }]
  return [{ tools: [slow.call] }, { text: "The slow command has ended.", usage: PRESSURE }]
}

async function readCompletedAtSummary({ host, model }: Play): Promise<StoredMessage[]> {
  const { sessionID } = await model.waitForRequest("for a summary", ({ lane }) => lane === "compaction", 150_000)
  const stored = await host.readMessages(sessionID)
  return stored.filter(({ info }) => info.role === "assistant" && info.time.completed !== undefined)
}

function assertOneRequestClearedAnOldCopy(requests: readonly ModelRequest[], stored: readonly StoredMessage[]): void {
  const request = requests.find(
    (one) => findClearedCallIDs(one).includes("copy-1") && findToolResult(one, "unique")?.placeholder === false,
  )
  assert.ok(request !== undefined, "no request without the oldest copy and with the unique output")
  for (const callID of ["unique", "copy-3", "f"]) assertSentInFull(request, callID, stored)
}

test(
  "Redundant continuity, Native LLM mode: a tool under pressure ends as it does without the plugin",
  { timeout: 240_000 },
  async () => {
    const setup = {
      providers: NATIVE_PROVIDERS,
      defaultModel: "openai/standard",
      config: { compaction: { tail_turns: 0 } },
      env: nativeMode,
    }
    const [failedWith, failedWithout] = await Promise.all([
      playScenario(setup, async (scenario) => findFailures(await playSlowToolDuringCompaction(scenario))),
      playScenario({ ...setup, plugins: [] }, async (scenario) =>
        findFailures(await playSlowToolDuringCompaction(scenario)),
      ),
    ])
    assert.deepEqual(failedWith, failedWithout)
  },
)
