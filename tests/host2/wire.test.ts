import assert from "node:assert/strict"
import test from "node:test"
import { findKeptReason } from "../../lib/dtc/eligibility.ts"
import type { History, OutputFacts } from "../../lib/dtc/types.ts"
import { copyMessages } from "../../lib/host2/lowered.ts"
import { readLowered, renderPart } from "../../lib/host2/wire.ts"
import { DEFAULT_POLICY, tokens } from "../helpers/history.ts"

const readMessages = (...messages: object[]): History => readLowered(copyMessages(messages) ?? [])

const said = (text: string): object => ({ type: "text", text })
const user = (...content: object[]): object => ({ id: "msg_u", role: "user", content })
const wrote = (...content: object[]): object => ({ id: "msg_a", role: "assistant", content })
const answered = (...content: object[]): object => ({ role: "tool", content })
const call = (id = "c", name = "read", input: unknown = { path: "a.ts" }): object => ({
  type: "tool-call",
  id,
  name,
  input,
})
const result = (value: unknown, id = "c", name = "read"): object => ({ type: "tool-result", id, name, result: value })

const PLACEHOLDER = "[Old tool result content cleared]"

/** Tokens of the content alone, as four UTF-8 bytes each; `unknown`: no size. */
const PARTS: readonly [
  what: string,
  role: "assistant" | "system" | "tool" | "user",
  part: object,
  size: number | string,
][] = [
  ["a text", "user", said("abcd"), 1],
  ["a system text", "system", said("abcd"), 1],
  ["an empty text", "assistant", said(""), "nothing"],
  ["a text that is none", "user", { type: "text", text: 1 }, "unknown"],
  ["a picture", "user", { type: "media", mediaType: "image/png", data: "data:image/png;base64,AA==" }, "unknown"],
  ["a remote picture", "user", { type: "media", mediaType: "image/png", data: "https://example.invalid/a" }, "unknown"],
  ["a picture in a response", "assistant", { type: "media", mediaType: "image/png", data: "" }, "unknown"],
  ["reasoning", "assistant", { type: "reasoning", text: "abcdefgh" }, 2],
  ["sealed reasoning", "assistant", { type: "reasoning", text: "", encrypted: "abcd" }, 1],
  [
    "signed reasoning",
    "assistant",
    { type: "reasoning", text: "abcd", providerMetadata: { a: "bc" } },
    1 + (1 + 1 + 4 + 4) / 4,
  ],
  ["reasoning that is none", "assistant", { type: "reasoning" }, "unknown"],
  ["a call", "assistant", call("c", "read", {}), 10 + 1 + 0.5],
  ["a call whose input is text", "assistant", call("c", "read", "{"), 10 + 1 + 0.75],
  ["a text result", "tool", result({ type: "text", value: "abcd" }), 1],
  ["a text result that is none", "tool", result({ type: "text", value: [12] }), 1],
  ["a JSON result", "tool", result({ type: "json", value: [12] }), 1],
  ["a result without a value", "tool", result({ type: "json" }), "unknown"],
  ["texts", "tool", result({ type: "content", value: [said("abc"), said("defg")] }), 2],
  ["texts and a file", "tool", result({ type: "content", value: [said("a"), { type: "file", uri: "x" }] }), "unknown"],
  ["content that is none", "tool", result({ type: "content", value: "abcd" }), "unknown"],
  ["an error", "tool", result({ type: "error", value: "abcd" }), 1],
  ["an error's account", "tool", result({ type: "error", value: { a: 1 } }), 7 / 4],
  ["a result of the provider", "assistant", result({ type: "text", value: "abcd" }), 1],
  ["a result of another form", "tool", result({ type: "stream", value: "a" }), "unknown"],
  ["a result that is none", "tool", result("a"), "unknown"],
  ["a text among results", "tool", said("a"), "unknown"],
  ["a call of the user", "user", call(), "unknown"],
  ["a result of the user", "user", result({ type: "text", value: "a" }), "unknown"],
  ["a picture of the system", "system", { type: "media" }, "unknown"],
  ["reasoning of the user", "user", { type: "reasoning", text: "a" }, "unknown"],
  ["another kind", "assistant", { type: "hologram" }, "unknown"],
  ["a name of every object", "assistant", { type: "constructor" }, "unknown"],
]
for (const [what, role, part, size] of PARTS)
  test(`${what} (${role}): ${size}`, () => assert.equal(renderPart(role, part as never), size))

