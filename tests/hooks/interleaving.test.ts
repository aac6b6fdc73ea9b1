import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import type { Message } from "../../lib/dtc/types.ts"
import { answersLate, catalogWith } from "../helpers/client.ts"
import { clearedTargets } from "../helpers/history.ts"
import { longHistory, ROOMY, startInstance, type Instance } from "./instance.ts"

/** What the hooks must remember, in the fewest words: it says what each request is to become. */
interface Model {
  guarded: Set<string>
  scheduled: Set<string>
  waiting: { sessionID: string; messages: Message[]; done: Promise<void>; unknown: boolean }[]
  expected: string[]
}

interface System {
  instance: Instance
  late: ReturnType<typeof answersLate>
}

type Step = (model: Model, system: System) => Promise<void>
type Answer = "valid" | "invalid" | "refused"

const compacting =
  (sessionID: string): Step =>
  async ({ guarded }, { instance }) => {
    guarded.add(sessionID)
    await instance.compacting(sessionID)
  }

const prune =
  (sessionID: string): Step =>
  async ({ scheduled }, { instance }) => {
    scheduled.add(sessionID)
    await instance.prune(sessionID)
  }

const params =
  (sessionID: string, agent: string): Step =>
  async ({ guarded }, { instance }) => {
    if (agent === "compaction") guarded.delete(sessionID)
    await instance.params(sessionID, agent)
  }

const deleted =
  (sessionID: string): Step =>
  async ({ guarded, scheduled }, { instance }) => {
    guarded.delete(sessionID)
    scheduled.delete(sessionID)
    await instance.deleted(sessionID)
  }

const dispose: Step = async ({ guarded, scheduled }, { instance }) => {
  guarded.clear()
  scheduled.clear()
  await instance.call("dispose")
}

/** A guarded request is over at once; any other waits for the catalog. */
const begin =
  (sessionID: string, unknown: boolean): Step =>
  async (model, { instance }) => {
    const messages = longHistory(sessionID)
    if (unknown) messages[3]?.parts.push({ id: "prt_odd", type: "hologram" })
    const done = instance.transform(messages)
    if (!model.guarded.delete(sessionID)) {
      model.waiting.push({ sessionID, messages, done, unknown })
      return
    }
    model.expected.push("native-compaction")
    await done
    assert.deepEqual(clearedTargets(messages), [])
  }

/** The request that waits longest gets its answer. */
const answer =
  (kind: Answer): Step =>
  async ({ waiting, scheduled, expected }, { instance, late }) => {
    const request = waiting.shift()
    if (!request) return
    if (kind === "refused") late.refuse()
    else late.answer(kind === "valid" ? catalogWith(ROOMY) : catalogWith({ context: 0, output: 0 }))
    const outcome = expectedOutcome(kind, request.unknown, scheduled.has(request.sessionID))
    if (outcome === "forced") scheduled.delete(request.sessionID)
    expected.push(outcome)
    await request.done
    assert.deepEqual(clearedTargets(request.messages), outcome === "forced" ? ["old.ts"] : [])
    // Later than any remembered entry, so that every request waits.
    instance.advance(5_000)
  }

function expectedOutcome(kind: Answer, unknown: boolean, forced: boolean): string {
  if (kind !== "valid") return "unavailable-budget"
  if (unknown) return "unknown-content"
  return forced ? "forced" : "projected"
}

const sessions = fc.constantFrom("ses_a", "ses_b", "ses_c")
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: sessions.map(compacting) },
  { weight: 3, arbitrary: sessions.map(prune) },
  {
    weight: 2,
    arbitrary: fc.tuple(sessions, fc.constantFrom("compaction", "title", "build")).map((a) => params(...a)),
  },
  { weight: 1, arbitrary: sessions.map(deleted) },
  { weight: 1, arbitrary: fc.constant(dispose) },
  { weight: 6, arbitrary: fc.tuple(sessions, fc.constantFrom(false, false, true)).map((a) => begin(...a)) },
  { weight: 6, arbitrary: fc.constantFrom<Answer>("valid", "valid", "valid", "invalid", "refused").map(answer) },
)

test("any order of compactions, schedules, requests, answers and deletions over three sessions follows the model", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (order) => {
      const late = answersLate()
      const system: System = { late, instance: startInstance({ providers: late.endpoint }) }
      const model: Model = { guarded: new Set(), scheduled: new Set(), waiting: [], expected: [] }
      for (const step of order) await step(model, system)
      while (model.waiting.length > 0) await answer("valid")(model, system)
      assert.deepEqual(system.instance.outcomes(), model.expected)
      system.instance.fake.assertNothingWritten()
    }),
    { numRuns: 300 },
  )
})
