/**
 * Replays stored sessions request by request and compares what policies of clearing old tool outputs cost.
 *
 *   npm run bench:replay -- [FILES…] [--targets 0.35,0.6] [--min-window TOKENS] [--out FILE.json]
 *                           [--cache-ttl SECONDS] [--sketch RATIO,DEPTH,RELIEF[,RESCUE[,COLD]]]… [--choose]
 *
 * FILES are what `opencode export` prints or plain arrays of messages; without any, generated sessions are used. `--out`
 * writes the numbers there and a chart beside them, as `.svg`. `--choose` compares the settings of the stable prefix,
 * leaving out one session at a time. `--cache-ttl` loses the cache after so much idle time; without it, it never expires.
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { runBenchmark } from "./replay/benchmark.ts"
import { renderChart } from "./replay/chart.ts"
import { renderChoices } from "./replay/choice-table.ts"
import { chooseSettings } from "./replay/choose.ts"
import { listPolicies } from "./replay/policies.ts"
import { readSession } from "./replay/session.ts"
import { readEngineSettings } from "./replay/settings.ts"
import type { SketchChoices } from "./replay/sketch.ts"
import { generateSessions } from "./replay/synthetic.ts"
import { renderTables } from "./replay/table.ts"
import { readWindows } from "./replay/window.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    targets: { type: "string", default: "0.35,0.6" },
    "min-window": { type: "string", default: "45000" },
    out: { type: "string" },
    sketch: { type: "string", multiple: true, default: [] },
    "cache-ttl": { type: "string" },
    choose: { type: "boolean", default: false },
  },
})

const settings = readEngineSettings()
const sessions = positionals.length > 0 ? positionals.toSorted().map(readSession) : generateSessions()
const windows = sessions.flatMap((session) => readWindows(session, settings.base))
const scope = {
  targetRatios: readNumbers(values.targets),
  minWindowTokens: Number(values["min-window"]),
  cacheTtlMs: values["cache-ttl"] ? Number(values["cache-ttl"]) * 1_000 : undefined,
}

if (values.choose) {
  write(renderChoices(chooseSettings(windows, settings.base, scope)))
} else {
  const policies = listPolicies(settings, values.sketch.map(readChoices))
  const result = runBenchmark(windows, policies, settings.base, scope)
  write(renderTables(result))
  if (values.out) {
    writeFileSync(values.out, `${JSON.stringify(result, undefined, 2)}\n`)
    writeFileSync(values.out.replace(/\.json$/, "") + ".svg", renderChart(result))
  }
}

function readNumbers(list: string): number[] {
  const numbers = list.split(",").map(Number)
  if (!numbers.every((number) => number > 0)) throw new TypeError(`Expected positive numbers, not \`${list}\``)
  return numbers
}

function readChoices(list: string): SketchChoices {
  const [clearAtLeastRatio = 0, depthRatio = 1, redundantReliefRatio = 0, rescueAtLeastRatio = 0, cold] = list
    .split(",")
    .map(Number)
  const choices = { clearAtLeastRatio, depthRatio, redundantReliefRatio, rescueAtLeastRatio }
  return cold === undefined ? choices : { ...choices, coldTargetRatio: cold }
}

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}