test("a message costs its frame once, each of its parts one more, and results nothing beside their text", () => {
  const { segments } = readMessages(
    user(said("abcd"), said("")),
    wrote(said("abcd"), call("c", "read", {})),
    answered(result({ type: "text", value: "abcd" })),
    user(said("")),
  )
  assert.deepEqual(
    segments.map(({ kind, tokens: size, sendsTool }) => [kind, size, sendsTool]),
    [
      ["user", 4 + 1 + 1, false],
      ["step", 4 + 1 + 1 + 1 + 11.5 + 1, true],
      ["user", 0, false],
    ],
  )
})

test("a response and the results behind it are one step, which started a request; nothing else did", () => {
  const { segments, outputs } = readMessages(
    { role: "system", content: [said("s")] },
    user(said("u")),
    wrote(call("c1"), call("c2", "grep")),
    answered(result({ type: "text", value: "1" }, "c1")),
    answered(result({ type: "text", value: "2" }, "c2", "grep")),
    wrote(said("done")),
    user(said("next")),
  )
  assert.deepEqual(
    segments.map(({ kind, requestedAt }) => [kind, requestedAt]),
    [
      ["user", undefined],
      ["user", undefined],
      ["step", 2],
      ["step", 5],
      ["user", undefined],
    ],
  )
  assert.deepEqual(
    outputs.map(({ callID, segment, messageIndex, partIndex, messageID }) => [
      callID,
      segment,
      messageIndex,
      partIndex,
      messageID,
    ]),
    [
      ["c1", 2, 3, 0, "msg_a"],
      ["c2", 2, 4, 0, "msg_a"],
    ],
  )
})

test("the host's own text at the end is no step: no model call wrote it", () => {
  const limit = { role: "assistant", content: [said("CRITICAL")] }
  assert.deepEqual(
    readMessages(user(said("u")), wrote(said("a")), limit).segments.map(({ kind, requestedAt }) => [kind, requestedAt]),
    [
      ["user", undefined],
      ["step", 1],
      ["user", undefined],
    ],
  )
  assert.equal(readMessages(user(said("u")), limit, user(said("u"))).segments[1]?.requestedAt, 1)
})

test("a text alone stands for one part", () => {
  assert.equal(readMessages({ role: "user", content: "abcd" }).segments[0]?.tokens, 6)
})

test("a part that is no plain data has no size, and its message is read on", () => {
  const { segments } = readMessages(user(Object.create({ type: "text", text: "a" }) as object, said("abcd")))
  assert.deepEqual([segments[0]?.unknownSize, segments[0]?.tokens], [true, 4 + 1 + 1 + 1])
})

test("a part that is a proxy is not looked into", () => {
  assert.equal(readMessages(user(new Proxy({ type: "text", text: "a" }, {}))).segments[0]?.unknownSize, true)
})

for (const [what, message] of [
  ["no object", "text"],
  ["of another role", { role: "developer", content: [] }],
  ["without content", { role: "user" }],
  ["whose role is an accessor", Object.defineProperty({ content: [] }, "role", { get: () => "user" })],
  ["whose content is a proxy", { role: "user", content: new Proxy([], {}) }],
  ["that is a proxy", new Proxy({ role: "user", content: [] }, {})],
] as const)
  test(`a message ${what} makes the history unreadable`, () => {
    assert.equal(copyMessages([user(said("a")), message]), undefined)
  })

const big = tokens(900)
const fileOf = (more: object = {}): object => ({
  type: "json",
  value: { name: "a.ts", content: big, encoding: "utf8", ...more },
})
const shellOf = (...texts: string[]): object => ({ type: "content", value: texts.map(said) })

const read = (value: object, input: unknown = { path: "a.ts" }): object[] => [
  wrote(call("c", "read", input)),
  answered(result(value)),
]
const shell = (value: object): object[] => [
  wrote(call("c", "bash", { command: "ls" })),
  answered(result(value, "c", "bash")),
]

