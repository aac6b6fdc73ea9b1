import assert from "node:assert/strict"
import test from "node:test"
import type { Message, ProjectOptions } from "../../lib/dtc/types.ts"
import {
  assistant,
  bash,
  clearedTargets,
  compaction,
  DEFAULT_POLICY,
  failed,
  glob,
  grep,
  isMarked,
  pending,
  read,
  session,
  step,
  text,
  tokens,
  tool,
  toolParts,
  user,
  userParts,
} from "../helpers/history.ts"
import { checkProjection } from "../helpers/laws.ts"

/** Protection of two steps and no token minimum, so that small histories can be read at a glance. */
const SMALL = { ...DEFAULT_POLICY, protectRecentSteps: 2, protectRecentTokens: 0, minimumSavingsTokens: 100 }
const RECENT = [step(bash("ls", "a")), step(bash("pwd", "b"))]

function project(messages: Message[], inputBudget: number, options: Partial<ProjectOptions> = {}) {
  return checkProjection(messages, { inputBudget, policy: SMALL, ...options })
}

/** The marks' times, in the order of the history. */
function marksOf(messages: Message[]): number[] {
  const states = toolParts(messages)
    .filter(isMarked)
    .map((part) => part["state"] as { time: { compacted: number } })
  return states.map(({ time }) => time.compacted)
}

const uniqueThenRepeated = session(
  user("go"),
  step(read("unique.ts", tokens(1_000, "unique"))),
  step(read("same.ts", tokens(1_000, "same"))),
  step(read("same.ts", tokens(1_000, "same"))),
  step(read("same.ts", tokens(1_000, "same"))),
  ...RECENT,
)

test("one fold is enough: the first repeated read goes, the unique one stays", () => {
  const { messages, cleared, stats } = project(uniqueThenRepeated, 5_000)
  const calls = toolParts(messages)
  assert.deepEqual(calls.map(isMarked), [false, true, false, false, false, false])
  assert.deepEqual(
    cleared.map(({ reason, witnessCallID }) => [reason, witnessCallID]),
    [["redundant", calls[3]?.["callID"]]],
  )
  assert.equal(stats.redundantTools, 1)
  assert.equal(stats.overBudget, false)
})

test("more pressure takes every copy but never a protected step", () => {
  const { messages, cleared, stats } = project(uniqueThenRepeated, 100)
  assert.deepEqual(toolParts(messages).map(isMarked), [true, true, true, true, false, false])
  assert.deepEqual(
    cleared.map(({ reason }) => reason),
    ["redundant", "redundant", "aged", "aged"],
  )
  assert.equal(stats.overBudget, true)
})

test("a single task of 100 steps at a budget of 40,000: the newest four steps and 16,000 tokens stay", () => {
  const steps = Array.from({ length: 100 }, (_, index) => step(read(`file-${index}.ts`, tokens(1_200, `f${index}`))))
  const messages = session(user("one long task"), ...steps)
  const projection = checkProjection(messages, { inputBudget: 40_000, policy: DEFAULT_POLICY })
  assert.ok(projection.cleared.length > 70)
  const newest = projection.messages.slice(-14)
  assert.deepEqual(newest, messages.slice(-14), "14 steps of 1,200 tokens make 16,000")
  assert.equal(projection.stats.protectedSteps, 14)
  assert.equal(projection.stats.overBudget, false)
})

test("protection by steps when they are large, by tokens when they are small", () => {
  const large = session(user("go"), ...Array.from({ length: 6 }, (_, n) => step(read(`${n}`, tokens(9_000, `${n}`)))))
  const policy = { ...DEFAULT_POLICY, targetRatio: 0.01 }
  assert.deepEqual(clearedTargets(checkProjection(large, { inputBudget: 10_000, policy }).messages), ["0", "1"])
  const small = session(user("go"), ...Array.from({ length: 40 }, (_, n) => step(read(`${n}`, tokens(800, `${n}`)))))
  assert.equal(checkProjection(small, { inputBudget: 10_000, policy }).stats.protectedSteps, 20)
})

