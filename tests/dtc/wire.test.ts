import assert from "node:assert/strict"
import test from "node:test"
import { estimateMessages } from "../../lib/dtc/engine.ts"
import { FRAME_TOKENS } from "../../lib/dtc/tokens.ts"
import type { Message, Model } from "../../lib/dtc/types.ts"
import { findLatestTime, findLatestUser, findRequestedModel, readHistory } from "../../lib/dtc/wire.ts"
import { describeUnsupportedFile } from "../../lib/dtc/wire-texts.ts"
import {
  assistant,
  bash,
  compaction,
  failed,
  MODEL,
  pending,
  read,
  reasoning,
  session,
  step,
  text,
  tool,
  user,
  userParts,
} from "../helpers/history.ts"

type Draft = ReturnType<typeof user>
type Size = number | undefined

const { message: MESSAGE, part: PART, toolCall: CALL } = FRAME_TOKENS
const bytes = (value: string): number => Buffer.byteLength(value) / 4
const sent = (...sizes: number[]): number => MESSAGE + sizes.reduce((sum, size) => sum + PART + size, 0)
const call = (name: string, input: unknown): number => CALL + bytes(name) + bytes(JSON.stringify(input))
const PLACEHOLDER = bytes("[Old tool result content cleared]")
const INTERRUPTED = bytes("[Tool execution was interrupted]")
const other = { providerID: "other", modelID: "m" }
const accepts = (input: object): Model => ({ ...MODEL, npm: "@ai-sdk/openai-compatible", capabilities: { input } })
const png = { type: "file", mime: "image/png", url: "data:image/png;base64,AAAA", filename: "shot.png" }
const readWith = (attachment: object) => step(read("a", "seen", { attachments: [attachment] }))
const readCall = call("read", { filePath: "a" })

const [readState, failedState] = [read("a", "seen"), failed("read", { filePath: "a" }, "no")].map(
  ({ state }) => state as object,
)

