import assert from "node:assert/strict"
import test from "node:test"
import type { Policy, ProjectOptions } from "../../lib/dtc/types.ts"
import {
  bash,
  compaction,
  DEFAULT_POLICY,
  MODEL,
  read,
  reportedStep,
  session,
  step,
  text,
  tokens,
  tool,
  user,
} from "../helpers/history.ts"
import { checkProjection } from "../helpers/laws.ts"
import { honest, playCourse, type Course, type Response, type SentRequest, type Usage } from "../helpers/provider.ts"

const POLICY: Policy = {
  ...DEFAULT_POLICY,
  protectRecentSteps: 2,
  protectRecentTokens: 0,
  stablePrefix: true,
  clearAtLeastRatio: 0.3,
  calibrate: true,
}
const OPTIONS: ProjectOptions = { inputBudget: 60_000, policy: POLICY, model: MODEL }
const COURSE = { options: OPTIONS, overheadTokens: 12_000, realSlope: 1.7 }

/** Responses that each read another file of 2,000 tokens by the base estimate. */
const reads = (count: number, fields: Partial<Response> = {}, from = 0): Response[] =>
  Array.from({ length: count }, (_, index) => ({
    parts: [read(`file-${from + index}.ts`, tokens(2_000, `f${from + index}`))],
    ...fields,
  }))

const play = (drafts: Course["drafts"], course: Partial<Course> = {}) => playCourse({ ...COURSE, ...course, drafts })

/** How far the engine's size of a request was from what it really cost, as a share. */
function errorOf({ projection: { stats }, realTokens }: SentRequest): number {
  return Math.abs((stats.estimatedAfter ?? Number.NaN) - realTokens) / realTokens
}

function assertClose(requests: readonly SentRequest[], share: number): void {
  for (const [index, request] of requests.entries()) {
    const { estimatedAfter } = request.projection.stats
    assert.ok(errorOf(request) <= share, `request ${index}: ${estimatedAfter} for ${request.realTokens}`)
  }
}

/** The last request's projection, held against every law. */
function checkLast(played: ReturnType<typeof playCourse>, options: ProjectOptions = OPTIONS) {
  return checkProjection(played.messages, options)
}

test("an honest provider's sizes are met within 4 %, clears included, whatever a token of the base estimate costs", () => {
  for (const realSlope of [0.7, 1, 1.3, 1.7, 2.4])
    for (const overheadTokens of [0, 8_000, 30_000]) {
      const { requests } = play([user("go"), ...reads(40)], { realSlope, overheadTokens })
      assert.ok(requests.some(({ projection }) => projection.cleared.length > 0))
      assertClose(requests.slice(12), 0.04)
    }
})

test("clearing begins before the budget is full and not before the target, with little and with much beside the history", () => {
  for (const overheadTokens of [2_000, 30_000]) {
    const { requests } = play([user("go"), ...reads(40)], { overheadTokens })
    assert.ok(
      requests.every(({ realTokens }) => realTokens <= 60_000),
      "a request went over the budget",
    )
    const first = requests.findIndex(({ projection }) => projection.cleared.length > 0)
    const before = requests[first - 1]
    assert.ok(before && before.realTokens >= overheadTokens + (60_000 - overheadTokens) * 0.5, "cleared early")
  }
})

test("the target is a share of what the budget leaves to the history", () => {
  const { stats } = checkLast(play([user("go"), ...reads(3)], { overheadTokens: 30_000 }))
  assert.equal(stats.estimateMethod, "calibrated")
  assert.ok(Math.abs(stats.targetTokens - (30_000 + 0.7 * 30_000)) < 200, `${stats.targetTokens}`)
})

test("without a report the content alone counts", () => {
  const { stats } = checkLast(play([user("go"), ...reads(3, { usage: () => undefined })]))
  assert.deepEqual([stats.estimateMethod, stats.targetTokens], ["base", 42_000])
})

test("switched off, reports change nothing", () => {
  const played = play([user("go"), ...reads(30)])
  const { calibrate: _off, ...policy } = POLICY
  const { stats } = checkLast(played, { ...OPTIONS, policy })
  assert.deepEqual([stats.estimateMethod, stats.targetTokens], ["base", 42_000])
})

const nothing = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
const unusable: [name: string, usage: Usage][] = [
  ["missing", () => undefined],
  ["all zero", () => nothing],
  ["absurdly large", () => ({ ...nothing, input: 1e12 })],
  ["above two budgets", () => ({ ...nothing, input: 120_001 })],
  ["far below the content", (sent) => ({ ...nothing, input: Math.floor(sent / 20) })],
  ["negative", () => ({ ...nothing, input: -1 })],
  ["not a number", () => ({ ...nothing, input: "12" })],
  ["not finite", () => ({ ...nothing, input: Number.POSITIVE_INFINITY })],
  ["of another shape", () => [1, 2, 3]],
]
for (const [name, usage] of unusable)
  test(`a report that is ${name} leaves the last good one in force`, () => {
    const { requests } = play([user("go"), ...reads(5), ...reads(1, { usage }, 5), ...reads(1, { usage }, 6)])
    assertClose(requests.slice(4), 0.03)
  })

