import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { projectMessages } from "../../lib/dtc/engine.ts"
import { replayRequests, type ReplayedRequest, type ReplayOptions } from "../../lib/dtc/replay.ts"
import type { Message, Policy, ProjectOptions } from "../../lib/dtc/types.ts"
import { readHistory } from "../../lib/dtc/wire.ts"
import { histories, projectOptions } from "../helpers/arbitraries.ts"
import { cutAtRequests, windowOf } from "../helpers/growth.ts"
import {
  assistant,
  bash,
  clearedTargets,
  compaction,
  DEFAULT_POLICY,
  failed,
  MODEL,
  read,
  reportedStep,
  session,
  step,
  tokens,
  tool,
  user,
  userParts,
} from "../helpers/history.ts"
import { checkProjection } from "../helpers/laws.ts"

const STABLE: Policy = {
  ...DEFAULT_POLICY,
  protectRecentSteps: 1,
  protectRecentTokens: 0,
  minimumSavingsTokens: 100,
  targetRatio: 0.5,
  stablePrefix: true,
  clearAtLeastRatio: 0.3,
}
const run = (messages: Message[], inputBudget: number, options: Partial<ProjectOptions> = {}) =>
  checkProjection(messages, { inputBudget, policy: STABLE, ...options })
const reads = (...names: string[]) => names.map((name) => step(read(name, tokens(1_000, name))))
const LAST = step(bash("ls", "x"))

test("what was cleared stays cleared, in the same request for the same reason, as the history grows", () => {
  const seen = { compared: 0, carried: 0, batches: 0 }
  fc.assert(
    fc.property(histories, projectOptions, (drawnMessages, drawn) => {
      const messages = drawnMessages.map(withoutLateMarks)
      const options = {
        ...drawn,
        force: false,
        now: 2 ** 50,
        model: { providerID: "lab", modelID: "lab-1" },
        policy: { ...drawn.policy, stablePrefix: true },
      }
      const views = cutAtRequests(messages).map((view) => ({
        window: windowOf(view),
        ...projectMessages(view, options),
      }))
      for (const [index, later] of views.entries()) {
        const earlier = views[index - 1]
        if (!earlier || earlier.window !== later.window) continue
        seen.compared++
        seen.carried += Math.min(1, earlier.cleared.length)
        seen.batches += later.cleared.length > earlier.cleared.length ? 1 : 0
        assert.deepStrictEqual(later.cleared.slice(0, earlier.cleared.length), earlier.cleared)
      }
    }),
    { numRuns: 600, ...(process.env["FUZZ_SEED"] && { seed: Number(process.env["FUZZ_SEED"]) }) },
  )
  for (const [kind, count] of Object.entries(seen))
    assert.ok(count > 40, `the generator hardly reaches: ${kind} (${count})`)
})

/** A mark that comes into force between two requests changes the history, so the law says nothing about it. */
function withoutLateMarks(message: Message): Message {
  const late = (part: Message["parts"][number]): boolean => JSON.stringify(part).includes('"compacted":9500')
  return { ...message, parts: message.parts.filter((part) => !late(part)) }
}

test("one fold is enough: the first repeated read goes, the unique one stays, also with a stable prefix", () => {
  const messages = session(user("go"), ...reads("unique", "same", "same", "same"), LAST, LAST)
  const { cleared } = run(messages, 7_600)
  assert.deepEqual(
    cleared.map(({ reason, callID }) => [reason, callID]),
    [["redundant", "call_0002_0001"]],
  )
})

test("a first redundant copy goes as soon as it suffices; later ones wait until they are worth a batch", () => {
  const { cleared } = run(session(user(tokens(3_500)), ...reads(...Array<string>(9).fill("same"))), 10_000)
  assert.deepEqual(
    cleared.map(({ reason, requestIndex }) => [reason, requestIndex]),
    [2, 4, 4, 6, 6, 8, 8].map((request) => ["redundant", request]),
  )
})