/** One history of one message for each role × part × state: what it costs on the wire, `undefined` when unknown. */
const rows: [name: string, draft: Draft, size: Size, model?: Model][] = [
  ["user text", user("hello wörld"), sent(bytes("hello wörld"))],
  ["user text, synthetic", userParts({ type: "text", text: "x", synthetic: true }), sent(bytes("x"))],
  ["user text, ignored", userParts({ type: "text", text: "hello", ignored: true }), 0],
  ["user text, empty", userParts({ type: "text", text: "" }), 0],
  ["user text of an odd type", userParts({ type: "text", text: 7 }), undefined],
  ["user text/plain file", userParts({ type: "file", mime: "text/plain", url: "file:///a" }), 0],
  ["user directory", userParts({ type: "file", mime: "application/x-directory", url: "file:///" }), 0],
  ["user image", userParts(png), undefined],
  ["user image, accepted", userParts(png), undefined, accepts({ image: true })],
  [
    "user image, not accepted",
    userParts(png),
    sent(bytes('ERROR: Cannot read "shot.png" (this model does not support image input). Inform the user.')),
    accepts({ image: false }),
  ],
  [
    "user image, synthetic, not accepted",
    userParts({ ...png, synthetic: true }),
    sent(bytes('ERROR: Cannot read "shot.png" (this model does not support image input). Inform the user.')),
    accepts({}),
  ],
  ["user text beside an error", user("x", { error: { name: "APIError" } }), sent(bytes("x"))],
  [
    "user PDF without a name, not accepted",
    userParts({ type: "file", mime: "application/pdf", url: "data:," }),
    sent(bytes("ERROR: Cannot read pdf (this model does not support pdf input). Inform the user.")),
    accepts({}),
  ],
  ...["", 7, undefined].map((filename): [string, Draft, Size, Model] => [
    `user image called ${filename}, not accepted`,
    userParts({ ...png, filename }),
    sent(bytes("ERROR: Cannot read image (this model does not support image input). Inform the user.")),
    accepts({}),
  ]),
  ["user file of another kind", userParts({ type: "file", mime: "application/zip" }), undefined, accepts({})],
  ["user file of an odd type", userParts({ type: "file", mime: 7 }), undefined, accepts({})],
  ["user agent marker", userParts({ type: "agent", name: "general" }), 0],
  [
    "user subtask",
    userParts({ type: "subtask", prompt: "long" }),
    sent(bytes("The following tool was executed by the user")),
  ],
  ["user compaction", userParts({ type: "compaction", auto: true }), sent(bytes("What did we do so far?"))],
  ["user without parts", userParts(), 0],
  ...["patch", "reasoning", "retry", "snapshot", "step-finish", "step-start", "tool", "hologram", "constructor"].map(
    (type): [string, Draft, Size] => [`user ${type}`, userParts({ type, text: "x" }), undefined],
  ),
  ["a role that the host does not have", { role: "system", parts: [text("x")], info: {} }, undefined],
  ["a role named like an object's own method", { role: "toString", parts: [text("x")], info: {} }, undefined],

  ["assistant text", assistant([text("hello")]), sent(bytes("hello"))],
  ["assistant text of an odd type", assistant([{ type: "text" }]), undefined],
  ["assistant text of an odd type, with options", assistant([{ type: "text", metadata: { a: 1 } }]), undefined],
  ["assistant text, empty", assistant([text("")]), 0],
  [
    "assistant text, empty beside signed reasoning",
    assistant([reasoning("r", { anthropic: { signature: "s" } }), text("")]),
    sent(bytes('r{"anthropic":{"signature":"s"}}'), bytes(" ")),
  ],
  [
    "assistant text, empty beside reasoning of another provider",
    assistant([reasoning("r", { openai: {} }), text("")]),
    sent(bytes('r{"openai":{}}')),
  ],
  [
    "assistant text, empty beside reasoning without a signature",
    assistant([reasoning("r", { anthropic: {} }), text("")]),
    sent(bytes('r{"anthropic":{}}')),
  ],
  ["assistant text, empty beside bare reasoning", assistant([reasoning("r"), text("")]), sent(bytes("r"))],
  [
    "assistant text, empty beside reasoning whose signature is null",
    assistant([reasoning("r", { anthropic: { signature: null } }), text("")]),
    sent(bytes('r{"anthropic":{"signature":null}}')),
  ],
  [
    "assistant text, empty beside a text with a signature",
    assistant([{ ...text("a"), metadata: { anthropic: { signature: "s" } } }, text("")]),
    sent(bytes('a{"anthropic":{"signature":"s"}}')),
  ],
  [
    "assistant text with the options of a model called alike elsewhere",
    assistant([{ ...text("a"), metadata: { openai: { itemId: "i" } } }], { providerID: "other" }),
    sent(bytes("a")),
    MODEL,
  ],
  [
    "assistant text with provider options",
    assistant([{ ...text("a"), metadata: { openai: { itemId: "i" } } }]),
    sent(bytes('a{"openai":{"itemId":"i"}}')),
  ],
  [
    "assistant text with another model's options",
    assistant([{ ...text("a"), metadata: { openai: { itemId: "i" } } }], other),
    sent(bytes("a")),
    MODEL,
  ],
  [
    "reasoning, same model",
    assistant([reasoning("why", { anthropic: { signature: "s" } })]),
    sent(bytes('why{"anthropic":{"signature":"s"}}')),
  ],
  [
    "reasoning, another model",
    assistant([reasoning("why", { anthropic: { signature: "s" } })], other),
    sent(bytes("why")),
    MODEL,
  ],
  ["reasoning, another model, blank", assistant([reasoning(" \n")], other), 0, MODEL],
  [
    "reasoning, no model known: the larger cost",
    assistant([reasoning("w", { x: "y" })], other),
    sent(bytes('w{"x":"y"}')),
  ],
  ["reasoning of an odd type", assistant([{ type: "reasoning" }]), undefined],
  ["reasoning of an odd type, another model", assistant([{ type: "reasoning" }], other), undefined, MODEL],
  [
    "tool of a status in a list",
    step({ ...read("a", "seen"), state: { ...readState, status: ["completed"] } }),
    undefined,
  ],
  [
    "tool error, interrupted with an output of an odd type",
    step({
      ...failed("read", { filePath: "a" }, "no"),
      state: { ...failedState, metadata: { interrupted: true, output: 7 } },
    }),
    sent(readCall + bytes("no")),
  ],
  ...["step-start", "step-finish", "snapshot", "patch", "retry", "file", "agent"].map((type): [string, Draft, Size] => [
    `assistant ${type}`,
    assistant([{ type, text: "not sent" }]),
    0,
  ]),
  ...["compaction", "subtask", "hologram", "__proto__"].map((type): [string, Draft, Size] => [
    `assistant ${type}`,
    assistant([{ type }]),
    undefined,
  ]),

  ["tool pending", step(pending("pending", { a: 1 })), sent(call("bash", { a: 1 }) + INTERRUPTED)],
  ["tool running", step(pending("running", { a: 1 })), sent(call("bash", { a: 1 }) + INTERRUPTED)],
  ["tool with an empty input", step(tool("grep", {}, "o")), sent(call("grep", {}) + bytes("o"))],
  [
    "tool with a nested input",
    step(tool("grep", { list: [1, "é", null, true, []], deep: { a: {} } }, "o")),
    sent(call("grep", { list: [1, "é", null, true, []], deep: { a: {} } }) + bytes("o")),
  ],
  ["tool completed", step(read("a", "out")), sent(readCall + bytes("out"))],
  [
    "tool completed, cleared",
    step(read("a", "x".repeat(999), { time: { compacted: 1 } })),
    sent(readCall + PLACEHOLDER),
  ],
  [
    "tool completed, cleared, attachments",
    step(read("a", "x", { time: { compacted: 1 }, attachments: [png] })),
    sent(readCall + PLACEHOLDER),
  ],
  ["tool completed, falsy mark", step(read("a", "out", { time: { compacted: 0 } })), sent(readCall + bytes("out"))],
  ["tool completed, odd output", step(read("a", 7)), undefined],
  ["tool error", step(failed("read", { filePath: "a" }, "not found")), sent(readCall + bytes("not found"))],
  [
    "tool error, cleared all the same",
    step(read("a", "", { status: "error", error: "boom", time: { compacted: 1 } })),
    sent(readCall + bytes("boom")),
  ],
  [
    "tool error, interrupted with output",
    step(read("a", "", { status: "error", error: "aborted", metadata: { interrupted: true, output: "so far" } })),
    sent(readCall + bytes("so far")),
  ],
  [
    "tool error, interrupted without output",
    step(read("a", "", { status: "error", error: "aborted", metadata: { interrupted: true } })),
    sent(readCall + bytes("aborted")),
  ],
  [
    "tool error, output but not interrupted",
    step(read("a", "", { status: "error", error: "boom", metadata: { output: "so far" } })),
    sent(readCall + bytes("boom")),
  ],
  ["tool error of an odd type", step(read("a", "", { status: "error", error: {} })), undefined],
  [
    "tool error without metadata",
    step(read("a", "", { status: "error", error: "e", metadata: undefined })),
    sent(readCall + bytes("e")),
  ],
  ["tool of an odd status", step(read("a", "x", { status: "paused" })), undefined],
  ["tool of an odd status type", step(read("a", "x", { status: 1 })), undefined],
  ["tool without state", step({ type: "tool", tool: "read" }), undefined],
  [
    "tool with provider options",
    step({ ...read("a", "o"), metadata: { google: { sig: "s" } } }),
    sent(readCall + bytes('o{"google":{"sig":"s"}}')),
  ],
  [
    "tool executed by the provider",
    step({ ...read("a", "out"), metadata: { providerExecuted: true } }),
    sent(readCall + bytes('out{"providerExecuted":true}')),
  ],
  ["tool with attachments null", step(read("a", "o", { attachments: null })), sent(readCall + bytes("o"))],
  ["tool with attachments of an odd type", step(read("a", "o", { attachments: "x" })), undefined],
  ["tool image, no family known", readWith(png), undefined],
  ["tool image, family carries it", readWith(png), undefined, { ...MODEL, npm: "@ai-sdk/anthropic" }],
  [
    "tool image by remote URL, family carries media",
    readWith({ ...png, url: "https://x/y.png" }),
    sent(readCall + bytes("seen")),
    { ...MODEL, npm: "@ai-sdk/anthropic" },
  ],
  ["tool image, family moves it, accepted", readWith(png), undefined, accepts({ image: true })],
  [
    "tool image, family moves it, not accepted",
    readWith(png),
    sent(
      readCall +
        bytes("seen") +
        bytes("Attached media from tool result:") +
        bytes('ERROR: Cannot read "shot.png" (this model does not support image input). Inform the user.'),
    ),
    accepts({}),
  ],
  ["tool audio", readWith({ ...png, mime: "audio/wav" }), undefined, accepts({})],
  ["tool attachment of an odd type", readWith({ mime: 7 }), undefined, accepts({})],

  ["failed response", assistant([text("partial"), read("a", "x")], { error: { name: "APIError" } }), 0],
  ["overflowed response", assistant([text("partial")], { error: { name: "ContextOverflowError" } }), 0],
  ["an error of an odd type", assistant([text("partial")], { error: "boom" }), 0],
  [
    "aborted response with text",
    assistant([text("partial")], { error: { name: "MessageAbortedError" } }),
    sent(bytes("partial")),
  ],
  [
    "aborted response, only reasoning",
    assistant([{ type: "step-start" }, reasoning("hm")], { error: { name: "MessageAbortedError" } }),
    0,
  ],
  [
    "aborted response, reasoning and a step's end",
    assistant([reasoning("hm"), { type: "step-finish" }], { error: { name: "MessageAbortedError" } }),
    sent(bytes("hm")),
  ],
  ["summary", assistant([text("s")], { summary: true, finish: "stop" }), sent(bytes("s"))],
  [
    "two steps in one message",
    assistant([{ type: "step-start" }, text("a"), { type: "step-finish" }, { type: "step-start" }, text("b")]),
    sent(bytes("a")) + sent(bytes("b")),
  ],
  [
    "text before the first marker",
    assistant([text("a"), { type: "step-start" }, text("b")]),
    sent(bytes("a")) + sent(bytes("b")),
  ],
]

