/**
 * What Stryker runs once for each mutant, bundled with the instrumented engine: the engine's tests in one process, those
 * that meet the mutant, the likely and quick ones first, until one fails. Verdicts are kept, so that a run that was cut off goes on where it stopped.
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
  workMs: number
  /** Mutants whose code it runs. */
  covers: readonly string[]
}

/** What the run without a mutant tells. */
interface Knowledge {
  tests: readonly KnownTest[]
  /** Mutants whose code runs when a module is loaded: every test may meet them. */
  atLoading: readonly string[]
  /** How often each mutant's code runs. */
  hits: Readonly<Record<string, number>>
}

/** What the instrumented code keeps of itself, and reads. */
interface Instrumented {
  currentTestId?: string | undefined
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> }
  hitCount?: number
  /** Above it the mutated code throws: it loops without end. */
  hitLimit?: number
}

/** A test that takes longer than this and than so many times its work, with every run counted, hangs. */
const HANGS = { leastMs: 30_000, times: 4 } as const
/** Code that runs so many times as often as in all tests without the mutant loops without end; of what runs often, less will do. */
const LOOPS = { times: 100, mostHits: 2e8, leastTimes: 2 } as const
/** A test that takes longer and let the file's first survivors pass without ever finding a mutant is not asked about others. */
const VAIN = { leastMs: 80, survivors: 5 } as const
/** Kills that a test is credited with before it has any. */
const CREDIT = { sameName: 1, other: 0.1 } as const

const { MUTANTS_ROOM: room = ".", MUTANTS_FILE: mutated = "", __STRYKER_ACTIVE_MUTANT__: mutant } = process.env
const verdictsFile = path.join(room, "verdicts.jsonl")
const testsFile = path.join(room, "tests.json")
const instrumented: Instrumented = ((globalThis as Record<string, unknown>)["__stryker__"] ??= {})
const { mock } = process.getBuiltinModule("node:test")

void (mutant === undefined ? learnTests() : tryMutant(mutant))

/** Without a mutant every test passes, or the process fails. What a file runs when it is loaded counts for its first test. */
async function learnTests(): Promise<void> {
  const tests: KnownTest[] = []
  for (const file of findTestFiles()) {
    let startedMs = usedMs()
    for (const [index, { name, run }] of (await load(file)).entries()) {
      const key = `${file} ${index}`
      instrumented.currentTestId = key
      await run({ mock })
      instrumented.currentTestId = undefined
      mock.restoreAll()
      const covers = Object.keys(instrumented.mutantCoverage?.perTest[key] ?? {})
      tests.push({ file, index, name, workMs: Math.round(usedMs() - startedMs), covers })
      startedMs = usedMs()
    }
  }
  const { static: loading = {}, perTest = {} } = instrumented.mutantCoverage ?? {}
  const hits: Record<string, number> = {}
  for (const counts of [loading, ...Object.values(perTest)])
    for (const [id, count] of Object.entries(counts)) hits[id] = (hits[id] ?? 0) + count
  const knowledge: Knowledge = { tests, atLoading: Object.keys(loading), hits }
  writeFileSync(testsFile, JSON.stringify(knowledge))
}

/** Answers by the exit code, as Stryker reads it. */
async function tryMutant(id: string): Promise<void> {
  const verdicts = readVerdicts(verdictsFile)
  const known = verdicts.get(id)
  const verdict = known ?? (await judge(id, [...verdicts.values()]))
  if (!known) appendVerdict(verdictsFile, verdict)
  process.exit(verdict.outcome === "survived" ? 0 : 1)
}

async function judge(id: string, earlier: readonly Verdict[]): Promise<Verdict> {
  const { tests, atLoading, hits }: Knowledge = JSON.parse(readFileSync(testsFile, "utf8"))
  const meeting = atLoading.includes(id) ? tests : tests.filter(({ covers }) => covers.includes(id))
  const watch = new Watch(verdictsFile, id)
  instrumented.hitCount = 0
  instrumented.hitLimit = findHitLimit(hits[id] ?? 0)
  for (const known of sortTests(meeting, earlier)) {
    watch.expect(describe(known), Math.max(HANGS.leastMs, HANGS.times * known.workMs))
    try {
      await (await load(known.file))[known.index]?.run({ mock })
      mock.restoreAll()
    } catch {
      const outcome = instrumented.hitCount > instrumented.hitLimit ? "timeout" : "killed"
      return { mutant: id, outcome, test: describe(known) }
    }
  }
  return { mutant: id, outcome: "survived" }
}

function findHitLimit(hits: number): number {
  return Math.max(LOOPS.leastTimes * hits, Math.min(LOOPS.times * hits, LOOPS.mostHits))
}

/** By what a test costs for each mutant of the file that it has killed so far. */
function sortTests(tests: readonly KnownTest[], verdicts: readonly Verdict[]): KnownTest[] {
  const kills = new Map<string, number>()
  for (const { test } of verdicts) if (test !== undefined) kills.set(test, (kills.get(test) ?? 0) + 1)
  const survivors = verdicts.filter(({ outcome }) => outcome === "survived").length
  const isVain = (test: KnownTest): boolean =>
    survivors >= VAIN.survivors && test.workMs > VAIN.leastMs && !kills.has(describe(test))
  const rank = (test: KnownTest): number =>
    (test.workMs + 1) / ((kills.get(describe(test)) ?? 0) + (sharesName(test) ? CREDIT.sameName : CREDIT.other))
  return tests.filter((test) => !isVain(test)).toSorted((left, right) => rank(left) - rank(right))
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
  return readdirSync("tests/dtc").flatMap((file) => (file.endsWith(".test.ts") ? [file.split(".")[0] ?? ""] : []))
}

/** Of this process: what others do beside it does not count. */
function usedMs(): number {
  return process.cpuUsage().user / 1_000
}

function sharesName({ file }: KnownTest): boolean {
  return file.split("-")[0] === mutated.split("-")[0]
}

function describe({ file, name }: KnownTest): string {
  return `${file}: ${name}`
}
