/** `npm run soak` in small, so that it still runs when it is wanted. */
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { Journal } from "./soak/journal.ts"
import { readProgress } from "./soak/progress.ts"
import { nameRun, type RunSpec } from "./soak/runs.ts"
import { playStage } from "./soak/stage.ts"
import { judge, type PlayedRun } from "./soak/verdict.ts"

const SCOPE = { seed: 0, steps: 24, sessions: 2 }
const SPECS: readonly RunSpec[] = [
  { kind: "faults", plugin: "on" },
  { kind: "faults", plugin: "off" },
]

test("Soak: a killed host, an aborted prompt, and nothing lost or broken", { timeout: 480_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "opencode-dcp-soak-"))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const runs: PlayedRun[] = []
  for (const spec of SPECS) {
    const runFolder = join(folder, nameRun(spec))
    assert.equal(await playStage({ spec, scope: SCOPE, folder: runFolder, hasTime: () => true }), true)
    const journal = new Journal(runFolder)
    runs.push({ spec, progress: readProgress(journal.readLines()), samples: journal.readSamples() })
  }
  const { violations, runs: counts } = judge(SCOPE, runs, SPECS)
  assert.deepEqual(violations, [])
  const on = counts["faults-on"]
  assert.ok(on && on.kills > 0 && on.aborts > 0 && on.cleared > 0, JSON.stringify(on))
})