for (const [name, draft, size, model] of rows) {
  test(`wire: ${name}: ${size === undefined ? "unknown" : size}`, () => {
    assert.equal(
      estimateMessages(session(draft), model ? { model } : {}),
      size === undefined ? undefined : Math.ceil(size),
    )
  })
}

/** Which packages carry which media inside a tool result: what they carry is live media, what they move is a sentence. */
const carriers: [npm: string, apiID: string, mime: string, carried: boolean][] = [
  ["@ai-sdk/anthropic", "claude", "application/pdf", true],
  ["@ai-sdk/openai", "gpt", "image/png", true],
  ["@ai-sdk/google-vertex/anthropic", "claude", "image/png", true],
  ["@ai-sdk/amazon-bedrock/mantle", "x", "image/png", true],
  ["@ai-sdk/amazon-bedrock", "us.anthropic.claude", "image/png", true],
  ["@ai-sdk/amazon-bedrock", "amazon.nova-pro", "image/png", true],
  ["@ai-sdk/amazon-bedrock", "meta.llama4", "image/png", true],
  ["@ai-sdk/amazon-bedrock", "meta.llama-4", "image/png", true],
  ["@ai-sdk/amazon-bedrock", "meta.llama3", "image/png", false],
  ["@ai-sdk/amazon-bedrock", "us.anthropic.claude", "application/pdf", false],
  ["@ai-sdk/xai", "grok", "image/png", true],
  ["@ai-sdk/xai", "grok", "application/pdf", false],
  ["@ai-sdk/google", "gemini-3-pro", "image/png", true],
  ["@ai-sdk/google", "gemini-2.5-pro", "image/png", false],
  ["@ai-sdk/google", "gemini-3-gemini-2", "image/png", false],
  ["@ai-sdk/openai-compatible", "any", "image/png", false],
  ["constructor", "any", "image/png", false],
]
for (const [npm, apiID, mime, carried] of carriers) {
  test(`${npm} ${apiID} ${carried ? "carries" : "moves"} ${mime}`, () => {
    const model = { ...MODEL, npm, apiID, capabilities: { input: {} } }
    const size = estimateMessages(session(readWith({ ...png, mime })), { model })
    assert.equal(size === undefined, carried)
  })
}