test("one huge recent step is protected even though the request stays over budget", () => {
  const messages = session(user("go"), step(read("a", tokens(50_000)), grep("x", tokens(50_000, "g"))))
  const { cleared, stats } = project(messages, 10_000)
  assert.equal(cleared.length, 0)
  assert.equal(stats.overBudget, true)
})

test("text-only steps count towards the protected tokens, not towards the protected steps", () => {
  const talk = assistant([text(tokens(3_000))])
  const messages = session(
    user("go"),
    step(read("old", tokens(1_000))),
    step(read("recent", tokens(1_000, "r"))),
    talk,
    talk,
  )
  const bySteps = { ...SMALL, protectRecentSteps: 1 }
  assert.deepEqual(clearedTargets(project(messages, 100, { policy: bySteps }).messages), ["old"])
  const byTokens = { ...SMALL, protectRecentSteps: 1, protectRecentTokens: 6_500 }
  assert.equal(project(messages, 100, { policy: byTokens }).stats.protectedSteps, 1)
})

test("a user's text between steps is no step and protects nothing", () => {
  const messages = session(user("go"), step(read("old", tokens(1_000))), user(tokens(20_000)), ...RECENT)
  const policy = { ...SMALL, protectRecentTokens: 500 }
  assert.equal(
    clearedTargets(project(messages, 100, { policy }).messages).length,
    0,
    "the only big step is needed for 500 tokens",
  )
  assert.deepEqual(clearedTargets(project(messages, 100).messages), ["old"])
})

test("parallel siblings of a protected step stay together", () => {
  const parallel = step(read("p1", tokens(1_000)), read("p2", tokens(1_000, "2")), read("p3", tokens(1_000, "3")))
  const { messages } = project(
    session(user("go"), step(read("old", tokens(1_000))), parallel, step(bash("ls", "x"))),
    100,
  )
  assert.deepEqual(clearedTargets(messages), ["old"])
})

test("a message without markers is one step; markers split a message", () => {
  const whole = assistant([read("a", tokens(1_000)), read("b", tokens(1_000, "b"))])
  const policy = { ...SMALL, protectRecentSteps: 1 }
  assert.deepEqual(clearedTargets(project(session(user("go"), whole), 100, { policy }).messages), [])
  const split = assistant([
    { type: "step-start" },
    read("a", tokens(1_000)),
    { type: "step-finish" },
    { type: "step-start" },
    read("b", tokens(1_000, "b")),
  ])
  assert.deepEqual(clearedTargets(project(session(user("go"), split), 100, { policy }).messages), ["a"])
})

test("after a compaction the retained tail may begin with an assistant, and order and ids are taken as they come", () => {
  const tail = { ...step(read("tail", tokens(1_000))), info: { id: "msg_zzz", time: { created: 5 } } }
  const messages = session(
    ...compaction(100_000),
    tail,
    user("go on", { id: "msg_aaa" }),
    step(read("new", tokens(1_000, "n"))),
    ...RECENT,
  )
  const { messages: projected, cleared } = project(messages, 2_000)
  assert.deepEqual(clearedTargets(projected), ["tail"])
  assert.deepEqual(
    projected.map(({ info }) => info.id),
    messages.map(({ info }) => info.id),
  )
  assert.equal(cleared[0]?.requestIndex, 0, "every response here is older than the summary")
})

test("requests are counted within the window: summaries and the retained tail start none, failures do", () => {
  const later = (draft: ReturnType<typeof step>, created: number) => ({
    ...draft,
    info: { ...draft.info, time: { created } },
  })
  const messages = session(
    ...compaction(1_000),
    later(step(read("tail", tokens(1_000))), 500),
    later(assistant([], { error: { name: "APIError" } }), 2_000),
    later(step(read("a", tokens(1_000, "a"))), 3_000),
    later(step(bash("x", "y")), 4_000),
    later(step(bash("x", "y")), 5_000),
  )
  const { cleared } = project(messages, 100)
  assert.deepEqual(
    cleared.map(({ requestIndex }) => requestIndex),
    [4, 4],
  )
})