test("a batch frees enough or waits", () => {
  const grown = (count: number) =>
    session(user("go"), ...reads(...Array.from({ length: count }, (_, index) => `f${index}`)), LAST)
  const sizes = [9, 10, 11, 12, 13, 14, 15].map((count) => clearedTargets(run(grown(count), 20_000).messages).length)
  assert.deepEqual(sizes, [0, 5, 5, 5, 5, 5, 10], "over 10,000: down to 5,500, and again when that is used up")
  const seed = { ...STABLE, stablePrefix: false }
  assert.deepEqual(
    [9, 10, 11, 12].map((count) => clearedTargets(run(grown(count), 20_000, { policy: seed }).messages).length),
    [0, 1, 2, 3],
  )
})

test("a plan that frees too little waits, unless the request exceeds the whole budget and the plan brings it inside", () => {
  const talk = (count: number) => user(tokens(count))
  const waiting = session(talk(4_500), ...reads("a"), LAST)
  assert.equal(run(waiting, 10_000).cleared.length, 0, "5,500 of a target of 5,000, but 1,000 is less than 1,500")
  assert.equal(run(session(talk(9_600), ...reads("a"), LAST), 10_000).cleared.length, 1, "10,600 of 10,000 come inside")
  assert.equal(
    run(session(talk(12_000), ...reads("a"), LAST), 10_000).cleared.length,
    0,
    "13,000 stay outside: nothing gained",
  )
})

test("without a least share, a stable prefix clears just enough and keeps it cleared", () => {
  const { clearAtLeastRatio: _least, ...policy } = STABLE
  const grown = (count: number) =>
    session(user("go"), ...reads(...Array.from({ length: count }, (_, index) => `f${index}`)), LAST)
  assert.deepEqual(
    [9, 10, 11, 12].map((count) => clearedTargets(run(grown(count), 20_000, { policy }).messages).length),
    [0, 1, 2, 3],
  )
})

test("redundant outputs that free next to nothing are not worth a change alone", () => {
  const small = step(read("small", tokens(150, "s")))
  const messages = session(user(tokens(4_700)), small, small, LAST)
  assert.equal(run(messages, 10_000).cleared.length, 0, "5,054 of a target of 5,000; 150 are less than 250")
  const seed = { ...STABLE, stablePrefix: false }
  assert.equal(run(messages, 10_000, { policy: seed }).cleared.length, 1)
})

test("a late duplicate changes nothing while the request is not over target", () => {
  const before = session(user("go"), ...reads("a", "b", "c"), LAST)
  const after = session(user("go"), ...reads("a", "b", "c"), ...reads("a"), LAST)
  assert.deepEqual(run(before, 20_000).cleared, [])
  assert.deepEqual(run(after, 20_000).cleared, [])
})

test("what dcp_prune cleared stays cleared, and later requests are not forced", () => {
  const prune = step(tool("dcp_prune", {}, "Scheduled"))
  const messages = session(user("go"), ...reads("a", "b"), prune, ...reads("c", "d"), LAST)
  const { messages: projected, cleared } = run(messages, 1_000_000)
  assert.deepEqual(clearedTargets(projected), ["a", "b"])
  assert.deepEqual(
    cleared.map(({ reason, requestIndex }) => [reason, requestIndex]),
    [
      ["forced", 3],
      ["forced", 3],
    ],
  )
  const refused = session(
    user("go"),
    ...reads("a"),
    step(tool("dcp_prune", {}, "", { status: "error", error: "no" })),
    LAST,
  )
  assert.equal(run(refused, 1_000_000).cleared.length, 0)
  const removed = session(...compaction(90_000), user("go"), ...reads("a", "b"), LAST)
  assert.equal(run(removed, 1_000_000).cleared.length, 0)
})

test("without a stable prefix a dcp_prune call in the history forces nothing", () => {
  const messages = session(user("go"), ...reads("a", "b"), step(tool("dcp_prune", {}, "Scheduled")), LAST)
  assert.equal(run(messages, 1_000_000, { policy: { ...STABLE, stablePrefix: false } }).cleared.length, 0)
})

