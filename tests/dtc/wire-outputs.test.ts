import assert from "node:assert/strict"
import test from "node:test"
import type { OutputFacts, Part, ToolOutput } from "../../lib/dtc/types.ts"
import { readOutput } from "../../lib/dtc/wire-outputs.ts"
import { bash, failed, pending, read } from "../helpers/history.ts"

type Fields = Record<string, unknown>

const PLACE = { messageIndex: 3, partIndex: 5, messageID: "msg_1", segment: 7 }
const outputOf = (part: Fields, sent = true): ToolOutput => readOutput(part as unknown as Part, PLACE, sent)
const withMetadata = (metadata: unknown): Fields => read("a", "text", { metadata })
const attachments = [{ mime: "image/png" }]

const facts: [name: string, part: Fields, expected: Partial<OutputFacts>][] = [
  ["completed", read("a", "text"), { outcome: "completed", mark: "none", exitCode: "absent", path: "a", error: false }],
  ["failed", failed("read", {}, "no"), { outcome: "failed", error: true }],
  ["pending", pending("pending", {}), { outcome: "unfinished" }],
  ["running", pending("running", {}), { outcome: "unfinished" }],
  ["of a state that the host does not have", read("a", "text", { status: "done" }), { outcome: "unknown" }],
  ["without a state", { ...read("a", "text"), state: 7 }, { outcome: "unknown", mark: "unmarkable" }],
  ["cleared", read("a", "text", { time: { compacted: 7 } }), { mark: "placeholder" }],
  ["with a mark that is not in force", read("a", "text", { time: { compacted: 0 } }), { mark: "odd" }],
  ["without times", read("a", "text", { time: undefined }), { mark: "unmarkable" }],
  ["with an exit code", bash("ls", "text", 3), { exitCode: 3 }],
  ["with an exit code of an odd type", bash("ls", "text", "3"), { exitCode: "odd" }],
  ["with odd metadata", withMetadata(null), { exitCode: "odd", loadedInstructions: true }],
  ["without metadata", withMetadata(undefined), { exitCode: "absent", loadedInstructions: false }],
  ["with attachments", read("a", "text", { attachments }), { attachments: true }],
  ["with attachments in its metadata", withMetadata({ attachments }), { attachments: true }],
  ["with attachments in the part's", { ...read("a", "text"), metadata: { attachments } }, { attachments: true }],
  ["with no attachments", withMetadata({ attachments: [] }), { attachments: false, providerExecuted: false }],
  ["run by the provider", withMetadata({ providerExecuted: true }), { providerExecuted: true }],
  ["of an empty path", read("", "text"), { path: undefined }],
  ["of a path of an odd type", read(["a"], "text"), { path: undefined }],
]
for (const [name, part, expected] of facts)
  test(`an output ${name}`, () => {
    const { facts: actual } = outputOf(part)
    for (const [fact, value] of Object.entries(expected)) assert.equal(actual[fact as keyof OutputFacts], value, fact)
  })

test("an output knows its place, its call and what a mark would save", () => {
  const text = "x".repeat(400)
  const { facts: _facts, ...output } = outputOf({ ...read("a", text), id: "prt_1", callID: "call_1" })
  const expected = { tool: "read", input: { filePath: "a" }, text, textTokens: 100, savingsTokens: 100 - 33 / 4 }
  assert.deepEqual(output, { ...PLACE, partID: "prt_1", callID: "call_1", ...expected })
  assert.equal(outputOf(read("a", "tiny")).savingsTokens, 0)
})

test("what is not sent as a result costs nothing and saves nothing", () => {
  const text = "x".repeat(400)
  for (const output of [outputOf(read("a", text), false), outputOf(read("a", text, { status: "error" }))])
    assert.deepEqual([output.text, output.textTokens, output.savingsTokens], [text, 0, 0])
})

test("a mark counts from its time on, one without a usable time from the start", () => {
  assert.equal(outputOf(read("a", "text", { time: { compacted: 7 } })).markedAt, 7)
  assert.equal(outputOf(read("a", "text", { time: { compacted: "yes" } })).markedAt, 0)
  assert.equal("markedAt" in outputOf(read("a", "text", { time: { compacted: 0 } })), false)
})