test("a single odd report is doubted, the next one confirms it or not", () => {
  const jump: Usage = (sent, written) => honest(sent + 45_000, written)
  const once = play([user("go"), ...reads(5), ...reads(1, { usage: jump }, 5)])
  assert.ok(errorOf(once.requests.at(-1)!) < 0.03, "one odd report was believed at once")
  const back = play([user("go"), ...reads(5), ...reads(1, { usage: jump }, 5), ...reads(2, {}, 6)])
  assertClose(back.requests.slice(4), 0.03)
  const twice = play([user("go"), ...reads(5), ...reads(2, { usage: jump }, 5)])
  const { realTokens, projection } = twice.requests.at(-1)!
  const difference = Math.abs((projection.stats.estimatedAfter ?? 0) - (realTokens + 45_000))
  assert.ok(difference < 3_000, `two reports that agree were not believed: ${difference}`)
})

test("only a total: the response is not part of what was sent", () => {
  const usage: Usage = (sent, written) => ({ ...nothing, output: written, total: sent + written })
  assertClose(play([user("go"), ...reads(12, { usage })]).requests.slice(4), 0.03)
})

test("the message's own tokens stand in where the step reports none", () => {
  const { messages, requests } = play([user("go"), ...reads(6)])
  for (const { info, parts } of messages) {
    const finish = parts.find(({ type }) => type === "step-finish")
    if (!finish) continue
    info["tokens"] = finish["tokens"]
    delete finish["tokens"]
  }
  const { stats } = checkProjection(messages, OPTIONS)
  assert.deepEqual(stats, requests.at(-1)?.projection.stats)
})

test("cached tokens that a provider counts inside the input are not counted twice", () => {
  const usage: Usage = (sent, written) => ({
    ...nothing,
    input: sent,
    output: written,
    cache: { read: Math.floor(sent * 0.9), write: 0 },
  })
  const first: Usage = (sent, written) => ({ ...nothing, input: sent, output: written })
  const { requests } = play([user("go"), ...reads(1, { usage: first }), ...reads(14, { usage }, 1)])
  assertClose(requests.slice(4), 0.04)
})

test("another model's reports do not count; back on the first model, its last one does", () => {
  const other = { info: { providerID: "lab", modelID: "lab-2" }, usage: () => ({ ...nothing, input: 3_000 }) }
  const played = play([user("go"), ...reads(5), ...reads(3, other, 5)])
  assert.ok(errorOf(played.requests.at(-1)!) < 0.05)
  const { stats } = checkLast(played, { ...OPTIONS, model: { providerID: "lab", modelID: "lab-3" } })
  assert.equal(stats.estimateMethod, "base")
})

test("what responses wrote counts by their reports, unless the figure cannot be believed", () => {
  const parts = [text("x".repeat(8_000)), bash("ls", "a")]
  const grow = (output: number) => {
    const usage = (sent: number): object => ({ ...nothing, input: sent, output })
    const [before, after] = play([user("go"), { parts, usage }], { realSlope: 1 }).requests
    return (after?.projection.stats.estimatedAfter ?? 0) - (before?.realTokens ?? 0)
  }
  assert.ok(Math.abs(grow(3_000) - 3_000) < 40, "a reported output of 3,000 tokens")
  assert.ok(grow(10) > 2_000, "an output of 10 tokens for 8,000 bytes is an unfinished count")
})

test("an older report covers content of unknown size, a newer one of unknown size is not covered", () => {
  const image = { type: "file", mime: "image/png", url: "https://example.com/a.png" }
  const unknown = checkProjection(session(user("go", {}, image), step(bash("ls", "a"))), OPTIONS)
  assert.equal(unknown.stats.skipped, "unknown-content")
  const reported = (...more: Parameters<typeof session>) =>
    checkProjection(
      session(
        user("go", {}, image),
        step(read("a.ts", tokens(2_000))),
        reportedStep({ input: 9_000, output: 40 }, bash("ls", "a")),
        ...more,
      ),
      OPTIONS,
    )
  const covered = reported()
  assert.equal(covered.stats.skipped, undefined)
  assert.ok((covered.stats.estimatedAfter ?? 0) >= 9_000 && (covered.stats.estimatedAfter ?? 0) < 9_500)
  assert.equal(reported(user("more", {}, image)).stats.skipped, "unknown-content")
})

test("when covered content of unknown size goes, its report says nothing any more", () => {
  const shot = read("a.png", tokens(800), { attachments: [{ mime: "image/png", url: "https://x/a.png" }] })
  const marked = { ...(shot["state"] as object), time: { start: 1, end: 2, compacted: 4_500 } }
  const answered = reportedStep({ input: 30_000, output: 40 }, bash("a", "a"))
  const messages = session(user("go"), step({ ...shot, state: marked }), answered, user("and"), step(bash("b", "b")))
  const { stats } = checkProjection([...messages], OPTIONS)
  assert.deepEqual([stats.estimateMethod, stats.skipped], ["base", undefined])
  assert.ok((stats.estimatedAfter ?? Infinity) < 1_000)
})

