/**
 * `npm run test:host:pressure`, `npm run test:host:contract`: one stage of the real-host suite, each under nine minutes on two
 * cores. A scenario file that belongs to no stage, and a stage in which no test ran, are failures.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const STAGES: Readonly<Record<string, readonly string[]>> = {
  pressure: ["auto-compaction", "estimate", "hard-limit", "long-task", "redundant-continuity", "stable-prefix"],
  contract: [
    "both-wires",
    "coexistence",
    "compaction-guard",
    "explain",
    "native-llm",
    "nested-instructions",
    "parallel-tools",
    "prune-tool",
    "restart",
    "session-api",
    "soak",
    "source-map",
    "subagent",
    "wire",
  ],
}
const SUFFIX = ".host.ts"
const directory = path.dirname(fileURLToPath(import.meta.url))

process.exitCode = runStage(process.argv[2] ?? "")

function runStage(stage: string): number {
  const names = STAGES[stage]
  if (!names) return complain(`usage: stage.ts ${Object.keys(STAGES).join("|")}`)
  const homeless = findHomeless()
  if (homeless.length > 0) return complain(`in no stage: ${homeless.join(", ")}`)
  mkdirSync("coverage", { recursive: true })
  const report = `coverage/host-${stage}.tap`
  const reporters = ["spec", "stdout", "tap", report].map(
    (value, index) => `--test-reporter${index % 2 ? "-destination" : ""}=${value}`,
  )
  const files = names.map((name) => path.join(directory, `${name}${SUFFIX}`))
  const { status } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--test", "--test-concurrency=1", ...reporters, ...files],
    { stdio: "inherit" },
  )
  if (status !== 0) return status ?? 1
  return /^# pass [1-9]/m.test(readFileSync(report, "utf8")) ? 0 : complain("no host test ran")
}

function findHomeless(): string[] {
  const placed = new Set(Object.values(STAGES).flat())
  const scenarios = readdirSync(directory).filter((file) => file.endsWith(SUFFIX))
  return scenarios.map((file) => file.slice(0, -SUFFIX.length)).filter((name) => !placed.has(name))
}

function complain(message: string): number {
  console.error(message)
  return 1
}
