import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { describeProjection, projectMessages } from "../../lib/dtc/engine.ts"
import type { Message, Model, Source } from "../../lib/dtc/types.ts"
import { histories, projectOptions } from "../helpers/arbitraries.ts"
import {
  assistant,
  bash,
  compaction,
  DEFAULT_POLICY,
  failed,
  MODEL,
  pending,
  read,
  reasoning,
  session,
  step,
  text,
  tokens,
  tool,
  user,
  userParts,
} from "../helpers/history.ts"
import { checkProjection } from "../helpers/laws.ts"
import { checkSources } from "../helpers/source-laws.ts"

type Draft = ReturnType<typeof user>

const OPENAI: Model = { ...MODEL, npm: "@ai-sdk/openai-compatible" }
const ANTHROPIC: Model = { ...MODEL, npm: "@ai-sdk/anthropic" }
const BEDROCK: Model = { ...MODEL, npm: "@ai-sdk/amazon-bedrock" }
const START = { type: "step-start" }
const PNG = { mime: "image/png", url: "data:image/png;base64,AA==" }

const added = (words: string): Draft => userParts({ type: "text", text: words, synthetic: true })
const failedResponse = (): Draft => assistant([START, text("half")], { error: { name: "APIError" } })

/** Through every law: nothing is cleared, the map is what `describeProjection` says too. */
function mapOf(messages: Message[], model: Model = OPENAI): Source[] | undefined {
  const projection = checkProjection(messages, { inputBudget: 1e9, policy: DEFAULT_POLICY, model })
  return projection.sources
}

const rowsOf = (messages: Message[], model?: Model): string[] | undefined => mapOf(messages, model)?.map(nameRow)

/** `2.0 tool`: the results of step 0 of message 2. Rows other than history begin with their type. */
function nameRow(row: Source): string {
  const place = `${row.messageIndex}${row.step === undefined ? "" : `.${row.step}`} ${row.role}`
  return row.type === "history" ? place : `${row.type} ${place}`
}

test("a failed response keeps its index and has no row; what the host adds stands in its turn", () => {
  const messages = session(user("one"), failedResponse(), user("two"), added("context"), added("context"))
  assert.deepEqual(mapOf(messages), [
    { type: "history", messageIndex: 0, messageID: "msg_0000", role: "user" },
    { type: "history", messageIndex: 2, messageID: "msg_0002", role: "user" },
    { type: "runtime-context", messageIndex: 3, messageID: "msg_0003", role: "user", userTurn: 1 },
    { type: "runtime-context", messageIndex: 4, messageID: "msg_0004", role: "user", userTurn: 1 },
  ])
  assert.equal(describeProjection(messages, { model: OPENAI })?.historyMessageCount, 5)
})

test("each added context names the user's turn that it stands in", () => {
  const messages = session(user("one"), added("context"), failedResponse(), user("two"), added("context"))
  assert.deepEqual(
    mapOf(messages)?.map((row) => [row.type, row.messageIndex, "userTurn" in row ? row.userTurn : "-"]),
    [
      ["history", 0, "-"],
      ["runtime-context", 1, 0],
      ["history", 3, "-"],
      ["runtime-context", 4, 1],
    ],
  )
})

test("an empty prompt is a turn of the user's all the same", () => {
  const [row] = mapOf(session(userParts(), added("context"))) ?? []
  assert.deepEqual([row?.messageIndex, row?.type === "runtime-context" && row.userTurn], [1, 0])
})

test("repeated texts and equal times: rows differ by index and id alone", () => {
  const same = { time: { created: 1_000 } }
  const messages = session(
    ...Array.from({ length: 3 }, () => [
      user("same", same),
      assistant([START, text("same"), read("a", "x")], same),
    ]).flat(),
  )
  const rows = mapOf(messages) ?? []
  assert.deepEqual(rows.map(nameRow), [
    "0 user",
    "1.0 assistant",
    "1.0 tool",
    "2 user",
    "3.0 assistant",
    "3.0 tool",
    "4 user",
    "5.0 assistant",
    "5.0 tool",
  ])
  for (const { messageIndex, messageID } of rows) assert.equal(messageID, messages[messageIndex]?.info.id)
})