test("an id of the provider's own is optional", () => {
  assert.equal(estimateMessages(session(readWith(png)), { model: { ...MODEL, npm: "@ai-sdk/xai" } }), undefined)
})

test("sizes add up over messages", () => {
  const alone = rows.filter(([, { info }, size, model]) => size !== undefined && !model && !("providerID" in info))
  const total = alone.reduce((sum, [, , size]) => sum + (size ?? 0), 0)
  assert.equal(estimateMessages(session(...alone.map(([, draft]) => draft))), Math.ceil(total))
})

test("the model of the next request: latest ordinary user by creation time, then id, not by position", () => {
  const asks = (modelID: string, created: number, id: string): Draft =>
    user("x", { id, time: { created }, model: { providerID: "p", modelID } })
  const model = (...drafts: Draft[]) => findRequestedModel(session(...drafts))?.modelID
  assert.equal(model(asks("late", 9, "a"), asks("early", 3, "b")), "late")
  assert.equal(model(asks("b", 9, "b"), asks("a", 9, "a")), "b")
  assert.equal(model(asks("a", 9, "a"), asks("b", 9, "b")), "b")
  assert.equal(model(asks("asked", 3, "a"), ...compaction(50)), "asked")
  assert.equal(model(asks("first", 9, "a"), asks("second", 9, "a")), "second", "of two alike the later one")
  const both = asks("both", 9, "b")
  assert.equal(model(asks("asked", 3, "a"), { ...both, parts: [...both.parts, { type: "compaction" }] }), "both")
  assert.equal(
    model(asks("asked", 3, "a"), {
      ...userParts(),
      info: { time: { created: 5 }, model: { providerID: "p", modelID: "empty" } },
    }),
    "empty",
  )
  assert.equal(
    model(asks("timed", 1, "a"), user("x", { time: "?", model: { providerID: "p", modelID: "timeless" } })),
    "timed",
  )
  assert.equal(model(step(text("x"))), undefined)
  for (const odd of [
    undefined,
    "p/m",
    {},
    { providerID: "p" },
    { providerID: "", modelID: "m" },
    { providerID: "p", modelID: 3 },
  ])
    assert.equal(findRequestedModel(session(user("x", { model: odd }))), undefined)
})

