import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import type { Report } from "../../lib/cli/types.ts"
import { run } from "./executables.ts"
import { bash, call, oneByOne, read, type Step } from "./model-script.ts"
import { readPluginLog } from "./plugin-log.ts"
import { pluginByFile, PROJECT_ROOT } from "./plugin.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { filesOfTokens, NO_COMPACTION, PRESSURE_OPTIONS, providerWith, SMALL_LIMIT } from "./small-window.ts"
import { findToolParts } from "./stored.ts"
import { until } from "./wait.ts"

/*
 * Reads of 4,000 tokens against a target of 24,000: the first window clears by pressure, a repeated read and a call of
 * dcp_prune included; after the summary the second one does so again.
 */
const FIRST: Step[] = [
  ...oneByOne(
    ["old-1", "old-2", "old-1", "old-3", "old-4"].map((name, index) => read(`${name}.txt`, `first-${index}`)),
  ),
  { tools: [read("old-5.txt", "both-5"), read("old-6.txt", "both-6"), bash("false", "failed")] },
  ...oneByOne([call("dcp_prune", {}, "prune"), read("old-7.txt", "first-7"), bash("echo on", "on")]),
]
const SECOND: Step[] = oneByOne(
  Array.from({ length: 9 }, (_, index) => read(`new-${index + 1}.txt`, `second-${index}`)),
)

const FILES = {
  ...filesOfTokens(7, 4_000),
  ...filesOfTokens(9, 4_000, "new"),
  ".opencode/dcp.json": JSON.stringify(PRESSURE_OPTIONS),
}

test("explain: an export says of every request what the plugin did", { timeout: 200_000 }, async () => {
  const setup = {
    files: FILES,
    providers: { scripted: providerWith("openai", { small: SMALL_LIMIT }) },
    plugins: [pluginByFile()],
    config: NO_COMPACTION,
  }
  await playScenario(setup, async (scenario) => {
    const { host, model, runTurn } = scenario
    const { id } = await host.createSession("explained")
    model.script("main", FIRST, id)
    await runTurn(id, "Look around.")
    await host.summarize(id, "scripted/small")
    model.script("main", SECOND, id)
    await runTurn(id, "Look on.")

    const report = await explain(scenario, id)
    const logged = await readProjected(scenario, id, report.requests.length)
    assert.equal(report.windows.length, 2)
    assert.deepEqual(describeRequests(report), logged.map(describeClears))
    const last = report.outputs.filter(({ window, state }) => window === 2 && state === "cleared")
    assert.deepEqual(describeClears({ cleared: last }), describeClears(logged.at(-1) ?? { cleared: [] }))
    assert.deepEqual(new Set(logged.flatMap(({ cleared }) => cleared.map(({ reason }) => reason))), REASONS)
    await until("one line in the log for each batch", 10_000, () => countNotices(host.log, id) >= report.totals.batches)
    assert.equal(countNotices(host.log, id), report.totals.batches)
    assert.equal(findToolParts(await host.readMessages(id)).length, FIRST.length + SECOND.length + 2)
  })
})

/** The session gives the plugin each reason, so that all of them are compared. */
const REASONS = new Set(["redundant", "aged", "forced"])

const countNotices = (log: string, id: string): number =>
  log.split("\n").filter((line) => /level=INFO .*message="opencode-dcp: cleared \d/.test(line) && line.includes(id))
    .length

/** Runs the built program on what the host exports, in the host's own project and environment. */
async function explain({ host, home }: Scenario, id: string): Promise<Report> {
  await host.exportSession(id)
  const { context, output } = SMALL_LIMIT
  const main = join(PROJECT_ROOT, "dist/lib/cli/main.js")
  const args = [main, "explain", home.path("tmp", `${id}.json`), "--json", "--limit", `${context},${output}`]
  const stdoutFile = home.path("tmp", "explained.json")
  const { code, stdout, stderr } = await run(process.execPath, args, { cwd: home.project, env: home.env, stdoutFile })
  assert.deepEqual([code, stderr], [0, ""])
  return JSON.parse(stdout) as Report
}

async function readProjected({ host }: Scenario, id: string, count: number) {
  return until(`${count} entries in the log`, 10_000, () => {
    const entries = readPluginLog(host.log).filter(
      ({ sessionID, skipped }) => sessionID === id && skipped === undefined,
    )
    return entries.length >= count && entries
  })
}

/** What each request is sent without: its window's batches so far. */
function describeRequests({ requests }: Report): string[][] {
  return requests.map(({ request, window }) => {
    const sent = requests.filter((one) => one.window === window && one.request <= request)
    return describeClears({ cleared: sent.flatMap(({ batch }) => batch) })
  })
}

function describeClears({ cleared }: { cleared: readonly { callID: string; reason: string }[] }): string[] {
  return cleared.map(({ callID, reason }) => `${callID} ${reason}`).toSorted()
}
