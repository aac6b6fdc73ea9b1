import assert from "node:assert/strict"
import test from "node:test"
import type { Model, Origin } from "../../lib/dtc/types.ts"
import { readHistory } from "../../lib/dtc/wire.ts"
import { assistant, bash, MODEL, pending, read, reasoning, session, text, user, userParts } from "../helpers/history.ts"

type Draft = ReturnType<typeof user>
type Fields = Record<string, unknown>

const START = { type: "step-start" }
const model = (npm?: string): Model => ({ ...MODEL, ...(npm !== undefined && { npm }) })
const originOf = (draft: Draft, asked: Model = model("@ai-sdk/openai-compatible")): Partial<Origin> =>
  readHistory(session(draft), { model: asked })?.origins[0] ?? {}
const synthetic = (words: string): Fields => ({ type: "text", text: words, synthetic: true })

const kinds: [name: string, draft: Draft, kind: Origin["kind"]][] = [
  ["a prompt", user("go"), "prompt"],
  ["a prompt without parts", userParts(), "prompt"],
  ["a prompt with an added text", user("go", {}, synthetic("context")), "prompt"],
  ["added texts alone", userParts(synthetic("context"), synthetic("more")), "added"],
  ["an added text beside one that is not sent", userParts(synthetic("context"), text("")), "added"],
  ["an added text beside an ignored one", userParts(synthetic("context"), { ...text("x"), ignored: true }), "added"],
  ["an added file", userParts({ type: "file", mime: "text/plain", synthetic: true }), "prompt"],
  ["a request for a summary", userParts(text("please"), { type: "compaction" }), "checkpoint"],
  ["a response", assistant([text("x")]), "step"],
  ["a summary", assistant([text("x")], { summary: true }), "summary"],
  ["a response that only says so", assistant([text("x")], { summary: "yes" }), "step"],
]
for (const [name, draft, kind] of kinds)
  test(`where it comes from: ${name}`, () => {
    const origin = originOf(draft)
    assert.equal(origin.kind, kind)
    assert.equal("step" in origin, draft.role === "assistant")
    assert.equal("summarizedBefore" in origin, kind === "checkpoint")
  })

test("a checkpoint's tail is named by its own part, or it is the request itself", () => {
  const tail = (...parts: Fields[]) => originOf(userParts(...parts)).summarizedBefore
  assert.equal(tail({ type: "compaction", tail_start_id: "msg_7" }), "msg_7")
  assert.equal(tail({ ...text("x"), tail_start_id: "msg_8" }, { type: "compaction", tail_start_id: "msg_7" }), "msg_7")
  assert.equal(tail({ type: "compaction", tail_start_id: 7 }), "msg_0000")
})

test("only a summary names its checkpoint", () => {
  const named = (info: Fields) => originOf(assistant([text("x")], info))
  assert.equal(named({ summary: true, parentID: "msg_7" }).checkpointID, "msg_7")
  assert.equal("checkpointID" in named({ summary: true, parentID: 7 }), false)
  assert.equal("checkpointID" in named({ parentID: "msg_7" }), false)
})

test("a response is unfinished until it ends or fails", () => {
  const unfinished = (draft: Draft) => originOf(draft).isUnfinished
  assert.equal(unfinished(assistant([text("x")])), true)
  assert.equal(unfinished(assistant([text("x")], { time: { created: 1, completed: 2 } })), false)
  assert.equal(unfinished(assistant([text("x")], { time: { created: 1, completed: "2" } })), true)
  assert.equal(unfinished(assistant([text("x")], { error: { name: "APIError" } })), false)
  assert.equal(unfinished(user("go")), false)
})

const ANTHROPIC = "@ai-sdk/anthropic"
const BEDROCK = "@ai-sdk/amazon-bedrock"
const OTHER = "@ai-sdk/openai-compatible"
const signed = (key: string, value: unknown = "s", provider = "anthropic"): Fields => ({ [provider]: { [key]: value } })

