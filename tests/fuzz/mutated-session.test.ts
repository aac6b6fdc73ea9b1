import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import test from "node:test"
import { fileURLToPath } from "node:url"
import type { Message } from "../../lib/dtc/types.ts"
import { bash, read, reportedStep, session, step, tokens, user } from "../helpers/history.ts"
import { createDraw, mutateSession } from "./mutate.ts"
import { checkMutatedSession } from "./mutated-session.ts"

/** Larger than the budget that the check works with, so that outputs are cleared. */
function stored(): Message[] {
  const reads = Array.from({ length: 12 }, (_, index) =>
    reportedStep({ input: 900, output: 9 }, read(`${index}.ts`, tokens(6_000)), bash("npm test", "fine")),
  )
  return session(user("go"), ...reads, user("next"), step(bash("ls", "a")))
}

test("whatever is dropped, retyped, duplicated or reordered, a request is projected whole or left as it was", async () => {
  const outcomes = new Map<string, number>()
  for (let seed = 0; seed < 150; seed++) {
    const outcome = await checkMutatedSession(stored(), seed)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  assert.ok((outcomes.get("projected") ?? 0) > 20, "the mutations leave hardly anything to project")
  assert.ok(outcomes.size > 3, "the mutations hardly harm")
})

test("a seed makes the same mutations each time, another one makes others", () => {
  const mutated = (seed: number): string => {
    const messages = stored()
    mutateSession(messages, 5, createDraw(seed))
    return JSON.stringify(messages)
  }
  assert.equal(mutated(1), mutated(1))
  assert.equal(new Set(Array.from({ length: 20 }, (_, seed) => mutated(seed))).size, 20)
  assert.notEqual(mutated(1), JSON.stringify(stored()))
})

test("the script takes files and tells what became of their mutations; without files it says what it wants", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "dcp-sessions-"))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [file, ledger] = [path.join(folder, "session.json"), path.join(folder, "fuzz.jsonl")]
  writeFileSync(file, JSON.stringify({ info: {}, messages: stored() }))
  const script = fileURLToPath(new URL("sessions.ts", import.meta.url))
  const run = (...args: string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, ["--import", "tsx", script, "--ledger", ledger, ...args], { encoding: "utf8" })
  const passed = run("--minutes", "0.001", "--seed", "3", file)
  assert.equal(passed.status, 0, String(passed.stderr))
  assert.match(String(passed.stdout), /^seed 3\n/)
  const entry: { cases: Record<string, number>; histories: number } = JSON.parse(readFileSync(ledger, "utf8"))
  assert.ok((entry.cases["session-mutations"] ?? 0) > 0)
  assert.equal(entry.histories, 0)
  assert.equal(run().status, 2)
})