test("a step with tools is an assistant message and one tool message, however many calls", () => {
  const twoSteps = assistant([START, text("look"), read("a", "x"), bash("ls", "y"), START, text("done")])
  assert.deepEqual(rowsOf(session(user("go"), twoSteps)), ["0 user", "1.0 assistant", "1.0 tool", "1.1 assistant"])
})

test("a step that sends nothing has no row, and the steps after it keep their number", () => {
  const steps = assistant([START, text("a"), START, { type: "patch" }, START, text("b")])
  assert.deepEqual(rowsOf(session(user("go"), steps)), ["0 user", "1.0 assistant", "1.2 assistant"])
})

test("what is not sent has no row: empty, ignored and hidden content, responses that failed", () => {
  const messages = session(
    user("go"),
    userParts(),
    userParts({ type: "text", text: "" }, { type: "file", mime: "text/plain" }, { type: "agent", name: "x" }),
    assistant([]),
    assistant([START]),
    assistant([START, reasoning("so far")], { error: { name: "MessageAbortedError" } }),
    assistant([START, text("so far")], { error: { name: "MessageAbortedError" } }),
  )
  assert.deepEqual(rowsOf(messages), ["0 user", "6.0 assistant"])
})

test("history counts prompts, completed and failed responses, not drafts", () => {
  const count = (...drafts: Draft[]): unknown =>
    describeProjection(session(...drafts), { model: OPENAI })?.historyMessageCount
  assert.equal(count(assistant([]), user("go")), 1, "also at the start")
  assert.equal(count(), 0)
  assert.equal(count(user("go")), 1)
  assert.equal(count(user("go"), assistant([])), 1, "a response that never began")
  assert.equal(count(user("go"), assistant([START])), 1)
  assert.equal(count(user("go"), assistant([], { time: { created: 1, completed: 2 } })), 2)
  assert.equal(count(user("go"), failedResponse()), 2)
  assert.equal(count(user("go"), step(pending("running", {}))), 2, "it was cut off and is sent")
  assert.equal(count(user("go"), assistant([START, START, text("x")])), 2)
})

test("a tool without a result is repaired in the request", () => {
  const open = assistant([
    START,
    pending("pending", {}),
    START,
    bash("ls", "a"),
    pending("running", {}),
    START,
    pending("running", {}),
    pending("pending", {}),
  ])
  assert.deepEqual(
    mapOf(session(user("go"), open))?.filter(({ role }) => role === "tool"),
    [
      {
        type: "tool-repair",
        toolCallId: "call_0001_0001",
        messageIndex: 1,
        messageID: "msg_0001",
        role: "tool",
        step: 0,
        repairedCallIds: ["call_0001_0001"],
      },
      {
        type: "history",
        messageIndex: 1,
        messageID: "msg_0001",
        role: "tool",
        step: 1,
        repairedCallIds: ["call_0001_0004"],
      },
      {
        type: "tool-repair",
        toolCallId: "call_0001_0006",
        messageIndex: 1,
        messageID: "msg_0001",
        role: "tool",
        step: 2,
        repairedCallIds: ["call_0001_0006", "call_0001_0007"],
      },
    ],
  )
})

test("failed calls have results of their own", () => {
  assert.deepEqual(rowsOf(session(user("go"), step(failed("read", {}, "no such file")))), [
    "0 user",
    "1.0 assistant",
    "1.0 tool",
  ])
})

test("what the provider ran is answered inside the assistant's message", () => {
  const executed = { metadata: { providerExecuted: true } }
  const messages = session(
    user("go"),
    step({ ...pending("running", {}), ...executed }),
    step({ ...read("a", "x"), ...executed }, read("b", "y")),
  )
  assert.deepEqual(rowsOf(messages), ["0 user", "1.0 assistant", "2.0 assistant", "2.0 tool"])
  assert.deepEqual(
    mapOf(messages)?.map(({ repairedCallIds }) => repairedCallIds),
    [undefined, ["call_0001_0001"], undefined, undefined],
  )
})

test("a state that says so itself does not move a result inside", () => {
  const claimed = read("a", "x", { metadata: { providerExecuted: true } })
  assert.deepEqual(rowsOf(session(user("go"), step(claimed))), ["0 user", "1.0 assistant", "1.0 tool"])
})