test("marked outputs neither stop the scan nor change, and cost the placeholder and their input", () => {
  const marked = read("marked", tokens(5_000), { time: { start: 1, end: 2, compacted: 3 } })
  const messages = session(
    user("go"),
    step(read("a", tokens(1_000))),
    step(marked),
    step(read("b", tokens(1_000, "b"))),
    ...RECENT,
  )
  const { messages: projected, stats } = project(messages, 100, { now: 77 })
  assert.deepEqual(clearedTargets(projected), ["a", "marked", "b"])
  assert.deepEqual(marksOf(projected), [77, 3, 77])
  assert.ok((stats.estimatedBefore ?? Infinity) < 2_200)
})

test("cleared, failed and protected-by-contract copies are no witnesses", () => {
  const output = tokens(1_000)
  const copies = {
    cleared: read("f", output, { time: { compacted: 5 } }),
    failed: failed("read", { filePath: "f" }, output),
    attached: read("f", output, { attachments: [{ mime: "x/y" }] }),
    loaded: read("f", output, { metadata: { loaded: ["AGENTS.md"] } }),
    "another page": tool("read", { filePath: "f", offset: 2 }, output),
    changed: read("f", `${output}!`),
    "changed, as long as before": read("f", `!${output.slice(1)}`),
    "another tool's": tool("grep", { filePath: "f" }, output),
  }
  for (const [name, copy] of Object.entries(copies)) {
    const messages = session(user("go"), step(read("f", output)), step(copy), ...RECENT)
    const { cleared, stats } = project(messages, 100, name === "attached" ? { force: true } : {})
    if (stats.skipped) continue
    assert.notEqual(cleared[0]?.reason, "redundant", name)
  }
})

const sameLooks: [name: string, first: unknown, second: unknown][] = [
  ["read", { filePath: "a" }, { filePath: "a" }],
  ["grep", { pattern: "a", path: "src" }, { path: "src", pattern: "a" }],
  ["glob", { pattern: "*", path: null }, { path: null, pattern: "*" }],
  ["grep", { pattern: "a", more: [{ b: 1, a: 2 }] }, { more: [{ a: 2, b: 1 }], pattern: "a" }],
  ["glob", undefined, undefined],
]
for (const [name, first, second] of sameLooks)
  test(`a copy inside the protected steps is a witness, whatever the order of keys: ${name} ${JSON.stringify(first)}`, () => {
    const [early, late] = [first, second].map((input) => step(tool(name, input, tokens(1_000))))
    const { cleared } = project(session(user("go"), early!, late!, step(glob("*", "x"))), 100)
    assert.deepEqual(
      cleared.map(({ reason }) => reason),
      ["redundant"],
    )
  })

const otherLooks: [name: string, first: unknown, second: unknown][] = [
  ["grep", { pattern: "a" }, { pattern: "b" }],
  ["grep", { pattern: "a", more: [1, 2] }, { pattern: "a", more: [2, 1] }],
  ["glob", { pattern: "*", path: null }, { pattern: "*" }],
]
for (const [name, first, second] of otherLooks)
  test(`another input is another look: ${name} ${JSON.stringify(first)}`, () => {
    const [early, late] = [first, second].map((input) => step(tool(name, input, tokens(1_000))))
    const { cleared } = project(session(user("go"), early!, late!, step(glob("*", "x"))), 100)
    assert.deepEqual(
      cleared.map(({ reason }) => reason),
      ["aged"],
    )
  })

test("bash has no redundancy: a command may have changed the world", () => {
  const messages = session(user("go"), step(bash("make", tokens(1_000))), step(bash("make", tokens(1_000))), ...RECENT)
  assert.deepEqual(
    project(messages, 100).cleared.map(({ reason }) => reason),
    ["aged", "aged"],
  )
})