/** Whether a step of such parts is a message of its own; `undefined`: that cannot be told. */
const senders: [name: string, parts: Fields[], npm: string | undefined, sends: boolean | undefined][] = [
  ["a text", [text("x")], ANTHROPIC, true],
  ["no parts", [], ANTHROPIC, false],
  ["parts that are not sent", [START, { type: "patch" }], ANTHROPIC, false],
  ["a part with an empty text that is not sent", [{ type: "patch", text: "" }], ANTHROPIC, false],
  ["an empty text", [text("")], ANTHROPIC, false],
  ["an empty text, kept", [text("")], OTHER, true],
  ["an empty text, provider unknown", [text("")], undefined, undefined],
  ["an empty text beside a text", [text(""), text("x")], undefined, true],
  ["an empty text beside signed reasoning", [reasoning("r", signed("signature")), text("")], undefined, true],
  ["reasoning", [reasoning("r")], ANTHROPIC, true],
  ["blank reasoning", [reasoning(" \n")], ANTHROPIC, false],
  ["blank reasoning, signed", [reasoning("", signed("signature"))], ANTHROPIC, true],
  ["blank reasoning, redacted", [reasoning("", signed("redactedData"))], ANTHROPIC, true],
  ["blank reasoning with other options", [reasoning("", signed("other"))], ANTHROPIC, false],
  ["blank reasoning with an empty signature", [reasoning("", signed("signature", null))], ANTHROPIC, false],
  ["blank reasoning signed by another", [reasoning("", signed("signature", "s", "openai"))], ANTHROPIC, false],
  ["blank reasoning, kept", [reasoning("")], OTHER, true],
  ["blank reasoning, provider unknown", [reasoning("")], undefined, undefined],
  ["reasoning, provider unknown", [reasoning("r")], undefined, true],
  ["unsigned reasoning on Bedrock", [reasoning("r")], BEDROCK, false],
  ["signed reasoning on Bedrock", [reasoning("r", signed("signature", "s", "bedrock"))], BEDROCK, true],
  ["redacted reasoning on Bedrock", [reasoning("r", signed("redactedContent", "s", "bedrock"))], BEDROCK, true],
  ["redacted data on Bedrock", [reasoning("r", signed("redactedData", "s", "bedrock"))], BEDROCK, true],
  ["reasoning signed for the provider's own id", [reasoning("r", signed("signature", "s", "lab"))], BEDROCK, true],
  ["reasoning signed by another on Bedrock", [reasoning("r", signed("signature"))], BEDROCK, false],
  ["a package named like an object's own method", [reasoning("")], "constructor", true],
  ["a call", [bash("ls", "x")], ANTHROPIC, true],
  ["a call without an id", [{ ...bash("ls", "x"), callID: "" }], ANTHROPIC, undefined],
  ["a call of a state that nobody knows", [read("a", "x", { status: "done" }), text("x")], ANTHROPIC, undefined],
  ["a part that nobody knows", [{ type: "hologram" }], ANTHROPIC, undefined],
  ["a part that nobody knows beside a text", [{ type: "hologram" }, text("x")], ANTHROPIC, true],
]
for (const [name, parts, npm, sends] of senders)
  test(`whether a step is a message: ${name}, ${npm ?? "no package"}: ${sends}`, () => {
    assert.equal(originOf(assistant(parts), model(npm)).sends, sends)
  })

test("reasoning that another model wrote keeps its message, whatever it holds", () => {
  const other = assistant([reasoning("x")], { providerID: "other", modelID: "m" })
  assert.equal(originOf(other, model(BEDROCK)).sends, true)
})

test("an empty text of a user's is nothing, for every package", () => {
  assert.equal(originOf(userParts(text("")), model(OTHER)).sends, false)
  assert.equal(originOf(userParts({ type: "hologram" }), model(OTHER)).sends, undefined)
})

test("what the provider ran is answered inside, the rest behind it", () => {
  const executed = { metadata: { providerExecuted: true } }
  const names = (origin: Partial<Origin>) =>
    [origin.answers, origin.answersInside].map((outputs) => outputs?.map(({ tool }) => tool))
  const mixed = assistant([text("x"), bash("ls", "x"), { ...read("a", "y"), ...executed }, pending("running", {})])
  assert.deepEqual(names(originOf(mixed)), [["bash", "bash"], ["read"]])
  assert.deepEqual(names(originOf(assistant([text("x"), bash("ls", "x")]))), [["bash"], []])
  assert.deepEqual(names(originOf(assistant([text("x")]))), [[], []])
  const failed = assistant([bash("ls", "x")], { error: { name: "APIError" } })
  assert.deepEqual(names(originOf(failed)), [[], []])
  assert.deepEqual([originOf(failed).sends, originOf(failed).movesMedia], [false, false])
})

const shots = (state: Fields): Draft =>
  assistant([read("a", "x", { attachments: [{ mime: "image/png", url: "data:image/png;base64,AA==" }], ...state })])
const movers: [name: string, state: Fields, npm: string | undefined, moves: boolean | undefined][] = [
  ["where the provider takes it", {}, ANTHROPIC, false],
  ["where it does not", {}, OTHER, true],
  ["where nobody knows", {}, undefined, undefined],
  ["of a cleared output", { time: { compacted: 5 } }, OTHER, false],
  ["of a failed one", { status: "error" }, OTHER, false],
]
for (const [name, state, npm, moves] of movers)
  test(`media of a result goes out behind it: ${name}: ${moves}`, () => {
    assert.equal(originOf(shots(state), model(npm)).movesMedia, moves)
  })

test("only tools have results, and so media of them", () => {
  const [shot] = shots({}).parts
  assert.equal(originOf(assistant([text("x"), { ...shot, type: "text", text: "y" }]), model(OTHER)).movesMedia, false)
})