test("a compaction with a retained tail: request and summary name the checkpoint and where the tail begins", () => {
  const messages = session(
    {
      role: "user",
      parts: [{ type: "compaction", auto: true, tail_start_id: "msg_0002" }],
      info: { time: { created: 9_000 } },
    },
    assistant([text("## Goal")], { summary: true, finish: "stop", parentID: "msg_0000", time: { created: 9_001 } }),
    step(bash("ls", "kept")),
    added("continue"),
    user("on"),
    added("continue"),
  )
  assert.deepEqual(mapOf(messages), [
    {
      type: "compaction",
      checkpointId: "msg_0000",
      summarizedBefore: "msg_0002",
      messageIndex: 0,
      messageID: "msg_0000",
      role: "user",
    },
    {
      type: "compaction",
      checkpointId: "msg_0000",
      summarizedBefore: "msg_0002",
      messageIndex: 1,
      messageID: "msg_0001",
      role: "assistant",
      step: 0,
    },
    { type: "history", messageIndex: 2, messageID: "msg_0002", role: "assistant", step: 0 },
    { type: "history", messageIndex: 2, messageID: "msg_0002", role: "tool", step: 0 },
    { type: "runtime-context", messageIndex: 3, messageID: "msg_0003", role: "user" },
    { type: "history", messageIndex: 4, messageID: "msg_0004", role: "user" },
    { type: "runtime-context", messageIndex: 5, messageID: "msg_0005", role: "user", userTurn: 0 },
  ])
})

test("without a tail the summary stands for all that was before its request", () => {
  const rows = mapOf(session(...compaction(5_000), user("on"))) ?? []
  assert.deepEqual(
    rows.map((row) => (row.type === "compaction" ? row.summarizedBefore : row.type)),
    ["msg_0000", "msg_0000", "history"],
  )
})

test("a summary belongs to the checkpoint that it names; under another message it is a response", () => {
  const [request = user(""), summary = user("")] = compaction(5_000)
  const named = (parentID?: string): Draft => ({ ...summary, info: { ...summary.info, ...(parentID && { parentID }) } })
  const checkpoints = (...drafts: Draft[]): unknown =>
    mapOf(session(...drafts))?.map((row) => (row.type === "compaction" ? row.checkpointId : row.type))
  assert.deepEqual(checkpoints(request, request, named("msg_0000")), ["msg_0000", "msg_0001", "msg_0000"])
  assert.deepEqual(checkpoints(request, request, named()), ["msg_0000", "msg_0001", "msg_0001"])
  assert.deepEqual(checkpoints(request, user("x"), named("msg_0001")), ["msg_0000", "history", "history"])
  assert.deepEqual(checkpoints(user("x"), named()), ["history", "history"])
})

const withMedia = (...attachments: unknown[]): Message[] =>
  session(user("go"), assistant([START, read("a.png", "Image read", { attachments }), START, text("seen")]), user("on"))

test("media of a tool result goes where the provider can take it", () => {
  const inside = ["0 user", "1.0 assistant", "1.0 tool", "1.1 assistant", "2 user"]
  assert.deepEqual(rowsOf(withMedia(PNG), ANTHROPIC), inside)
  assert.deepEqual(rowsOf(withMedia({ mime: "application/zip" }), OPENAI), inside)
  assert.deepEqual(rowsOf(withMedia(), OPENAI), inside)
  for (const media of [[PNG], [PNG, PNG], [{ mime: "application/zip" }, { mime: "application/pdf" }]])
    assert.deepEqual(mapOf(withMedia(...media), OPENAI)?.slice(-2), [
      { type: "runtime-context", messageIndex: 1, messageID: "msg_0001", role: "user", userTurn: 0 },
      { type: "history", messageIndex: 2, messageID: "msg_0002", role: "user" },
    ])
})

test("one attachment that the provider cannot take is enough for a message of its own", () => {
  const nova = { ...BEDROCK, apiID: "nova" }
  const rowsWith = (...media: unknown[]): unknown =>
    describeProjection(withMedia(...media), { model: nova })?.sources.length
  assert.equal(rowsWith(PNG), 5)
  assert.equal(rowsWith(PNG, { mime: "application/pdf" }), 6)
})

test("a cleared or failed result has no media", () => {
  const hidden = read("a.png", "x", { attachments: [PNG], time: { start: 1, compacted: 5 } })
  const unfinished = { ...pending("running", {}), attachments: [PNG] }
  assert.deepEqual(rowsOf(session(user("go"), step(hidden), step(unfinished))), [
    "0 user",
    "1.0 assistant",
    "1.0 tool",
    "2.0 assistant",
    "tool-repair 2.0 tool",
  ])
})

