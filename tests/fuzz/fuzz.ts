/** `npm run fuzz -- --minutes N [--seed S] [--only NAME] [--ledger FILE]` or `npm run fuzz -- --summary`. */
import { parseArgs } from "node:util"
import fc from "fast-check"
import { appendEntry, defaultLedger, summarize, type LedgerEntry } from "./ledger.ts"
import { PROPERTIES, type FuzzProperty, type Seen } from "./properties.ts"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    only: { type: "string" },
    ledger: { type: "string", default: defaultLedger(process.env) },
    summary: { type: "boolean", default: false },
  },
})

/** A failing case is made smaller for this long at most. */
const SHRINKING_MS = 45_000
const TOLD_EVERY_MS = 60_000

if (values.summary) console.log(summarize(values.ledger).join("\n"))
else await run()

async function run(): Promise<void> {
  const minutes = Number(values.minutes)
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
  const properties = PROPERTIES.filter(({ name }) => values.only === undefined || name === values.only)
  if (!(minutes > 0) || !Number.isSafeInteger(seed) || properties.length === 0) {
    console.error(
      `Expected --minutes above 0, an integer --seed, and --only ${PROPERTIES.map(({ name }) => name).join("|")}`,
    )
    process.exitCode = 2
    return
  }
  console.log(`seed ${seed}`)
  const startedAt = new Date().toISOString()
  const outcome = await runRounds(properties, seed, minutes * 60_000)
  const entry: LedgerEntry = { startedAt, seed, ...outcome }
  appendEntry(values.ledger, entry)
  console.log(JSON.stringify(entry))
  if (entry.result === "failed") process.exitCode = 1
}

type Outcome = Omit<LedgerEntry, "startedAt" | "seed">

/** Round after round of the property that is furthest behind its share, until the time is over or a case fails. */
async function runRounds(properties: readonly FuzzProperty[], firstSeed: number, durationMs: number): Promise<Outcome> {
  const cases: Record<string, number> = Object.fromEntries(properties.map(({ name }) => [name, 0]))
  const seen: Seen = { messages: 0, parts: 0, cleared: 0, unknown: 0 }
  const startedMs = performance.now()
  const elapsed = (): number => performance.now() - startedMs
  let toldMs = 0
  let failure: string | undefined
  for (let seed = firstSeed; failure === undefined && elapsed() < durationMs; seed++) {
    const property = nextProperty(properties, cases)
    const round = await runRound(property, seed, seen)
    failure = round.failure
    cases[property.name] = (cases[property.name] ?? 0) + round.runs
    if (elapsed() - toldMs < TOLD_EVERY_MS) continue
    toldMs = elapsed()
    console.log(
      `${Math.round(toldMs / 1_000)} s: ${JSON.stringify(cases)}, with clears ${seen.cleared}, unknown ${seen.unknown}`,
    )
  }
  const sum = (counted: (property: FuzzProperty) => boolean): number =>
    properties.filter(counted).reduce((total, { name }) => total + (cases[name] ?? 0), 0)
  return {
    seconds: Math.round(elapsed() / 1_000),
    cases,
    histories: sum(({ isHistory }) => isHistory),
    fullHistories: sum(({ isFull }) => isFull),
    messages: seen.messages,
    parts: seen.parts,
    result: failure === undefined ? "passed" : "failed",
    ...(failure !== undefined && { failure }),
  }
}

function nextProperty(properties: readonly FuzzProperty[], cases: Readonly<Record<string, number>>): FuzzProperty {
  const behind = ({ name, share }: FuzzProperty): number => (cases[name] ?? 0) / share
  return properties.reduce((first, other) => (behind(other) < behind(first) ? other : first))
}

interface Round {
  runs: number
  /** How to run it again. */
  failure: string | undefined
}

/** Prints a failure with its shrunk counterexample. */
async function runRound(property: FuzzProperty, seed: number, seen: Seen): Promise<Round> {
  const details = await fc.check(property.create(seen), {
    numRuns: property.casesPerRound,
    seed,
    interruptAfterTimeLimit: SHRINKING_MS,
  })
  const { failed, numRuns: runs } = details
  if (!failed) return { runs, failure: undefined }
  console.error(fc.defaultReportMessage(details))
  console.error(details.errorInstance)
  return { runs, failure: `npm run fuzz -- --only ${property.name} --seed ${seed}` }
}