/** What is proven, and what is not: the first reason to keep the output, or none. */
const KEPT: readonly [what: string, messages: object[], reason: string | undefined][] = [
  ["a file's text", read(fileOf()), undefined],
  ["a file under 1.x's name", read(fileOf(), { filePath: "a.ts" }), undefined],
  ["a file under both names", read(fileOf(), { path: "a.ts", filePath: "b.ts" }), "no-path"],
  ["a file without a name", read(fileOf(), {}), "no-path"],
  ["a file whose call is still text", read(fileOf(), '{"path":"a.ts"'), "no-path"],
  ["an instruction file", read(fileOf(), { path: String.raw`C:\x\claude.md` }), "instruction-file"],
  ["a file that brought instructions", read(fileOf({ loaded: ["AGENTS.md"] })), "loaded-instructions"],
  ["a file that brought none", read(fileOf({ loaded: [] })), undefined],
  ["a file whose account is gone", read({ type: "text", value: big }), "loaded-instructions"],
  ["bytes", read(fileOf({ encoding: "base64" })), "attachments"],
  ["a file with attachments", read(fileOf({ attachments: [{}] })), "attachments"],
  ["a file with a list of none", read(fileOf({ attachments: [] })), undefined],
  ["an account with an error", read(fileOf({ error: "late" })), "error"],
  ["a list of files", read({ type: "json", value: [big] }), "loaded-instructions"],
  ["a command's exit by the host's sentence", shell(shellOf(big, "Command exited with code 0.")), undefined],
  ["the same behind warnings", shell(shellOf(big, "Warnings:\n- x\n\nCommand exited with code 0.")), undefined],
  ["a text that only ends in the sentence", shell(shellOf(big, "x Command exited with code 0.")), "unproven-exit"],
  ["another exit", shell(shellOf(big, "Command exited with code 10.")), "failed-exit"],
  ["a command that timed out", shell(shellOf(big, "Command timed out before completion.")), "unproven-exit"],
  ["the sentence in the command's own text", shell(shellOf(`${big}\n\nCommand exited with code 0.`)), "unproven-exit"],
  ["the sentence before more", shell(shellOf(big, "Command exited with code 0.\n")), "unproven-exit"],
  [
    "a success that was cut to one text",
    shell({ type: "text", value: `${big}Command exited with code 0.` }),
    "unproven-exit",
  ],
  ["a command's account", shell({ type: "json", value: { exit: 0, output: big } }), undefined],
  ["a command's account of a failure", shell({ type: "json", value: { exit: 1, output: big } }), "failed-exit"],
  ["a command's account of nothing", shell({ type: "json", value: { exit: null, output: big } }), "failed-exit"],
  ["an error result", shell({ type: "error", value: big }), "not-completed"],
  ["the placeholder itself", shell({ type: "text", value: PLACEHOLDER }), "already-cleared"],
  ["a result of another form", shell({ type: "stream", value: big }), "not-completed"],
  ["a result without its call", [wrote(said("a")), answered(result(fileOf()))], "not-completed"],
  ["a result behind a user", [wrote(call()), user(said("a")), answered(result(fileOf()))], "not-completed"],
  ["a result under another tool's name", [wrote(call()), answered(result(fileOf(), "c", "grep"))], "not-completed"],
  ["two calls of one id", [wrote(call(), call()), answered(result(fileOf()))], "not-completed"],
  ["a result of the provider", [wrote(call(), result(fileOf()))], "provider-executed"],
  [
    "a call of the provider",
    [wrote({ ...call(), providerExecuted: true }), answered(result(fileOf()))],
    "provider-executed",
  ],
  [
    "a result that says so",
    [wrote(call()), answered({ ...result(fileOf()), providerExecuted: true })],
    "provider-executed",
  ],
]
for (const [what, messages, reason] of KEPT)
  test(`${what}: ${reason ?? "may be cleared"}`, () => {
    const [output] = readMessages(...messages).outputs
    assert.ok(output)
    assert.equal(findKeptReason(output, DEFAULT_POLICY), reason)
  })

test("a second result of one call answers nothing", () => {
  const { outputs } = readMessages(wrote(call()), answered(result(fileOf())), answered(result(fileOf())))
  assert.deepEqual(
    outputs.map(({ facts }): OutputFacts["outcome"] => facts.outcome),
    ["completed", "unknown"],
  )
})