test("unknown content adds nothing and drops nothing, and a request to clear waits for a size", () => {
  const image = userParts({ type: "file", mime: "image/png", url: "data:," })
  const names = Array.from({ length: 10 }, (_, index) => `f${index}`)
  const known = session(user("go"), ...reads(...names), LAST)
  const unknown = session(
    user("go"),
    ...reads(...names),
    LAST,
    image,
    ...reads("g", "h", "i", "j"),
    step(tool("dcp_prune", {}, "Scheduled")),
    LAST,
  )
  const carried = run(known, 20_000)
  assert.equal(carried.cleared.length, 5)
  const { cleared, stats } = run(unknown, 20_000)
  assert.deepEqual(cleared, carried.cleared)
  assert.equal(stats.skipped, "unknown-content")
  assert.equal(stats.foldedTools, 5)
})

test("a stored mark counts from its time on: older requests saw the full output", () => {
  const marked = (compacted: unknown) => step(read("pruned", tokens(4_000, "p"), { time: { start: 1, compacted } }))
  const history = (compacted: unknown) =>
    session(user("go"), marked(compacted), ...reads("a", "b", "c", "d", "e", "f"), LAST, LAST)
  const cleared = (compacted: unknown) =>
    clearedTargets(run(history(compacted), 20_000).messages).filter((name) => name !== "pruned")
  assert.deepEqual(cleared(1), [], "7,000 were ever sent")
  assert.deepEqual(cleared("yes"), [])
  assert.deepEqual(cleared(999_999), ["a"], "11,000 were sent: the pruned output and one more were the batch")
  const small = { ...STABLE, protectedTools: ["read"] }
  assert.equal(run(history(999_999), 20_000, { policy: small }).cleared.length, 0)
})

test("a mark that comes into force inside the recent steps moves protection back", () => {
  const policy = { ...STABLE, clearAtLeastRatio: 0, protectRecentTokens: 3_000 }
  const recent = step(read("pruned", tokens(3_000, "p"), { time: { start: 1, compacted: 999_999 } }))
  const { messages, stats } = run(session(user("go"), ...reads("a", "b", "c", "d", "e"), recent), 4_000, { policy })
  assert.deepEqual(clearedTargets(messages), ["a", "b", "pruned"])
  assert.equal(stats.protectedSteps, 4, "the placeholder alone is no 3,000 tokens")
})

test("a retained tail starts no request; it counts for size, protection and witnesses", () => {
  const tail = { ...step(read("same", tokens(1_000, "same"))), info: { time: { created: 5 } } }
  const later = (draft: ReturnType<typeof step>, created: number) => ({ ...draft, info: { time: { created } } })
  const messages = session(
    ...compaction(1_000),
    tail,
    later(step(read("same", tokens(1_000, "same"))), 2_000),
    later(LAST, 3_000),
  )
  const { cleared } = run(messages, 3_800)
  assert.deepEqual(
    cleared.map(({ reason, requestIndex }) => [reason, requestIndex]),
    [["redundant", 1]],
  )
})

test("a reminder that the host adds in memory counts in the figures, not in the decision", () => {
  const reminder = { type: "text", synthetic: true, text: `<system-reminder>\n${tokens(4_000)}</system-reminder>` }
  const messages = session(user("go"), ...reads("a", "b", "c", "d"), LAST, user("next"))
  const reminded = structuredClone(messages)
  reminded.at(-1)?.parts.push({ id: "prt_r", ...reminder })
  const [plain, with_] = [run(messages, 10_000), run(reminded, 10_000)]
  assert.deepEqual(with_.cleared, plain.cleared)
  assert.ok((with_.stats.estimatedBefore ?? 0) > (plain.stats.estimatedBefore ?? 0) + 4_000)
  const spoken = structuredClone(messages)
  spoken.at(-1)?.parts.push({ id: "prt_r", ...reminder, synthetic: false })
  assert.notDeepEqual(run(spoken, 10_000).cleared, plain.cleared)
  const lasting = structuredClone(messages)
  lasting.at(-1)?.parts.push({ id: "prt_r", ...reminder, text: reminder.text.slice(1) })
  assert.deepEqual(run(lasting, 10_000).cleared, run(spoken, 10_000).cleared, "an added text that is no reminder stays")
})