test("a report before the host's own mark describes the output in full", () => {
  const { messages } = play([user("go"), ...reads(8)])
  const before = checkProjection(messages, OPTIONS).stats.estimatedAfter ?? 0
  const marked = structuredClone(messages)
  for (const { parts } of marked.slice(1, 4))
    for (const part of parts)
      if (part.type === "tool") (part["state"] as { time: Record<string, number> }).time["compacted"] = 9_500
  const after = checkProjection(marked, OPTIONS).stats.estimatedAfter ?? 0
  assert.ok(Math.abs(before - after - 3 * 2_000 * 1.7) < 600, `${before} ${after}`)
})

test("just installed: a session that was sent whole is not cleared more than its size asks for", () => {
  const played = play([user("go"), ...reads(14)], { handles: (request) => request >= 14 })
  const last = played.requests.at(-1)!
  assert.ok(last.projection.cleared.length > 0)
  assert.ok(errorOf(last) < 0.04, `${last.projection.stats.estimatedAfter} for ${last.realTokens}`)
  checkLast(played)
})

test("a request that the plugin skipped counts as sent whole, the next ones as cleared again", () => {
  const skipped = play([user("go"), ...reads(30)], { handles: (request) => request !== 24 })
  assertClose(skipped.requests.slice(4, 24), 0.03)
  assertClose(skipped.requests.slice(25), 0.05)
  checkLast(skipped)
})

test("a foreign export, sent whole to its end, is sized as this plugin would send it", () => {
  const foreign = play([user("go"), ...reads(16)], { handles: () => false })
  const { stats, messages } = checkLast(foreign)
  const content = checkProjection(messages, { ...OPTIONS, policy: { ...POLICY, calibrate: false } }).stats
    .estimatedAfter
  const real = 12_000 + 1.7 * (content ?? 0)
  assert.ok(Math.abs((stats.estimatedAfter ?? 0) - real) / real < 0.05, `${stats.estimatedAfter} for ${real}`)
})

test("a retained tail's reports belong to the window before", () => {
  const tail = reportedStep({ input: 58_000, output: 40 }, read("tail.ts", tokens(2_000)))
  const messages = session(...compaction(50_000), { ...tail, info: { time: { created: 40_000 } } })
  const { stats } = checkProjection(messages, OPTIONS)
  assert.deepEqual([stats.estimateMethod, stats.foldedTools], ["base", 0])
  const later = { ...reportedStep({ input: 9_000, output: 40 }, bash("ls", "a")), info: { time: { created: 60_000 } } }
  const grown = checkProjection([...messages, ...session(later)], OPTIONS)
  assert.equal(grown.stats.estimateMethod, "calibrated")
  assert.ok((grown.stats.estimatedAfter ?? 0) < 9_300)
})

test("without a stable prefix too, sizes are met and clearing stops at the target", () => {
  const { stablePrefix: _on, clearAtLeastRatio: _ratio, ...policy } = POLICY
  const options = { ...OPTIONS, policy }
  const played = play([user("go"), ...reads(40)], { options })
  assertClose(played.requests.slice(4), 0.12)
  const last = played.requests.at(-1)!
  assert.ok(last.realTokens > 30_000 && last.realTokens < 60_000, `${last.realTokens}`)
  checkLast(played, options)
})

const { stablePrefix: _stable, clearAtLeastRatio: _least, ...MOMENTARY } = { ...POLICY, protectRecentSteps: 1 }
const fourReads = ["a", "b", "c", "d"].map((name) => step(read(name, tokens(1_000, name))))

test("without a usable budget no earlier request was cleared, however small its report", () => {
  const reported = reportedStep({ input: 1_300, output: 10 }, bash("ls", "a"))
  const { stats } = checkProjection(session(user("go"), ...fourReads, reported), {
    inputBudget: Number.NaN,
    policy: MOMENTARY,
    model: MODEL,
  })
  assert.deepEqual([stats.estimateMethod, stats.skipped], ["calibrated", "invalid-budget"])
  assert.ok((stats.estimatedAfter ?? Infinity) < 1_400, `${stats.estimatedAfter}`)
})

test("without a stable prefix, a request that dcp_prune asked for was cleared of everything, the next one of nothing", () => {
  const prune = step(tool("dcp_prune", {}, "Scheduled"))
  const reported = reportedStep({ input: 1_300, output: 10 }, bash("ls", "a"))
  const { stats } = checkProjection(session(user("go"), ...fourReads, prune, reported), {
    inputBudget: 1_000_000,
    policy: MOMENTARY,
    model: MODEL,
  })
  assert.ok(Math.abs((stats.estimatedAfter ?? 0) - (1_300 + 1.1 * 4_000)) < 100, `${stats.estimatedAfter}`)
})
