import assert from "node:assert/strict"
import test from "node:test"
import { findKeptReason } from "../../lib/dtc/eligibility.ts"
import { readHistory } from "../../lib/dtc/wire.ts"
import {
  assistant,
  bash,
  DEFAULT_POLICY,
  failed,
  glob,
  grep,
  isMarked,
  pending,
  read,
  session,
  step,
  tokens,
  tool,
  toolParts,
  user,
} from "../helpers/history.ts"
import { checkProjection } from "../helpers/laws.ts"

const BIG = tokens(2_000)
const POLICY = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0, protectedTools: ["glob"] }
const LAST = step(bash("ls", "x"))

const cleared: Record<string, ReturnType<typeof read>> = {
  "a read": read("src/a.ts", BIG),
  "a grep": grep("x", BIG),
  "a successful command": bash("ls", BIG),
  "an empty list of attachments": read("a", BIG, { attachments: [] }),
  "an empty list of loaded instructions": read("a", BIG, { metadata: { loaded: [] } }),
  "exit code 0 on a read": read("a", BIG, { metadata: { exit: 0 } }),
  "no metadata on a read": read("a", BIG, { metadata: undefined }),
  "a file that only resembles an instruction file": read("docs/MY-AGENTS.md", BIG),
  "a search whose input names an instruction file": tool("grep", { pattern: "x", filePath: "AGENTS.md" }, BIG),
  "a folder named like an instruction file": read("AGENTS.md/notes.txt", BIG),
}

const kept: Record<string, [string, Record<string, unknown>]> = {
  "exit 1": ["failed-exit", bash("ls", BIG, 1)],
  "exit null": ["failed-exit", bash("ls", BIG, null)],
  "exit as text": ["failed-exit", bash("ls", BIG, "0")],
  "no exit": ["unproven-exit", tool("bash", { command: "ls" }, BIG)],
  "command without metadata": ["unproven-exit", tool("bash", { command: "ls" }, BIG, { metadata: undefined })],
  "metadata null": ["failed-exit", read("a", BIG, { metadata: null })],
  "a failed exit on a read": ["failed-exit", read("a", BIG, { metadata: { exit: 3 } })],
  "an error": ["not-completed", failed("read", { filePath: "a" }, BIG)],
  pending: ["not-completed", pending("pending", {})],
  running: ["not-completed", pending("running", { command: BIG })],
  "completed with an error": ["error", read("a", BIG, { error: undefined })],
  "an error beside the state": ["error", { ...read("a", BIG), error: "boom" }],
  "no text": ["no-text", read("a", { lines: 3 })],
  skill: ["other-tool", tool("skill", { name: "x" }, BIG)],
  task: ["other-tool", tool("task", {}, BIG)],
  dcp_prune: ["other-tool", tool("dcp_prune", {}, BIG)],
  dcp_recall: ["other-tool", tool("dcp_recall", {}, BIG)],
  todowrite: ["other-tool", tool("todowrite", {}, BIG)],
  edit: ["other-tool", tool("edit", {}, BIG)],
  write: ["other-tool", tool("write", {}, BIG)],
  webfetch: ["other-tool", tool("webfetch", {}, BIG)],
  "an MCP tool": ["other-tool", tool("github_read", {}, BIG)],
  "an unknown tool": ["other-tool", tool("Read", { filePath: "a" }, BIG)],
  "a protected tool": ["protected-tool", glob("*", BIG)],
  "AGENTS.md": ["instruction-file", read("AGENTS.md", BIG)],
  "agents.MD": ["instruction-file", read("/repo/agents.MD", BIG)],
  "AGENTS.override.md": ["instruction-file", read("/repo/AGENTS.override.md", BIG)],
  "a Windows path": ["instruction-file", read(String.raw`C:\repo\docs\Context.md`, BIG)],
  "SKILL.md": ["instruction-file", read("skills/x/SKILL.md", BIG)],
  "CLAUDE.md": ["instruction-file", read("./CLAUDE.md", BIG)],
  "loaded instructions": ["loaded-instructions", read("a", BIG, { metadata: { loaded: ["/r/AGENTS.md"] } })],
  "loaded of an odd type": ["loaded-instructions", read("a", BIG, { metadata: { loaded: "yes" } })],
  "loaded null": ["loaded-instructions", read("a", BIG, { metadata: { loaded: null } })],
  "a path that is no text": ["no-path", read(42, BIG)],
  "no path": ["no-path", tool("read", {}, BIG)],
  "no input": ["no-path", tool("read", undefined, BIG)],
  "provider executed": ["provider-executed", { ...read("a", BIG), metadata: { providerExecuted: true } }],
  "no time": ["unmarkable", read("a", BIG, { time: undefined })],
  "time of an odd type": ["unmarkable", read("a", BIG, { time: [1] })],
  "a mark already": ["already-cleared", read("a", BIG, { time: { compacted: 7 } })],
  "a mark of an odd type": ["already-cleared", read("a", BIG, { time: { compacted: "yes" } })],
  "a falsy mark": ["odd-mark", read("a", BIG, { time: { compacted: 0 } })],
  "a mark that is undefined": ["odd-mark", read("a", BIG, { time: { compacted: undefined } })],
  "a small output": ["small", read("a", tokens(511))],
  "an empty output": ["small", read("a", "")],
}

for (const [name, part] of Object.entries(cleared)) {
  test(`cleared by force: ${name}`, () => {
    const { messages } = checkProjection(session(user("go"), step(part), LAST), {
      inputBudget: 1e6,
      policy: POLICY,
      force: true,
    })
    assert.deepEqual(toolParts(messages).map(isMarked), [true, false])
  })
}

for (const [name, [reason, part]] of Object.entries(kept)) {
  test(`kept even by force: ${name} (${reason})`, () => {
    const messages = session(user("go"), step(part), LAST)
    const projection = checkProjection(messages, { inputBudget: 1e6, policy: POLICY, force: true })
    assert.equal(projection.cleared.length, 0)
    const output = readHistory(messages)?.outputs[0]
    assert.equal(output && findKeptReason(output, POLICY), reason)
  })
}

/** Live attachments make the request unknown, so the rows are asked directly. */
const attachments = [{ type: "file", mime: "image/png", url: "data:," }]
for (const [name, part] of Object.entries({
  state: read("a", BIG, { attachments }),
  part: { ...read("a", BIG), attachments },
  metadata: read("a", BIG, { metadata: { attachments } }),
  "an odd type": read("a", BIG, { attachments: "none" }),
})) {
  test(`kept: attachments on ${name}`, () => {
    const output = readHistory(session(user("go"), step(part), LAST))?.outputs[0]
    assert.equal(output && findKeptReason(output, POLICY), "attachments")
  })
}

test("kept: outputs of a message that is not sent", () => {
  const lost = assistant([read("a", BIG)], { error: { name: "APIError", data: {} } })
  const messages = session(user("go"), lost, LAST)
  const output = readHistory(messages)?.outputs[0]
  assert.equal(output && findKeptReason(output, POLICY), "not-sent")
  checkProjection(messages, { inputBudget: 1e6, policy: POLICY, force: true })
})

test("an output is small by what it saves, not by its length", () => {
  const policy = { ...POLICY, minimumSavingsTokens: 512 }
  const project = (length: number) =>
    checkProjection(session(user("go"), step(read("a", "x".repeat(length))), LAST), {
      inputBudget: 1e6,
      policy,
      force: true,
    })
  const placeholder = "[Old tool result content cleared]".length
  assert.equal(project(512 * 4 + placeholder).cleared.length, 1)
  assert.equal(project(512 * 4 + placeholder - 1).cleared.length, 0)
})
