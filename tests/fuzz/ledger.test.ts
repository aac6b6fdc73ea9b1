import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import path from "node:path"
import test, { type TestContext } from "node:test"
import { fileURLToPath } from "node:url"
import { appendEntry, defaultLedger, summarize, type LedgerEntry } from "./ledger.ts"

const ENTRY: LedgerEntry = {
  startedAt: "2026-12-01T00:00:00.000Z",
  seconds: 60,
  seed: 7,
  cases: { histories: 900, "full-histories": 100 },
  histories: 1_000,
  fullHistories: 100,
  messages: 5_000,
  parts: 20_000,
  result: "passed",
}

function ledgerIn(context: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "dcp-ledger-"))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return path.join(folder, "new", "fuzz.jsonl")
}

test("runs add up, and the histories of one that failed do not count", (t) => {
  const file = ledgerIn(t)
  assert.deepEqual(summarize(file)[0], "runs: 0, without a violation: 0")
  appendEntry(file, ENTRY)
  appendEntry(file, { ...ENTRY, cases: { catalogs: 50 } })
  appendEntry(file, { ...ENTRY, result: "failed", failure: "npm run fuzz -- --only histories --seed 8" })
  assert.deepEqual(summarize(file), [
    "runs: 3, without a violation: 2",
    "histories: 2000, of them at full generator size: 200",
    "messages: 10000, parts: 40000",
    "histories: 900",
    "full-histories: 100",
    "catalogs: 50",
    "minutes: 2.0",
    "failed 2026-12-01T00:00:00.000Z: npm run fuzz -- --only histories --seed 8",
  ])
})

test("the ledger lies in the user's state directory", () => {
  assert.equal(defaultLedger({ XDG_STATE_HOME: "/state" }), path.join("/state", "opencode-dcp", "fuzz.jsonl"))
  const usual = path.join(homedir(), ".local", "state", "opencode-dcp", "fuzz.jsonl")
  for (const stated of [undefined, "", "relative"]) assert.equal(defaultLedger({ XDG_STATE_HOME: stated }), usual)
})

test("a run prints its seed and leaves one line; a wrong argument is told", (t) => {
  const file = ledgerIn(t)
  const script = fileURLToPath(new URL("fuzz.ts", import.meta.url))
  const run = (...args: string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, ["--import", "tsx", script, "--ledger", file, ...args], { encoding: "utf8" })
  const passed = run("--minutes", "0.0001", "--seed", "5", "--only", "catalogs")
  assert.match(String(passed.stdout), /^seed 5\n/)
  assert.equal(passed.status, 0)
  const entry: LedgerEntry = JSON.parse(readFileSync(file, "utf8"))
  assert.deepEqual([entry.seed, entry.cases, entry.histories, entry.result], [5, { catalogs: 200 }, 0, "passed"])
  const wrong = run("--minutes", "none")
  assert.equal(wrong.status, 2)
  assert.match(String(wrong.stderr), /--minutes above 0/)
})