test("malformed messages have no reading, and so no size", () => {
  const good = session(user("x"))
  const malformed: unknown[] = [
    {},
    { info: {} },
    { info: {}, parts: [null] },
    { info: {}, parts: [{}] },
    { info: 1, parts: [] },
    null,
    7,
  ]
  for (const message of malformed) {
    const messages = [...good, message] as Message[]
    assert.equal(readHistory(messages), undefined)
    assert.equal(estimateMessages(messages), undefined)
    assert.equal(findRequestedModel(messages)?.modelID, MODEL.modelID)
    assert.equal(findLatestTime(messages), 1_000)
  }
})

test("the largest time counts every time of messages, parts and tool states", () => {
  assert.equal(findLatestTime([]), 1)
  assert.equal(findLatestTime(session(user("x"), step(read("a", "b", { time: { start: 1, end: 77_000 } })))), 77_000)
  assert.equal(findLatestTime(session(step({ ...bash("a", "b"), time: { end: 88_000 } }))), 88_000)
  assert.equal(findLatestTime(session(user("x", { time: { created: -5, completed: 1.5, odd: "9" } }))), 1)
})

test("a history of very many parts and summaries is read like any other", () => {
  const many = Array.from({ length: 150_000 }, () => bash("a", "b"))
  const [message] = session(assistant(many))
  assert.equal(readHistory([message as Message])?.outputs.length, many.length)
  const summary = session(assistant([], { summary: true, finish: "stop" }))
  assert.equal(readHistory(Array.from({ length: 150_000 }, () => summary[0] as Message))?.segments.length, 150_000)
})

test("a tool call costs its input even without one", () => {
  assert.equal(typeof estimateMessages(session(step(tool("read", undefined, "x")))), "number")
})

test("the message that the host answers is the latest of a user, wherever it stands", () => {
  const messages = session(user("early"), user("late", { time: { created: 9_000 } }), user("between"), step(text("x")))
  assert.equal(findLatestUser(messages), messages[1])
  assert.equal(findLatestUser(session(step(text("x")))), undefined)
})