test("a fork with new ids, and an undo, get what an uninterrupted session would have got", () => {
  const names = Array.from({ length: 14 }, (_, index) => `f${index}`)
  const messages = session(user("go"), ...reads(...names), LAST)
  const renamed = JSON.parse(
    JSON.stringify(messages).replaceAll("msg_", "msg_fork").replaceAll("prt_", "prt_fork"),
  ) as Message[]
  assert.deepEqual(clearedTargets(run(renamed, 20_000).messages), clearedTargets(run(messages, 20_000).messages))
  const undone = messages.slice(0, 12)
  assert.deepEqual(
    clearedTargets(run([...undone], 20_000).messages),
    clearedTargets(run(session(user("go"), ...reads(...names.slice(0, 11))), 20_000).messages),
  )
})

test("failed and empty responses started requests too", () => {
  const failedResponse = assistant([], { error: { name: "APIError" } })
  const messages = session(user("go"), ...reads("a", "b"), failedResponse, ...reads("c"), LAST)
  const { cleared } = run(messages, 1_000, { force: true })
  assert.equal(cleared.at(-1)?.requestIndex, 5)
})

const attached = { attachments: [{ mime: "image/png", url: "https://example.com/a.png" }] }
const markedThen = { time: { start: 1, end: 2, compacted: 8_500 } }
const failedThen = failed("read", { filePath: "p" }, "no")
/** Before its mark the output was there in full; of unknown size, it kept every request from a decision. */
const beforeTheMark: [what: string, draft: ReturnType<typeof step>, requestIndex: number][] = [
  ["a text", step(read("p", "x", markedThen)), 6],
  ["a text with attachments", step(read("p", "x", { ...markedThen, ...attached })), 7],
  ["no text", step(read("p", { lines: 3 }, markedThen)), 7],
  [
    "a failure with attachments",
    step({ ...failedThen, ...attached, state: { ...(failedThen["state"] as object), ...markedThen, ...attached } }),
    6,
  ],
  [
    "attachments of a message that was never sent",
    assistant([read("p", "x", { ...markedThen, ...attached })], { error: { name: "APIError" } }),
    6,
  ],
]
for (const [what, draft, requestIndex] of beforeTheMark)
  test(`what a request saw before a stored mark: ${what}`, () => {
    const { cleared } = run(session(user("go"), draft, ...reads("a", "b", "c", "d", "e", "f"), LAST, LAST), 10_000)
    assert.deepEqual([cleared[0]?.callID, cleared[0]?.requestIndex], ["call_0002_0001", requestIndex])
  })

test("marks come into force one after the other, each before the first request that is younger", () => {
  const marked = (name: string, compacted: number) => step(read(name, tokens(3_000, name), { time: { compacted } }))
  const messages = session(user("go"), marked("p", 4_500), marked("q", 5_500), ...reads("a", "b", "c", "d"), LAST, LAST)
  assert.deepEqual(run(messages, 13_000).cleared, [], "at most 6,500 were sent at once")
})

test("exactly at target nothing changes, also where a copy could go", () => {
  const policy = { ...STABLE, targetRatio: 1, clearAtLeastRatio: 0 }
  const padded = (padding: number) => session(user("x".repeat(padding)), ...reads("same", "same"), LAST)
  const sizeOf = (messages: Message[]) =>
    readHistory(messages)?.segments.reduce((sum, { tokens: size }) => sum + size, 0)
  const messages = [1, 2, 3, 4].map(padded).find((one) => Number.isInteger(sizeOf(one)))
  assert.ok(messages)
  const size = sizeOf(messages) ?? 0
  const { cleared, stats } = run(messages, size, { policy })
  assert.deepEqual([cleared.length, stats.overBudget], [0, false])
  assert.equal(run(messages, size - 1, { policy }).cleared.length, 1)
})