test("where media goes cannot be told of an unknown provider, or of attachments without a kind", () => {
  assert.equal(mapOf(withMedia(PNG), MODEL), undefined)
  for (const odd of [{ url: "x" }, null]) assert.equal(mapOf(withMedia(odd), OPENAI), undefined)
  assert.equal(mapOf(session(user("go"), step(read("a", "x", { attachments: "many" }))), OPENAI), undefined)
  assert.notEqual(mapOf(session(user("go"), step(read("a", "x", { attachments: null }))), OPENAI), undefined)
})

const signature = { anthropic: { signature: "s" } }
const EMPTY: [what: string, parts: Record<string, unknown>[], sentTo: Model[]][] = [
  ["an empty text", [text("")], [OPENAI]],
  ["an empty text with metadata", [{ ...text(""), metadata: { x: { y: 1 } } }], [OPENAI]],
  ["blank reasoning", [reasoning(" ")], [OPENAI]],
  ["signed blank reasoning", [reasoning("", signature)], [OPENAI, ANTHROPIC]],
  ["redacted reasoning", [reasoning("", { anthropic: { redactedData: "r" } })], [OPENAI, ANTHROPIC]],
  ["unsigned reasoning", [reasoning("so")], [OPENAI, ANTHROPIC]],
  ["reasoning signed for the provider", [reasoning("so", { lab: { signature: "s" } })], [OPENAI, ANTHROPIC, BEDROCK]],
  [
    "reasoning signed for Bedrock",
    [reasoning("so", { bedrock: { redactedContent: "s" } })],
    [OPENAI, ANTHROPIC, BEDROCK],
  ],
  ["an empty text beside signed reasoning", [reasoning("r", signature), START, text("")], [OPENAI, ANTHROPIC, BEDROCK]],
]
for (const [what, parts, sentTo] of EMPTY)
  for (const model of [OPENAI, ANTHROPIC, BEDROCK])
    test(`${what} alone is ${sentTo.includes(model) ? "sent to" : "dropped for"} ${model.npm}`, () => {
      const rows = describeProjection(session(user("go"), assistant([START, ...parts])), { model })?.sources
      assert.equal((rows?.length ?? 0) > 1, sentTo.includes(model))
    })

test("without the provider family, a step of nothing but emptiness cannot be told", () => {
  for (const parts of [[text("")], [reasoning("")]])
    assert.equal(mapOf(session(user("go"), step(...parts)), MODEL), undefined)
  assert.deepEqual(rowsOf(session(user("go"), step(text(""), text("x"))), MODEL), ["0 user", "1.0 assistant"])
  assert.deepEqual(rowsOf(session(user("go"), step(reasoning("x"))), MODEL), ["0 user", "1.0 assistant"])
})

test("a model switch changes the rendering and no origin", () => {
  const messages = session(
    user("go"),
    step(reasoning("so", signature), text("x"), read("a", "y")),
    step(reasoning(" ")),
    user("on"),
  )
  const other = { providerID: "other", modelID: "m", npm: "@ai-sdk/anthropic" }
  assert.deepEqual(rowsOf(messages, OPENAI), ["0 user", "1.0 assistant", "1.0 tool", "2.0 assistant", "3 user"])
  assert.deepEqual(rowsOf(messages, other), ["0 user", "1.0 assistant", "1.0 tool", "3 user"])
})

test("kinds, states and roles that the host has no rendering for: no map, where they matter", () => {
  assert.equal(mapOf(session(user("go"), assistant([{ type: "hologram" }]))), undefined)
  assert.equal(mapOf(session(userParts({ type: "step-start" }))), undefined)
  assert.equal(
    mapOf(session(user("go"), step(text("x"), { type: "tool", tool: "read", state: { status: "odd" } }))),
    undefined,
  )
  assert.equal(mapOf(session(user("go"), step(text("x"), { type: "tool", tool: "read", state: null }))), undefined)
  assert.equal(mapOf(session({ role: "system", parts: [text("x")], info: {} })), undefined)
  assert.deepEqual(rowsOf(session(user("go"), assistant([text("x"), { type: "hologram" }]))), [
    "0 user",
    "1.0 assistant",
  ])
})

