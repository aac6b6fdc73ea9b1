import assert from "node:assert/strict"
import test from "node:test"
import { filterCompacted, splitWindows } from "../../lib/cli/windows.ts"
import { readWindow } from "../../bench/replay/window.ts"
import type { Message } from "../../lib/dtc/types.ts"
import { assistant, bash, DEFAULT_POLICY, session, step, text, user } from "../helpers/history.ts"

const turn = (name: string) => [user(name, { id: `u-${name}` }), assistant([text(name)], { id: `a-${name}` })]

const compactionPair = (name: string, fields: object = {}, info: object = {}) => [
  { role: "user", parts: [{ type: "compaction", ...fields }], info: { id: `c-${name}` } },
  assistant([text("summary")], { id: `s-${name}`, summary: true, finish: "stop", parentID: `c-${name}`, ...info }),
]

const ids = (messages: readonly Message[]): string => messages.map(({ info }) => info.id).join(" ")

test("a session without a completed compaction is one window", () => {
  const failed = compactionPair("1", {}, { error: { name: "ContextOverflowError" } })
  const unfinished = compactionPair("2", {}, { finish: undefined })
  const messages = session(...turn("a"), ...failed, ...unfinished, ...turn("b"))
  assert.deepEqual(splitWindows(messages).map(ids), [ids(messages)])
  assert.deepEqual(splitWindows([]), [])
})

test("a summary under an ordinary user message is no boundary", () => {
  const summary = assistant([text("s")], { id: "s", summary: true, finish: "stop", parentID: "u-a" })
  const messages = session(...turn("a"), summary, ...turn("b"))
  assert.equal(ids(filterCompacted(messages)), ids(messages))
})

test("each completed compaction opens a window", () => {
  const messages = session(...turn("a"), ...compactionPair("1"), ...turn("b"), ...compactionPair("2"), ...turn("c"))
  assert.deepEqual(splitWindows(messages).map(ids), ["u-a a-a", "c-1 s-1 u-b a-b", "c-2 s-2 u-c a-c"])
})

test("a retained tail stands behind the pair and may start at an assistant message", () => {
  const pair = compactionPair("1", { tail_start_id: "a-a" })
  const messages = session(...turn("a"), ...turn("b"), ...pair, ...turn("c"))
  assert.equal(ids(filterCompacted(messages)), "c-1 s-1 a-a u-b a-b u-c a-c")
})

test("a tail that is not in the session is ignored", () => {
  const messages = session(...turn("a"), ...compactionPair("1", { tail_start_id: "gone" }), ...turn("b"))
  assert.equal(ids(filterCompacted(messages)), "c-1 s-1 u-b a-b")
})

test("a retained tail starts no request, steps of one message start one each", () => {
  const two = assistant([{ type: "step-start" }, bash("ls", "a"), { type: "step-start" }, bash("ls", "b")])
  const pair = compactionPair("1", { tail_start_id: "a-a" })
  const messages = filterCompacted(session(...turn("a"), ...pair, user("go"), two, step(bash("ls", "c"))))
  const { requests } = readWindow("s", 1, messages, DEFAULT_POLICY)
  assert.deepEqual(
    requests.map(({ messageEnd, partEnd, outputEnd, startsTurn }) => [messageEnd, partEnd, outputEnd, startsTurn]),
    [
      [4, 0, 0, true],
      [4, 2, 1, false],
      [5, 0, 2, false],
    ],
  )
})