test("whether a plan brings the request inside the budget is told in the request's own tokens", () => {
  const policy = { ...STABLE, calibrate: true }
  const reported = reportedStep({ input: 9_904, output: 10 }, read("a", tokens(1_000, "a")))
  const messages = session(user(tokens(9_000)), reported, LAST)
  const inside = (inputBudget: number) => run(messages, inputBudget, { policy, model: MODEL }).cleared.length
  const { estimatedBefore = 0 } = run(messages, 1_000_000, { policy, model: MODEL }).stats
  const freed = 1.1 * (1_000 - "[Old tool result content cleared]".length / 4)
  assert.equal(inside(Math.ceil(estimatedBefore - freed)), 1)
  assert.equal(inside(Math.floor(estimatedBefore - freed - 1)), 0)
})

/** Every request that the replay tells of. */
function observe(messages: Message[], options: Partial<ReplayOptions> & { policy: Policy }): ReplayedRequest[] {
  const observed: ReplayedRequest[] = []
  const history = readHistory(messages, { model: MODEL })
  assert.ok(history)
  replayRequests(history, { force: false, ...options, observe: (request) => observed.push(request) })
  return observed
}

test("every request is told of, with its size, what it lacks and what it chose itself", () => {
  const messages = session(user("go"), ...reads("a", "b", "c", "d", "e", "f"), LAST)
  const observed = observe(messages, { policy: STABLE, budgetTokens: 10_000 })
  assert.deepEqual(
    observed.map(({ index, segment, targetTokens, chosen }) => [index, segment, targetTokens, chosen.length]),
    [0, 1, 2, 3, 4, 5, 6, 7].map((index) => [index, index + 1, 5_000, index === 5 ? 3 : 0]),
  )
  const saved = observed[5]?.chosen.reduce((sum, { output }) => sum + output.savingsTokens, 0)
  assert.deepEqual(
    observed.map(({ clearedTokens }) => clearedTokens),
    [0, 0, 0, 0, 0, saved, saved, saved],
  )
  const sizes = observed.map(({ tokens: size = 0 }) => Math.round(size / 1_000))
  assert.deepEqual(sizes, [0, 1, 2, 3, 4, 2, 3, 3], "a request is told of as it goes out")
})

test("without a stable prefix only the request about to be made chooses; without a budget none does", () => {
  const messages = session(user("go"), ...reads("a", "b", "c", "d", "e", "f"), LAST)
  const chosen = (options: Parameters<typeof observe>[1]) =>
    observe(messages, options).map((request) => request.chosen.length)
  const policy = { ...STABLE, stablePrefix: false }
  assert.deepEqual(chosen({ policy, budgetTokens: 10_000 }), [0, 0, 0, 0, 0, 0, 0, 2])
  assert.deepEqual(chosen({ policy: STABLE }), [0, 0, 0, 0, 0, 0, 0, 0])
  assert.deepEqual(chosen({ policy: STABLE, force: true }), [0, 0, 0, 0, 0, 0, 0, 0])
})

test("what a request lacks counts in its own tokens, and no longer once a stored mark hides it", () => {
  const policy = { ...STABLE, calibrate: true }
  const late = (compacted: number) => read("a", tokens(1_000, "a"), { time: { start: 1, end: 2, compacted } })
  const history = (compacted: number) =>
    session(
      user("go"),
      step(late(compacted)),
      ...reads("b", "c", "d", "e"),
      reportedStep({ input: 9_000, output: 10 }, read("f", tokens(1_000, "f"))),
      ...reads("g", "h"),
      LAST,
    )
  const lacked = (compacted: number) =>
    observe(history(compacted), { policy, budgetTokens: 10_000 }).map(({ clearedTokens }) => clearedTokens)
  const saved = 1_000 - "[Old tool result content cleared]".length / 4
  const priorSlope = 1.1
  const rounded = (outputs: readonly number[]) => outputs.map((count) => Math.round(count * saved))
  assert.deepEqual(lacked(999_999).map(Math.round), [
    ...rounded([0, 0, 0, 0, 0, 3]),
    ...rounded([5, 5, 7].map((count) => count * priorSlope)),
    ...rounded([6 * priorSlope]),
  ])
  assert.deepEqual(lacked(7_500).map(Math.round), [
    ...rounded([0, 0, 0, 0, 0, 3]),
    ...rounded([4, 4, 6, 6].map((count) => count * priorSlope)),
  ])
})