test("ids that are missing or repeated: no map", () => {
  for (const id of ["", 7, "msg_0000"]) {
    const messages = session(user("go"), step(text("x")))
    Object.assign(messages[1]?.info ?? {}, { id })
    assert.equal(describeProjection(messages), undefined)
  }
  for (const callID of [undefined, "", 7])
    assert.equal(mapOf(session(user("go"), step({ ...read("a", "x"), callID }))), undefined)
  assert.equal(describeProjection([{ info: null }] as never), undefined)
  assert.equal(describeProjection([Object.create({})] as never), undefined)
})

test("cleared outputs stand beside the row that sends their placeholder, whoever marked them", () => {
  const hidden = read("host.ts", "x", { time: { start: 1, compacted: 5 } })
  const messages = session(
    user("go"),
    step(read("old.ts", tokens(900)), hidden, bash("ls", "a")),
    step(bash("pwd", "b")),
  )
  const policy = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0 }
  const { sources, cleared, kept } = checkProjection(messages, { inputBudget: 500, policy, model: OPENAI })
  assert.deepEqual(
    cleared.map(({ callID }) => callID),
    ["call_0001_0001"],
  )
  assert.deepEqual(
    sources?.flatMap((row) => (row.cleared ?? []).map((output) => [nameRow(row), output])),
    [
      ["1.0 tool", { callID: "call_0001_0001", partID: "prt_0001_0001", tool: "read" }],
      ["1.0 tool", { callID: "call_0001_0002", partID: "prt_0001_0002", tool: "read" }],
    ],
  )
  assert.deepEqual(kept, { "already-cleared": 1, small: 2 })
})

test("a mark on a call that did not complete clears nothing", () => {
  const marked = {
    ...failed("read", {}, "boom"),
    state: { status: "error", input: {}, error: "boom", time: { compacted: 5 } },
  }
  assert.deepEqual(
    mapOf(session(user("go"), step(marked)))?.map(({ cleared }) => cleared),
    [undefined, undefined, undefined],
  )
})

test("what stays is counted by reason: protected steps, and what waits until something presses", () => {
  const messages = session(
    user("go"),
    step(read("a.ts", tokens(900)), tool("edit", {}, "x")),
    step(read("b.ts", tokens(900))),
  )
  const policy = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0 }
  const keptOf = (inputBudget: number) => checkProjection(messages, { inputBudget, policy, model: OPENAI }).kept
  assert.deepEqual(keptOf(1e9), { waiting: 1, "other-tool": 1, recent: 1 })
  assert.deepEqual(keptOf(100), { "other-tool": 1, recent: 1 })
  assert.deepEqual(checkProjection([], { inputBudget: 100, policy }).kept, {})
})

/** Ids of their own, for messages that are put behind others. */
const asEnd = (messages: Message[]): Message[] =>
  JSON.parse(JSON.stringify(messages).replaceAll(/"((?:msg|prt|call)_\d+(?:_\d+)?)"/g, '"$1_end"')) as Message[]

test("over generated histories for both families: one row for each message that the host's own way makes", () => {
  const oddEnds = fc.constantFrom<Draft>(
    assistant([START, text("")]),
    assistant([START, reasoning(""), START, text("x")]),
    step(read("a.png", "x", { attachments: [PNG] })),
    assistant([START, pending("running", {}), read("b", "y")]),
    step(pending("pending", {})),
    added("continue"),
    failedResponse(),
  )
  const seen = { mapped: 0, repaired: 0, added: 0, cleared: 0 }
  fc.assert(
    fc.property(
      histories,
      fc.array(oddEnds, { maxLength: 3 }),
      projectOptions,
      fc.constantFrom(OPENAI, ANTHROPIC),
      (history, ends, options, model) => {
        const tail = asEnd(session(...ends))
        const request = { ...options, model }
        const projection = projectMessages([...history, ...tail], request)
        checkSources(projection, request)
        const { sources = [] } = projection
        seen.mapped += Math.min(1, sources.length)
        seen.repaired += sources.some(({ type }) => type === "tool-repair") ? 1 : 0
        seen.added += sources.some(({ type }) => type === "runtime-context") ? 1 : 0
        seen.cleared += sources.some(({ cleared }) => cleared) ? 1 : 0
      },
    ),
    { numRuns: 400 },
  )
  for (const [what, count] of Object.entries(seen))
    assert.ok(count > 40, `the generator hardly reaches: ${what} (${count})`)
})
