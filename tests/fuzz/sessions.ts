/** `npm run fuzz:sessions -- [--minutes N] [--seed S] [--ledger FILE] FILES`: stored sessions, as `opencode export` prints them. */
import path from "node:path"
import { parseArgs } from "node:util"
import { readSession } from "../../bench/replay/session.ts"
import { appendEntry, defaultLedger, type LedgerEntry } from "./ledger.ts"
import { checkMutatedSession } from "./mutated-session.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    ledger: { type: "string", default: defaultLedger(process.env) },
  },
})

const minutes = Number(values.minutes)
const firstSeed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
if (!(minutes > 0) || !Number.isSafeInteger(firstSeed) || positionals.length === 0) {
  console.error("Expected files of stored sessions, --minutes above 0 and an integer --seed")
  process.exitCode = 2
} else await run()

async function run(): Promise<void> {
  console.log(`seed ${firstSeed}`)
  const startedAt = new Date().toISOString()
  const startedMs = performance.now()
  const outcomes: Record<string, number> = {}
  const sessions = positionals.map((file) => ({ file, messages: readSession(file).messages }))
  let count = 0
  let failure: string | undefined
  while (failure === undefined && performance.now() - startedMs < minutes * 60_000) {
    const session = sessions[count % sessions.length]
    if (!session) break
    try {
      const outcome = await checkMutatedSession(session.messages, firstSeed + count)
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    } catch (error) {
      console.error(error)
      failure = `npm run fuzz:sessions -- --seed ${firstSeed + count} ${path.basename(session.file)}`
    }
    count++
  }
  console.log(JSON.stringify(outcomes))
  const entry: LedgerEntry = {
    startedAt,
    seconds: Math.round((performance.now() - startedMs) / 1_000),
    seed: firstSeed,
    cases: { "session-mutations": count },
    // Counted apart: they are not generated.
    histories: 0,
    fullHistories: 0,
    messages: 0,
    parts: 0,
    result: failure === undefined ? "passed" : "failed",
    ...(failure !== undefined && { failure }),
  }
  appendEntry(values.ledger, entry)
  console.log(JSON.stringify(entry))
  if (failure !== undefined) process.exitCode = 1
}
