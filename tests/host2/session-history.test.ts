import assert from "node:assert/strict"
import test from "node:test"
import { MODEL } from "./host.ts"
import { lowerRows } from "./lowering.ts"
import type { Row } from "./rows.ts"
import { MessageDecodeError, SessionRows } from "./session-history.ts"

const said = (rows: readonly Row[]): string[] =>
  rows.map((row) => ("text" in row ? row.text : row.type === "compaction" ? row.summary : row.type))

const user = (text: string): Row => ({ id: `msg_${text}`, type: "user", text })
const system = (text: string): Row => ({ id: `msg_${text}`, type: "system", text })
const compaction = (summary: string): Row => ({ id: `msg_${summary}`, type: "compaction", summary, recent: "" })

function sessionOf(...rows: Row[]): SessionRows {
  const session = new SessionRows()
  for (const row of rows) session.append(row)
  return session
}

test("history begins with the newest compaction", () => {
  const session = sessionOf(user("a"), compaction("one"), user("b"), compaction("two"), user("c"))
  assert.deepEqual(said(session.read()), ["two", "c"])
})

test("system rows count when they are newer than the baseline, also before the compaction; older ones never", () => {
  const session = sessionOf(system("old"), user("a"), system("new"), compaction("one"), system("newest"))
  session.baselineSeq = 1
  assert.deepEqual(said(session.read()), ["new", "one", "newest"])
  session.baselineSeq = 4
  assert.deepEqual(said(session.read()), ["one", "newest"])
})

for (const [what, type, data] of [
  ["of a kind that nobody knows", "hologram", {}],
  ["without its text", "user", {}],
  ["whose content is no list", "assistant", { content: "a", model: MODEL }],
] as const)
  test(`a row ${what} fails the reading, with session and message id`, () => {
    const session = sessionOf(user("a"))
    session.store("msg_odd", type, { ...data })
    assert.throws(
      () => session.read(),
      (error) => {
        assert.ok(error instanceof MessageDecodeError)
        assert.deepEqual([error.sessionID, error.messageID], ["ses_1", "msg_odd"])
        return true
      },
    )
  })

test("a row before the newest compaction is not decoded", () => {
  const session = new SessionRows()
  session.store("msg_odd", "hologram", {})
  session.append(compaction("one"))
  assert.deepEqual(said(session.read()), ["one"])
})

test("a newer turn supersedes a stale incomplete row; an older one is never resumed", () => {
  const session = sessionOf(user("a"))
  session.startStep("msg_stale", MODEL)
  session.write({ type: "text", text: "half" })
  session.startStep("msg_new", MODEL)
  session.endStep()
  session.write({ type: "text", text: "too late for either" })
  const rows = session.read()
  assert.deepEqual(
    rows.map((row) => (row.type === "assistant" ? [row.id, row.completed, row.content.length] : row.id)),
    ["msg_a", ["msg_stale", true, 1], ["msg_new", true, 0]],
  )
  assert.equal(lowerRows(rows, MODEL).length, 2, "an empty response sends nothing")
})

test("a steering prompt is absent until it is promoted, and then comes where it was promoted", () => {
  const session = sessionOf(user("a"))
  session.admit({ id: "msg_s", text: "steer", delivery: "steer" })
  session.admit({ id: "msg_q", text: "queued", delivery: "queue" })
  session.append(user("b"))
  assert.deepEqual(said(session.read()), ["a", "b"])
  session.promote("steer")
  assert.deepEqual(said(session.read()), ["a", "b", "steer"])
})

test("an exact retry is one row; another prompt under its id is refused", () => {
  const session = new SessionRows()
  for (let attempt = 0; attempt < 3; attempt++) {
    session.admit({ id: "msg_s", text: "steer", delivery: "steer" })
    session.promote("steer")
  }
  assert.deepEqual(said(session.read()), ["steer"])
  assert.throws(() => session.admit({ id: "msg_s", text: "other", delivery: "steer" }), /conflict/)
})