const segmentsOf = (...drafts: Draft[]) => readHistory(session(...drafts))?.segments ?? []
const QUIET = {
  writtenTokens: 0,
  unknownSize: false,
  sendsTool: false,
  reminderTokens: 0,
  asksToClear: false,
}

test("what one message is in neutral terms, field by field", () => {
  const written = sent(bytes("yes"), call("bash", { command: "ls" }))
  const said = step(text("yes"), bash("ls", "seen"))
  assert.deepStrictEqual(segmentsOf(user("go"), said, step(tool("dcp_prune", {}, "")), user("", {}, png)), [
    { ...QUIET, kind: "user", tokens: sent(bytes("go")) },
    {
      ...QUIET,
      kind: "step",
      tokens: written + bytes("seen"),
      writtenTokens: written,
      sendsTool: true,
      requestedAt: 2_000,
    },
    {
      ...QUIET,
      kind: "step",
      tokens: sent(call("dcp_prune", {})),
      writtenTokens: sent(call("dcp_prune", {})),
      sendsTool: true,
      asksToClear: true,
      requestedAt: 3_000,
    },
    { ...QUIET, kind: "user", tokens: MESSAGE + PART, unknownSize: true },
  ])
})

test("a message's own tokens are the report of its last step; a message of no request, and no model, has none", () => {
  const twoSteps = [{ type: "step-start" }, text("a"), { type: "step-start" }, text("b")]
  const tokens = { input: 900, output: 10 }
  const reports = (info: object, asked: object = {}) =>
    segmentsOf(user("go", { ...asked }), assistant(twoSteps, { tokens, ...info }))
      .slice(1)
      .map(({ report }) => report?.promptTokens)
  assert.deepEqual(reports({}), [undefined, 900])
  assert.deepEqual(reports({ summary: true }), [undefined, undefined])
  assert.deepEqual(reports({ modelID: "other" }), [undefined, undefined])
  assert.deepEqual(reports({}, { model: undefined }), [undefined, undefined])
})

test("what a step wrote is believed by its texts and calls of known size, not by its reasoning", () => {
  const written = (...parts: Parameters<typeof assistant>[0]) =>
    segmentsOf(user("go"), assistant(parts, { tokens: { input: 900, output: 40 } })).at(-1)?.report?.writtenTokens
  assert.equal(written(text("yes")), 40)
  assert.equal(written({ type: "text" }), 40)
  assert.equal(written(reasoning("x".repeat(8_000)), text("yes")), 40)
  assert.equal(written(text("x".repeat(8_000))), undefined)
})

test("a user message is one segment, and only its texts are reminders", () => {
  const reminder = { synthetic: true, text: "<system-reminder>now" }
  const [segment, ...others] = segmentsOf(
    userParts({ ...png, ...reminder }, { type: "step-start" }, { type: "text", ...reminder }),
  )
  assert.deepEqual([segment?.reminderTokens, others.length], [PART + bytes(reminder.text), 0])
})

test("requests of the window are those from the newest finished summary on", () => {
  const at = (created: unknown, info: object = {}): Draft => assistant([text("x")], { time: { created }, ...info })
  const requests = (...drafts: Draft[]) =>
    segmentsOf(user("go"), ...drafts).flatMap(({ requestedAt }) => requestedAt ?? [])
  const summary = { summary: true, finish: "stop" }
  assert.deepEqual(requests(at(2_000), at(3_000, { finish: "stop" })), [2_000, 3_000])
  assert.deepEqual(requests(at(2_000), at(3_000, summary), at(3_000), at(4_000)), [3_000, 4_000])
  assert.deepEqual(requests(at(2_000), at(3_000, { ...summary, finish: undefined })), [2_000])
  assert.deepEqual(requests(at(2_000), at(3_000, { ...summary, error: { name: "APIError" } })), [2_000])
  assert.deepEqual(requests(at(-5), at("9"), at(undefined)), [0, 0, 0])
})

test("a file that the model does not take is called by its name, or by what it is", () => {
  const sentence = (name: string): string =>
    `ERROR: Cannot read ${name} (this model does not support image input). Inform the user.`
  assert.equal(describeUnsupportedFile("shot.png", "image"), sentence('"shot.png"'))
  for (const nameless of ["", 7, undefined]) assert.equal(describeUnsupportedFile(nameless, "image"), sentence("image"))
})
