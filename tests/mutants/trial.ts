/**
 * What Stryker runs once for each mutant, bundled with the instrumented engine: the engine's tests in one process, those
 * named like the mutated file first and the quick before the slow, until one fails. Verdicts are kept, so that a run that
 * was cut off goes on where it stopped.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { beginFile, registered, type RegisteredTest } from "./registry.ts"
import { appendVerdict, readVerdicts, type Verdict } from "./verdicts.ts"
import { Watch } from "./watch.ts"

/** A test that takes longer than this and than so many times its usual duration hangs. */
const HANGS = { leastMs: 3_000, times: 10 } as const
const SLOW_MS = 60
/** Its tests take seconds and say nothing about other files. */
const ONLY_FOR_ITSELF = "plain"

const { MUTANTS_ROOM: room = ".", MUTANTS_FILE: mutated = "", __STRYKER_ACTIVE_MUTANT__: mutant } = process.env
const verdictsFile = path.join(room, "verdicts.jsonl")
const durationsFile = path.join(room, "durations.json")
const { mock } = process.getBuiltinModule("node:test")

void answer()

/** By the exit code, as Stryker reads it. */
async function answer(): Promise<void> {
  const verdict = readVerdicts(verdictsFile).get(mutant ?? "") ?? (await judge())
  process.exit(verdict.outcome === "survived" ? 0 : 1)
}

async function judge(): Promise<Verdict> {
  const failing = await findFailing()
  const outcome = failing === undefined ? "survived" : "killed"
  const verdict: Verdict = { mutant: mutant ?? "", outcome, ...(failing !== undefined && { test: failing }) }
  if (mutant !== undefined) appendVerdict(verdictsFile, verdict)
  return verdict
}

/** The first test that fails. Without a mutant, how long each takes is kept. */
async function findFailing(): Promise<string | undefined> {
  const usual = readDurations()
  const durations: Record<string, number> = {}
  const watch = new Watch(verdictsFile, mutant ?? "")
  let current = "loading"
  try {
    watch.expect(current, HANGS.leastMs)
    for (const { file, name, run } of await loadTests(usual)) {
      const startedMs = performance.now()
      current = `${file}: ${name}`
      watch.expect(current, Math.max(HANGS.leastMs, HANGS.times * (usual[name] ?? 0)))
      await run({ mock })
      mock.restoreAll()
      durations[name] = Math.round(performance.now() - startedMs)
    }
  } catch (error) {
    if (mutant === undefined) console.error(current, error)
    return current
  }
  if (mutant === undefined) writeFileSync(durationsFile, JSON.stringify(durations))
  return undefined
}

async function loadTests(usual: Readonly<Record<string, number>>): Promise<RegisteredTest[]> {
  const files = readdirSync("tests/dtc").flatMap((file) =>
    file.endsWith(".test.ts") ? [file.split(".")[0] ?? ""] : [],
  )
  for (const file of files.filter((name) => name !== ONLY_FOR_ITSELF || name === mutated)) {
    beginFile(file)
    await import(`../dtc/${file}.test.ts`)
  }
  const cost = ({ file, name }: RegisteredTest): number =>
    (usual[name] ?? 0) > SLOW_MS ? (usual[name] ?? 0) : sharesName(file) ? 0 : 1
  return registered.toSorted((left, right) => cost(left) - cost(right))
}

function sharesName(file: string): boolean {
  return file.split("-")[0] === mutated.split("-")[0]
}

function readDurations(): Record<string, number> {
  return existsSync(durationsFile) ? JSON.parse(readFileSync(durationsFile, "utf8")) : {}
}
