import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import path from "node:path"
import test, { type TestContext } from "node:test"
import { fileURLToPath } from "node:url"
import { defaultLedger, findEngineFiles, findRoom, forgetSurvivors, readResults } from "./ledger.ts"
import { countOutcomes, describeMutant, describeScores } from "./summary.ts"
import { appendVerdict, readVerdicts } from "./verdicts.ts"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
const SOURCE = "export function add(a: number, b: number): number {\n  return a + b\n}\n"

/** As Stryker reports it; a test that hangs ends itself, which Stryker takes for a failure. */
const REPORT = {
  files: {
    "lib/dtc/add.ts": {
      source: SOURCE,
      mutants: [
        mutant("0", "BlockStatement", "{}", "Killed", [1, 51], [3, 2]),
        mutant("1", "ArithmeticOperator", "a - b", "Survived", [2, 10], [2, 15]),
        mutant("2", "ArithmeticOperator", "a * b", "Killed", [2, 10], [2, 15]),
        mutant("3", "ArithmeticOperator", "a / b", "Timeout", [2, 10], [2, 15]),
      ],
    },
  },
}

function mutant(id: string, mutatorName: string, replacement: string, status: string, from: number[], to: number[]) {
  const [start, end] = [from, to].map(([line, column]) => ({ line, column }))
  return { id, mutatorName, replacement, status, location: { start, end } }
}

function folderOf(context: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "dcp-mutants-"))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function fill(room: string): void {
  mkdirSync(room, { recursive: true })
  const verdictsFile = path.join(room, "verdicts.jsonl")
  appendVerdict(verdictsFile, { mutant: "0", outcome: "killed", test: "add: adds" })
  appendVerdict(verdictsFile, { mutant: "1", outcome: "survived" })
  appendVerdict(verdictsFile, { mutant: "2", outcome: "timeout", test: "add: adds" })
  writeFileSync(path.join(room, "report.json"), JSON.stringify(REPORT))
}

test("a file's mutants are counted and told by place", (t) => {
  const room = folderOf(t)
  assert.equal(readResults(room), undefined)
  fill(room)
  const results = readResults(room) ?? []
  const score = countOutcomes("lib/dtc/add.ts", results)
  assert.deepEqual(score, { file: "lib/dtc/add.ts", mutants: 4, killed: 1, timedOut: 2, survived: 1, explained: {} })
  assert.deepEqual(
    describeScores([score, { ...score, file: "lib/dtc/none.ts", mutants: 0, survived: 0 }]).map((line) =>
      line.split(/\s{2,}/),
    ),
    [
      ["file", "mutants", "killed", "timeout", "survived", "unexplained", "score"],
      ["lib/dtc/add.ts", "4", "1", "2", "1", "1", "75.0 %"],
      ["lib/dtc/none.ts", "0", "1", "2", "0", "0", "100.0 %"],
      ["all", "4", "2", "4", "1", "1", "75.0 %"],
    ],
  )
  assert.deepEqual(results.filter(({ outcome }) => outcome === "survived").map(describeMutant), [
    "lib/dtc/add.ts:2:10 ArithmeticOperator: a + b -> a - b [unexplained]",
  ])
  assert.equal(results[0]?.original, "{ return a + b }")
})

test("a status that says nothing about the tests is no result", (t) => {
  const room = folderOf(t)
  const files = { "a.ts": { source: SOURCE, mutants: [mutant("0", "x", "", "CompileError", [1, 1], [1, 2])] } }
  writeFileSync(path.join(room, "report.json"), JSON.stringify({ files }))
  assert.throws(() => readResults(room), /CompileError/)
})

test("what survived is tried again, what was found stays found", (t) => {
  const room = folderOf(t)
  forgetSurvivors(room)
  fill(room)
  forgetSurvivors(room)
  assert.equal(existsSync(path.join(room, "report.json")), false)
  assert.deepEqual([...readVerdicts(path.join(room, "verdicts.jsonl")).keys()], ["0", "2"])
})

test("a verdict that was cut off says nothing", (t) => {
  const file = path.join(folderOf(t), "verdicts.jsonl")
  appendVerdict(file, { mutant: "0", outcome: "killed" })
  appendFileSync(file, '{"mutant":"1","outc')
  assert.deepEqual([...readVerdicts(file).keys()], ["0"])
})

test("results belong to a file's content", (t) => {
  const root = folderOf(t)
  mkdirSync(path.join(root, "lib/dtc"), { recursive: true })
  for (const name of ["b.ts", "a.ts", "types.ts", "notes.md"]) writeFileSync(path.join(root, "lib/dtc", name), name)
  assert.deepEqual(findEngineFiles(root), ["lib/dtc/a.ts", "lib/dtc/b.ts"])
  const before = findRoom("/ledger", root, "lib/dtc/a.ts")
  assert.match(before, /^\/ledger\/a-[\da-f]{12}$/)
  assert.equal(findRoom("/ledger", root, "lib/dtc/a.ts"), before)
  writeFileSync(path.join(root, "lib/dtc/a.ts"), "changed")
  assert.notEqual(findRoom("/ledger", root, "lib/dtc/a.ts"), before)
})

test("the ledger stands outside the repository, and a summary without results fails", (t) => {
  assert.equal(defaultLedger({ XDG_STATE_HOME: "/state" }), "/state/opencode-dcp/mutants")
  assert.equal(defaultLedger({}), path.join(homedir(), ".local/state/opencode-dcp/mutants"))
  const run = (...more: string[]) =>
    spawnSync(
      process.execPath,
      ["--import", "tsx", "tests/mutants/mutants.ts", "--summary", "--ledger", folderOf(t), ...more],
      { cwd: ROOT, encoding: "utf8" },
    )
  const { status, stdout } = run("select")
  assert.equal(status, 1)
  assert.match(stdout, /not tried to the end: lib\/dtc\/select\.ts/)
  assert.equal(run("nonsense").status, 2)
  const untouched = readFileSync(path.join(ROOT, "package.json"), "utf8")
  assert.doesNotMatch(untouched, /stryker/, "its packages are fetched by the command, not installed with the project")
})
