import { join } from "node:path"
import type { Draw } from "../../fuzz/mutate.ts"
import { bash, call, read, type ScriptedCall } from "../model-script.ts"
import { drawInteger, pickByWeight, pickOne } from "./choose.ts"
import type { CallPlace, Expected, PlannedCall } from "./planned-call.ts"
import { grepOutput, isCappedRead, isCutBashOutput, readOutput, readPageOutput } from "./tool-outputs.ts"

interface KindInput extends CallPlace {
  id: string
  draw: Draw
}

interface KindResult {
  call: ScriptedCall
  expected: Expected
  prepared?: PlannedCall["prepared"]
}

interface CallKind {
  kind: string
  weight: number
  /** Exists only with the plugin. */
  isOwn?: true
  plan: (input: KindInput) => KindResult
}

const completed = (tool: string, text: string): Expected => ({
  tool,
  status: "completed",
  isRight: (output) => output === text,
})

const completedLike = (tool: string, isRight: (text: string) => boolean): Expected => ({
  tool,
  status: "completed",
  isRight,
})

const failed = (tool: string, text: string): Expected => ({ tool, status: "error", isRight: (error) => error === text })

const SILENCE: Expected = completed("bash", "(no output)")
const EDITABLE = "first line\nold line\nlast line\n"
const NOT_THERE =
  "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings."
