/**
 * What Stryker runs once for each mutant, bundled with the instrumented engine: the engine's tests in one process, the likely
 * and quick ones first, until one fails. Verdicts are kept, so that a run that was cut off goes on where it stopped.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { beginFile, registered, type RegisteredTest } from "./registry.ts"
import { appendVerdict, readVerdicts, type Verdict } from "./verdicts.ts"
import { Watch } from "./watch.ts"

/** A test as the run without a mutant saw it. */
interface KnownTest {
  file: string
  /** Among the file's tests: names may repeat. */
  index: number
  name: string
  durationMs: number
}

/** A test that takes longer than this and than so many times its usual duration hangs. */
const HANGS = { leastMs: 4_000, times: 10 } as const
/** Its tests take seconds and say nothing about other files. */
const ONLY_FOR_ITSELF = "plain"
/** Kills that a test is credited with before it has any. */
const CREDIT = { sameName: 1, other: 0.1 } as const

const { MUTANTS_ROOM: room = ".", MUTANTS_FILE: mutated = "", __STRYKER_ACTIVE_MUTANT__: mutant } = process.env
const verdictsFile = path.join(room, "verdicts.jsonl")
const testsFile = path.join(room, "tests.json")
const { mock } = process.getBuiltinModule("node:test")

void (mutant === undefined ? learnTests() : tryMutant(mutant))

/** Without a mutant every test passes, or the process fails. */
async function learnTests(): Promise<void> {
  const tests: KnownTest[] = []
  for (const file of findTestFiles()) {
    let startedMs = performance.now()
    for (const [index, { name, run }] of (await load(file)).entries()) {
      await run({ mock })
      mock.restoreAll()
      tests.push({ file, index, name, durationMs: Math.round(performance.now() - startedMs) })
      startedMs = performance.now()
    }
  }
  writeFileSync(testsFile, JSON.stringify(tests))
}

/** Answers by the exit code, as Stryker reads it. */
async function tryMutant(id: string): Promise<void> {
  const verdicts = readVerdicts(verdictsFile)
  const known = verdicts.get(id)
  const verdict = known ?? (await judge(id, sortTests([...verdicts.values()])))
  if (!known) appendVerdict(verdictsFile, verdict)
  process.exit(verdict.outcome === "survived" ? 0 : 1)
}

async function judge(id: string, tests: readonly KnownTest[]): Promise<Verdict> {
  const watch = new Watch(verdictsFile, id)
  for (const known of tests) {
    watch.expect(describe(known), Math.max(HANGS.leastMs, HANGS.times * known.durationMs))
    try {
      await (await load(known.file))[known.index]?.run({ mock })
      mock.restoreAll()
    } catch {
      return { mutant: id, outcome: "killed", test: describe(known) }
    }
  }
  return { mutant: id, outcome: "survived" }
}

/** By what a test costs for each mutant of the file that it has killed so far. */
function sortTests(verdicts: readonly Verdict[]): KnownTest[] {
  const kills = new Map<string, number>()
  for (const { test } of verdicts) if (test !== undefined) kills.set(test, (kills.get(test) ?? 0) + 1)
  const rank = (test: KnownTest): number =>
    (test.durationMs + 1) / ((kills.get(describe(test)) ?? 0) + (sharesName(test) ? CREDIT.sameName : CREDIT.other))
  const tests: KnownTest[] = JSON.parse(readFileSync(testsFile, "utf8"))
  return tests.toSorted((left, right) => rank(left) - rank(right))
}

/** A file's tests; what it does when it is loaded is done once, when the first of them is asked for. */
async function load(file: string): Promise<RegisteredTest[]> {
  if (!registered.some((test) => test.file === file)) {
    beginFile(file)
    await import(`../dtc/${file}.test.ts`)
  }
  return registered.filter((test) => test.file === file)
}

function findTestFiles(): string[] {
  return readdirSync("tests/dtc")
    .flatMap((file) => (file.endsWith(".test.ts") ? [file.split(".")[0] ?? ""] : []))
    .filter((file) => file !== ONLY_FOR_ITSELF || file === mutated)
}

function sharesName({ file }: KnownTest): boolean {
  return file.split("-")[0] === mutated.split("-")[0]
}

function describe({ file, name }: KnownTest): string {
  return `${file}: ${name}`
}