test("force clears every eligible output below target, says redundant before forced, and keeps protection", () => {
  const { cleared, messages } = project(uniqueThenRepeated, 1_000_000, { force: true })
  assert.deepEqual(
    cleared.map(({ reason }) => reason),
    ["redundant", "redundant", "forced", "forced"],
  )
  assert.deepEqual(toolParts(messages).slice(-2).map(isMarked), [false, false])
})

test("under target nothing changes; exactly at target nothing changes", () => {
  const messages = session(user("go"), step(read("a", tokens(1_000))), ...RECENT)
  assert.equal(project(messages, 1_000_000).cleared.length, 0)
  const size = project(messages, 1_000_000).stats.estimatedBefore ?? 0
  const policy = { ...SMALL, targetRatio: 1 }
  assert.equal(project(messages, size, { policy }).cleared.length, 0)
  assert.equal(project(messages, size - 1, { policy }).cleared.length, 1)
})

test("content of unknown size stops clearing and says so", () => {
  const unknown = [
    userParts({ type: "file", mime: "image/png", url: "data:image/png;base64,AAAA" }),
    userParts({ type: "hologram" }),
    step(
      read("x", "Image read", {
        attachments: [{ type: "file", mime: "image/png", url: "data:image/png;base64,AAAA" }],
      }),
    ),
  ]
  for (const draft of unknown) {
    const messages = session(user("go"), step(read("a", tokens(9_000))), draft, ...RECENT)
    for (const force of [false, true]) {
      const { stats, cleared } = project(messages, 1_000, { force })
      assert.equal(cleared.length, 0)
      assert.equal(stats.skipped, "unknown-content")
      assert.equal(stats.overBudget, true)
      assert.equal(stats.estimatedAfter, undefined)
    }
  }
})

test("an invalid budget clears nothing, even by force", () => {
  for (const inputBudget of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const { stats, cleared } = project(uniqueThenRepeated, inputBudget, { force: true })
    assert.equal(cleared.length, 0)
    assert.equal(stats.skipped, "invalid-budget")
    assert.ok((stats.estimatedBefore ?? 0) > 4_000)
  }
})

test("evidence that no rule may touch", () => {
  const edit = (oldString: string, newString: string) =>
    tool("edit", { filePath: "a.ts", oldString, newString }, "Edit applied successfully.", {
      metadata: { diff: tokens(900) },
    })
  const messages = session(
    user("task one"),
    step(edit("first", tokens(800, "one"))),
    step(edit("second", tokens(800, "two"))),
    step(bash("echo done > out && make", tokens(1_000, "log"), 2)),
    user("task two, unrelated"),
    step(text("conclusion of task two"), failed("read", { filePath: "gone" }, tokens(700))),
    user("back to task one"),
    step(pending("running", { command: "sleep" })),
    ...RECENT,
  )
  const { messages: projected, cleared } = project(messages, 100, { force: true })
  assert.equal(cleared.length, 0)
  assert.deepEqual(projected, messages)
})

test("the mark is `now`, else the largest time in the history, else 1", () => {
  const marks = (messages: Message[], options: Partial<ProjectOptions> = {}) =>
    marksOf(project(messages, 1_000, { force: true, ...options }).messages)
  const timeless = session(user("go"), step(read("a", tokens(1_000), { time: {} })), ...RECENT)
  for (const message of timeless) message.info["time"] = {}
  for (const part of toolParts(timeless).slice(1)) part["state"] = { ...(part["state"] as object), time: undefined }
  assert.deepEqual(marks(timeless), [1])
  assert.deepEqual(marks(timeless, { now: 42 }), [42])
  const timed = session(user("go"), step(read("a", tokens(1_000), { time: { start: 9e12, end: 1e300 } })), ...RECENT)
  assert.deepEqual(marks(timed), [9e12])
})
