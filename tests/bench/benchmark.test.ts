import assert from "node:assert/strict"
import test from "node:test"
import { runBenchmark } from "../../bench/replay/benchmark.ts"
import { renderChart } from "../../bench/replay/chart.ts"
import { renderChoices } from "../../bench/replay/choice-table.ts"
import { chooseSettings } from "../../bench/replay/choose.ts"
import { listPolicies } from "../../bench/replay/policies.ts"
import { readEngineSettings } from "../../bench/replay/settings.ts"
import { generateSessions } from "../../bench/replay/synthetic.ts"
import { renderTables } from "../../bench/replay/table.ts"
import { readWindows } from "../../bench/replay/window.ts"

const settings = readEngineSettings()
const SCOPE = { targetRatios: [0.5], minWindowTokens: 45_000 }
const readAll = () => generateSessions().flatMap((session) => readWindows(session, settings.base))

test("generated sessions are the same for the same seed, and long enough to measure", () => {
  assert.deepEqual(generateSessions(3), generateSessions(3))
  assert.notDeepEqual(generateSessions(3), generateSessions(4))
  assert.equal(readAll().length, 4)
})

test("the whole benchmark is deterministic, and never clearing is the unit", () => {
  const windows = readAll().filter(({ session }) => session === "synthetic-editing")
  const run = () => runBenchmark(windows, listPolicies(settings, []), settings.base, SCOPE)
  const result = run()
  assert.equal(JSON.stringify(run()), JSON.stringify(result))
  const [target] = result.targets
  assert.equal(target?.windows.length, 2)
  const [none, reselect] = target?.policies ?? []
  assert.equal(none?.cost["1.25/0.1"]?.relative, 1)
  assert.deepEqual([none?.measure.prefixBreaks, none?.measure.evidenceLost], [0, 0])
  assert.ok((reselect?.measure.prefixBreaks ?? 0) > 0)
  assert.equal(new Set(target?.policies.map(({ name }) => name)).size, target?.policies.length)

  const table = renderTables(result)
  const chart = renderChart(result)
  for (const { name } of target?.policies ?? []) assert.ok(table.includes(name) && chart.includes(`>${name}</text>`))
  assert.match(chart, /^<svg [^>]+>[^]+<\/svg>\n$/)
})

test("leave-one-out reports one line per session and setting", () => {
  const windows = readAll().filter(({ session }) => session !== "synthetic-reading")
  const choices = chooseSettings(windows, settings.base, SCOPE)
  assert.deepEqual(
    choices.leftOut.map(({ session }) => session),
    ["synthetic-polling", "synthetic-editing"],
  )
  assert.match(renderChoices(choices), /synthetic-editing: sketch/)
})