const NOT_RECALLED =
  /^(?:Nothing to recall: |No cleared output of this session's|\d+ cleared outputs match\.|Not recalled: )/
const TODOS = [{ content: "Go on", status: "in_progress", priority: "high" }]

const CALL_KINDS: readonly CallKind[] = [
  { kind: "read", weight: 34, plan: planRead },
  { kind: "read a page", weight: 6, plan: planPage },
  { kind: "read a large file", weight: 2, plan: planLargeRead },
  { kind: "read what is not there", weight: 4, plan: planMissingRead },
  { kind: "bash", weight: 20, plan: planCat },
  { kind: "bash with a large output", weight: 2, plan: planLargeCat },
  { kind: "bash that fails", weight: 5, plan: planFailingCat },
  { kind: "bash without output", weight: 2, plan: ({ id }) => ({ call: bash("true", id), expected: SILENCE }) },
  { kind: "grep", weight: 10, plan: planGrep },
  { kind: "grep without a match", weight: 2, plan: planIdleGrep },
  { kind: "glob", weight: 4, plan: planGlob },
  { kind: "write", weight: 4, plan: planWrite },
  { kind: "edit", weight: 4, plan: planEdit },
  { kind: "edit that fails", weight: 2, plan: planFailingEdit },
  { kind: "todowrite", weight: 2, plan: planTodos },
  { kind: "a tool that is not there", weight: 2, plan: planInvalid },
  { kind: "dcp_prune", weight: 3, isOwn: true, plan: planPrune },
  { kind: "dcp_status", weight: 1, isOwn: true, plan: planStatus },
  { kind: "dcp_recall", weight: 2, isOwn: true, plan: planRecall },
]

export function planCall(id: string, place: CallPlace, draw: Draw): PlannedCall {
  const row = pickByWeight(CALL_KINDS, draw)
  const { call: scripted, expected, prepared } = row.plan({ ...place, id, draw })
  const isOwn = row.isOwn === true
  return {
    id,
    kind: row.kind,
    withPlugin: scripted,
    withoutPlugin: isOwn ? bash("true", id) : scripted,
    expectedWith: expected,
    expectedWithout: isOwn ? SILENCE : expected,
    ...(prepared && { prepared }),
  }
}

/** For a turn that is interrupted while it runs. */
export function planSleep(id: string, seconds: number): PlannedCall {
  const scripted = bash(`echo begun; sleep ${seconds}`, id)
  const expected = completed("bash", "begun\n")
  return {
    id,
    kind: "bash that waits",
    withPlugin: scripted,
    withoutPlugin: scripted,
    expectedWith: expected,
    expectedWithout: expected,
  }
}

function planRead({ id, root, texts, draw }: KindInput): KindResult {
  const file = pickOne(texts.texts, draw)
  return { call: read(file.path, id), expected: completed("read", readOutput(root, file)) }
}

function planPage({ id, root, texts, draw }: KindInput): KindResult {
  const file = pickOne(texts.texts, draw)
  const [offset, limit] = [drawInteger(draw, 1, 9), drawInteger(draw, 5, 25)]
  const expected = completed("read", readPageOutput(root, file, offset, limit))
  return { call: call("read", { filePath: file.path, offset, limit }, id), expected }
}

function planLargeRead({ id, root, texts, draw }: KindInput): KindResult {
  const file = pickOne(texts.large, draw)
  return { call: read(file.path, id), expected: completedLike("read", (output) => isCappedRead(output, root, file)) }
}

function planMissingRead({ id, root }: KindInput): KindResult {
  const path = `nowhere-${id}`
  return { call: read(path, id), expected: failed("read", `File not found: ${join(root, path)}`) }
}

function planCat({ id, texts, draw }: KindInput): KindResult {
  const file = pickOne(texts.texts, draw)
  return { call: bash(`cat ${file.path}`, id), expected: completed("bash", file.content) }
}

function planLargeCat({ id, texts, draw }: KindInput): KindResult {
  const { path, content } = pickOne(texts.large, draw)
  const expected = completedLike("bash", (output) => isCutBashOutput(output, content))
  return { call: bash(`cat ${path}`, id), expected }
}

function planFailingCat({ id, texts, draw }: KindInput): KindResult {
  const { path, content } = pickOne(texts.texts, draw)
  return {
    call: bash(`cat ${path}; echo failed ${id}; exit 3`, id),
    expected: completed("bash", `${content}failed ${id}\n`),
  }
}

function planGrep({ id, root, texts, draw }: KindInput): KindResult {
  const file = pickOne(texts.texts, draw)
  const scripted = call("grep", { pattern: file.needle, path: file.path }, id)
  return { call: scripted, expected: completed("grep", grepOutput(root, file)) }
}

function planIdleGrep({ id, texts, draw }: KindInput): KindResult {
  const { path } = pickOne(texts.texts, draw)
  return { call: call("grep", { pattern: `never-${id}`, path }, id), expected: completed("grep", "No files found") }
}

function planGlob({ id, root, texts, draw }: KindInput): KindResult {
  const { path } = pickOne(texts.texts, draw)
  return { call: call("glob", { pattern: path }, id), expected: completed("glob", join(root, path)) }
}

function planWrite({ id, texts, draw }: KindInput): KindResult {
  const { content } = pickOne(texts.texts, draw)
  const scripted = call("write", { filePath: `written/${id}.txt`, content: content.slice(0, 900) }, id)
  return { call: scripted, expected: completed("write", "Wrote file successfully.") }
}

function planEdit({ id }: KindInput): KindResult {
  const path = `edited/${id}.txt`
  return {
    call: call("edit", { filePath: path, oldString: "old line", newString: `new line ${id}` }, id),
    expected: completed("edit", "Edit applied successfully."),
    prepared: { path, content: EDITABLE },
  }
}

function planFailingEdit({ id, texts, draw }: KindInput): KindResult {
  const { path } = pickOne(texts.texts, draw)
  const scripted = call("edit", { filePath: path, oldString: `absent-${id}`, newString: "never" }, id)
  return { call: scripted, expected: failed("edit", NOT_THERE) }
}

function planTodos({ id }: KindInput): KindResult {
  return {
    call: call("todowrite", { todos: TODOS }, id),
    expected: completed("todowrite", JSON.stringify(TODOS, null, 2)),
  }
}

function planInvalid({ id }: KindInput): KindResult {
  const expected = completedLike("invalid", (output) => output.includes("unavailable tool 'guesswork'"))
  return { call: call("guesswork", { about: id }, id), expected }
}

function planPrune({ id }: KindInput): KindResult {
  return {
    call: call("dcp_prune", {}, id),
    expected: completedLike("dcp_prune", (output) => output.startsWith("Scheduled: the next request of this session")),
  }
}

function planStatus({ id }: KindInput): KindResult {
  const expected = completedLike("dcp_status", (output) => output.includes("\nBudget: 48,000 tokens of input"))
  return { call: call("dcp_status", {}, id), expected }
}

/** What of the file is cleared depends on the request before; what comes back is a read of it, or says why there is none. */
function planRecall({ id, root, texts, draw }: KindInput): KindResult {
  const { path } = pickOne(texts.texts, draw)
  const args = { tool: "read", input: path, callID: "", offset: 0, limit: 0 }
  const head = `<path>${join(root, path)}</path>\n<type>file</type>\n<content>\n`
  const expected = completedLike(
    "dcp_recall",
    (output) => (output.startsWith(head) && output.endsWith("\n</content>")) || NOT_RECALLED.test(output),
  )
  return { call: call("dcp_recall", args, id), expected }
}
