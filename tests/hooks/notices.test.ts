import assert from "node:assert/strict"
import test from "node:test"
import type { Message } from "../../lib/dtc/types.ts"
import { rejects, throws } from "../helpers/client.ts"
import { bash, clearedTargets, read, session, step, tokens, user } from "../helpers/history.ts"
import { longHistory, startInstance, type Instance } from "./instance.ts"

/** The history at its n-th request: each answer reads one more file of 1,000 tokens. The budget is 2,500. */
const growing = (answers: number, ...more: ReturnType<typeof step>[]): Message[] =>
  session(
    user("go"),
    ...Array.from({ length: answers }, (_, index) => step(read(`file-${index}.ts`, tokens(1_000, `f${index}`)))),
    ...more,
  )

const lines = ({ fake }: Instance): string[] =>
  fake
    .logged()
    .filter(({ level }) => level === "info")
    .map(({ message }) => message)

const quiet = (fields: Parameters<typeof startInstance>[1] = {}): Instance =>
  startInstance({}, { debug: false, ...fields })

test("a batch is one line in the host's log: how many, how much, why", async () => {
  const instance = quiet()
  await instance.transform(longHistory())
  const [line, ...others] = instance.fake.logged()
  assert.deepEqual(others, [])
  assert.equal(line?.level, "info")
  assert.match(line.message, /^opencode-dcp: cleared 1 output, about \d,\d{3} tokens \(1 oldest first, over target\)$/)
  const size = Number(/about ([\d,]+)/.exec(line.message)?.[1]?.replace(",", ""))
  assert.deepEqual(line.extra, { sessionID: "ses_1", outputs: 1, tokens: size, reasons: { aged: 1 } })
  assert.deepEqual(instance.fake.toasted(), [], "toasts are off by default")
})

test("with notify a batch is one toast too, of the same words", async () => {
  const instance = quiet({ notify: "toast" })
  await instance.transform(longHistory())
  const [line = ""] = lines(instance)
  assert.deepEqual(instance.fake.toasted(), [
    { title: "opencode-dcp", message: line.replace("opencode-dcp: ", ""), variant: "info" },
  ])
  assert.equal(lines(instance).length, 1)
})

test("each request says only what it is the first to be sent without", async () => {
  const instance = quiet({ notify: "toast" })
  const said: number[] = []
  const cleared: number[] = []
  for (let answers = 0; answers <= 8; answers++) {
    const messages = growing(answers)
    await instance.transform(messages)
    said.push(instance.fake.toasted().length)
    cleared.push(clearedTargets(messages).length)
  }
  const batches = cleared.filter((count, index) => count > (cleared[index - 1] ?? 0)).length
  assert.ok(batches > 1 && batches < cleared.filter((count) => count > 0).length + 1)
  assert.equal(said.at(-1), batches)
  const told = lines(instance).map((line) => Number(/cleared (\d+)/.exec(line)?.[1]))
  assert.equal(
    told.reduce((sum, count) => sum + count, 0),
    cleared.at(-1),
    "every output is announced once",
  )
})

test("reasons are told apart, a forced clear among them", async () => {
  const instance = quiet()
  const copy = () => read("a.ts", tokens(600, "a"))
  const recent = step(copy(), bash("ls", tokens(600)))
  await instance.transform(session(user("go"), step(copy()), step(bash("ls", tokens(600, "b"))), recent))
  assert.match(lines(instance)[0] ?? "", /\(1 with a later identical copy; 1 oldest first, over target\)$/)

  await instance.prune("ses_2")
  const small = session(user("go"), step(read("a.ts", tokens(1_000))), user("next"), step(bash("ls", "b")))
  for (const { info } of small) info.sessionID = "ses_2"
  await instance.transform(small)
  assert.match(lines(instance)[1] ?? "", /cleared 1 output, about \d+ tokens \(1 asked for with dcp_prune\)$/)
})

test("a restarted host does not announce again what an earlier request chose", async () => {
  const [before, restarted] = [quiet({ notify: "toast" }), quiet({ notify: "toast" })]
  let answers = 0
  while (lines(before).length === 0) await before.transform(growing(++answers))
  const carried = growing(answers, step(bash("ls", "a")))
  await restarted.transform(carried)
  assert.ok(clearedTargets(carried).length > 0, "it was carried")
  assert.deepEqual([lines(restarted), restarted.fake.toasted()], [[], []])
})

test("a request that is made again is announced once, another session's by itself", async () => {
  const instance = quiet({ notify: "toast" })
  for (let round = 0; round < 3; round++) {
    await instance.transform(longHistory("ses_1"))
    await instance.transform(longHistory("ses_2"))
  }
  assert.equal(instance.fake.toasted().length, 2)
  await instance.deleted("ses_1")
  await instance.transform(longHistory("ses_1"))
  await instance.transform(longHistory("ses_2"))
  assert.equal(instance.fake.toasted().length, 3, "a deleted session is forgotten, others are not")
  await instance.call("dispose")
  await instance.transform(longHistory("ses_2"))
  assert.equal(instance.fake.toasted().length, 4)
})

test("selecting anew on every request announces what was not cleared before", async () => {
  const instance = quiet({ notify: "toast", dtc: { stablePrefix: false } })
  let before: string[] = []
  for (let answers = 0; answers <= 8; answers++) {
    const said = instance.fake.toasted().length
    for (let round = 0; round < 2; round++) await instance.transform(growing(answers))
    const messages = growing(answers)
    await instance.transform(messages)
    const cleared = clearedTargets(messages)
    const isNew = cleared.some((target) => !before.includes(target))
    assert.equal(instance.fake.toasted().length - said, isNew ? 1 : 0)
    before = cleared
  }
  assert.ok(instance.fake.toasted().length > 1)
})

test("sessions beyond the capacity are forgotten, oldest first", async () => {
  const instance = quiet()
  for (let index = 0; index < 257; index++) await instance.transform(longHistory(`ses_${index}`))
  assert.equal(lines(instance).length, 257)
  await instance.transform(longHistory("ses_1"))
  assert.equal(lines(instance).length, 257, "still known")
  await instance.transform(longHistory("ses_0"))
  assert.equal(lines(instance).length, 258)
})

test("a session that goes on is not the oldest", async () => {
  const instance = quiet()
  for (let index = 0; index < 256; index++) await instance.transform(longHistory(`ses_${index}`))
  for (const sessionID of ["ses_0", "ses_256", "ses_0"]) await instance.transform(longHistory(sessionID))
  assert.equal(lines(instance).length, 257)
})

test("a host that takes no log line and no toast changes nothing", async () => {
  for (const broken of [rejects, throws]) {
    const call = () => broken({ signal: new AbortController().signal })
    const instance = startInstance({ log: call, showToast: call }, { debug: false, notify: "toast" })
    const messages = longHistory()
    await instance.transform(messages)
    assert.equal(clearedTargets(messages).length, 1)
    assert.deepEqual([instance.fake.countOf("app.log"), instance.fake.countOf("tui.showToast")], [1, 1])
  }
})

test("a request that clears nothing is no notice", async () => {
  const instance = quiet({ notify: "toast" })
  await instance.transform(growing(1))
  await instance.transform([{}])
  assert.deepEqual([lines(instance), instance.fake.toasted()], [[], []])
})
