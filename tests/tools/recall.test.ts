import assert from "node:assert/strict"
import test from "node:test"
import { Dispatches, type Placeholder } from "../../lib/dispatches.ts"
import type { Message } from "../../lib/dtc/types.ts"
import type { MessageRequest, ToolDefinition } from "../../lib/host.ts"
import { createRecallTool } from "../../lib/tools/recall.ts"
import { createClient, neverAnswers, rejects, throws, type FakeClient } from "../helpers/client.ts"
import { bash, grep, read, session, step, tool, toolParts, user } from "../helpers/history.ts"

const STORED = session(
  user("go"),
  step(read("/p/a.ts", "first a\nof two lines"), bash("npm test -- --grep 'a.*b'", "ok")),
  step(read("/p/a.ts", "second a"), grep(String.raw`(a|b)\.ts$`, "grep found")),
  step(tool("bash", { command: 'echo "$A"\nls', nested: { list: ["deep", 7] } }, "nested")),
)

interface Setup {
  tool: ToolDefinition
  fake: FakeClient
  recall: (args?: Record<string, unknown>, sessionID?: string) => Promise<string>
}

/** A session whose last request carried placeholders for all stored outputs but those left out. */
function setUp(stored = STORED, message: (options: MessageRequest) => unknown = storeOf(stored)): Setup {
  const fake = createClient({ message })
  const dispatches = new Dispatches()
  dispatches.prepare({ key: { sessionID: "ses_1" }, cleared: [], placeholders: placeholdersOf(stored) })
  dispatches.dispatch({ sessionID: "ses_1" })
  const recallTool = createRecallTool({ client: fake.client, dispatches })
  return { fake, tool: recallTool, recall: (args = {}, sessionID = "ses_1") => recallTool.execute(args, { sessionID }) }
}

const placeholdersOf = (stored: readonly Message[]): Placeholder[] =>
  toolParts(stored).map((part) => ({
    callID: String(part["callID"]),
    partID: part.id,
    messageID: String(part["messageID"]),
    tool: String(part["tool"]),
    reason: "aged",
  }))

/** As the SDK answers: data, or an error for what the host does not have. */
const storeOf =
  (stored: readonly Message[]) =>
  async ({ path }: MessageRequest): Promise<unknown> => {
    const data = stored.find(({ info }) => info.id === path.messageID && info.sessionID === path.id)
    return data ? { data: structuredClone(data) } : { error: { name: "NotFoundError" }, response: { status: 404 } }
  }

test("one match: the stored output and nothing else", async () => {
  const { recall, fake } = setUp()
  assert.equal(await recall({ tool: "grep" }), "grep found")
  assert.equal(await recall({ tool: "", input: "npm test", callID: "", offset: 0, limit: 0 }), "ok")
  assert.equal(await recall({ callID: "call_0001_0001" }), "first a\nof two lines")
  fake.assertNothingWritten()
})

test("it reads the messages that may hold the output, of the calling session, each once", async () => {
  const { recall, fake } = setUp()
  await recall({ tool: "read" })
  const paths = fake.calls.map(({ endpoint, argument }) => [endpoint, (argument as MessageRequest).path])
  assert.deepEqual(paths, [
    ["session.message", { id: "ses_1", messageID: "msg_0001" }],
    ["session.message", { id: "ses_1", messageID: "msg_0002" }],
  ])
})

test("several matches are listed with what tells them apart", async () => {
  const { recall } = setUp()
  assert.equal(
    await recall({ tool: "read", input: "/p/a.ts" }),
    [
      "2 cleared outputs match. Call again with the callID of one of them, or with more of its input.",
      "Oldest first:",
      '- callID call_0001_0001: read {"filePath":"/p/a.ts"} (2 lines, 20 bytes, 1970-01-01T00:00:00.010Z)',
      '- callID call_0002_0001: read {"filePath":"/p/a.ts"} (1 line, 8 bytes, 1970-01-01T00:00:00.010Z)',
    ].join("\n"),
  )
  assert.match(await recall(), /^5 cleared outputs match/)
})

test("the list is bounded, the newest stay, and long inputs are cut", async () => {
  const many = session(...Array.from({ length: 30 }, (_, index) => step(read(`${"long/".repeat(100)}${index}`, "x"))))
  const answer = await setUp(many).recall({ tool: "read" })
  assert.equal(answer.split("\n").length, 22)
  assert.match(answer, /The newest 20, oldest first; 10 older ones are not listed:\n- callID call_0010_0001/)
  assert.ok(answer.length < 8_000, `${answer.length}`)
})

test("the input is searched as text: in its strings, at any depth, and as JSON", async () => {
  const { recall } = setUp()
  for (const input of ["'a.*b'", "--grep"]) assert.equal(await recall({ input }), "ok")
  for (const input of [String.raw`(a|b)\.ts$`, String.raw`\.ts$`]) assert.equal(await recall({ input }), "grep found")
  for (const input of ['echo "$A"\nls', "deep", '["deep",7]', '"nested":'])
    assert.equal(await recall({ input }), "nested")
  for (const input of ["n.m", "[", "(", ".*", "^npm", "ok", "first a"])
    assert.match(await recall({ input, tool: "grep" }), /^No cleared output|^grep found/)
  assert.match(await recall({ input: "^npm" }), /^No cleared output/)
  assert.match(await recall({ input: "first a" }), /^No cleared output/, "an output is no input")
})

test("nothing matches: which tools have cleared outputs, and nothing of their inputs", async () => {
  assert.equal(
    await setUp().recall({ tool: "edit" }),
    "No cleared output of this session's last request matches. Cleared are outputs of read (2), bash (2), grep (1). Give less, or another part of the input.",
  )
})

test("a redundant output names the call that came later", async () => {
  const { fake } = setUp()
  const dispatches = new Dispatches()
  const placeholders = placeholdersOf(STORED).map((one) => ({ ...one, witnessCallID: "call_w" }))
  dispatches.prepare({ key: { sessionID: "ses_1" }, cleared: [], placeholders })
  dispatches.dispatch({ sessionID: "ses_1" })
  const answer = await createRecallTool({
    client: createClient({ message: storeOf(STORED) }).client,
    dispatches,
  }).execute({}, { sessionID: "ses_1" })
  assert.match(answer, /; the identical output of call_w came later\)/)
  fake.assertNothingWritten()
})

test("another session's outputs cannot be had, whatever is asked for", async () => {
  const { recall, fake } = setUp()
  assert.match(
    await recall({ callID: "call_0001_0001", sessionID: "ses_1" }, "ses_2"),
    /^Nothing to recall: no request of this session/,
  )
  assert.deepEqual(fake.calls, [])
  const foreign = structuredClone(STORED)
  for (const { info } of foreign) info.sessionID = "ses_2"
  const lying = setUp(STORED, async ({ path }) => ({ data: foreign.find(({ info }) => info.id === path.messageID) }))
  assert.match(await lying.recall({ tool: "grep" }), /1 that could match are not stored in this session any more/)
})

test("a session or a message that was deleted is told in plain words", async () => {
  const { recall } = setUp(STORED, storeOf([]))
  assert.match(
    await recall({ callID: "call_0001_0001" }),
    /^No cleared output .* 1 that could match are not stored in this session any more\./,
  )
  const partly = setUp(STORED, storeOf(STORED.slice(0, 2)))
  assert.equal(await partly.recall({ tool: "read" }), "first a\nof two lines")
})

const oddAnswers: [what: string, message: (options: MessageRequest) => unknown][] = [
  ["rejects", rejects],
  ["throws", throws],
  ["answers nothing", async () => undefined],
  ["answers no message", async () => ({ data: [] })],
  ["answers a message without parts", async () => ({ data: { info: { sessionID: "ses_1" } } })],
  ["answers parts that are none", async () => ({ data: { info: { sessionID: "ses_1" }, parts: [null, 7, {}] } })],
  [
    "answers another part",
    async () => ({ data: { info: { sessionID: "ses_1" }, parts: [{ id: "prt_x", state: { output: "x" } }] } }),
  ],
  [
    "answers an output that is no text",
    async () => ({ data: { info: { sessionID: "ses_1" }, parts: [{ id: "prt_0001_0001", state: { output: 7 } }] } }),
  ],
]
for (const [what, message] of oddAnswers)
  test(`a store that ${what}: not found, and no failure`, async () => {
    assert.match(
      await setUp(STORED, message).recall({ callID: "call_0001_0001" }),
      /not stored in this session any more/,
    )
  })

test("a stored output without input and times can be listed", async () => {
  const bare = async ({ path }: MessageRequest): Promise<unknown> => {
    const parts = toolParts(STORED).filter((part) => part["messageID"] === path.messageID)
    return { data: { info: { sessionID: "ses_1" }, parts: parts.map(({ id }) => ({ id, state: { output: "x" } })) } }
  }
  assert.match(
    await setUp(STORED, bare).recall({ tool: "read" }),
    /- callID call_0001_0001: read {2}\(1 line, 1 bytes\)/,
  )
})

test("a store that never answers is given up after ten seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  let aborted = false
  const { recall } = setUp(STORED, (options) => {
    options.signal.addEventListener("abort", () => (aborted = true))
    return neverAnswers(options)
  })
  const answer = recall({ tool: "grep" })
  t.mock.timers.tick(10_000)
  assert.match(await answer, /did not answer in time/)
  assert.equal(aborted, true)
})

test("before any request, and when nothing is cleared, it says so and asks the host nothing", async () => {
  const { fake, tool: recallTool } = setUp([])
  assert.match(await recallTool.execute({}, { sessionID: "ses_1" }), /carried every output in full/)
  assert.match(await recallTool.execute({}, { sessionID: "ses_new" }), /no request of this session has been sent/)
  assert.deepEqual(fake.calls, [])
})

test("arguments of odd types count as not given, numbers may be texts", async () => {
  const long = session(step(read("a", "1\n2\n3\n4")))
  const { recall } = setUp(long)
  for (const args of [
    {},
    { tool: null, input: 7, callID: {}, offset: "x", limit: -1 },
    { offset: Number.NaN, limit: " " },
    { offset: 1.9 },
  ])
    assert.equal(await recall(args), "1\n2\n3\n4")
  assert.equal(
    await recall({ offset: "2", limit: 2.5 }),
    "2\n3\n\n(Lines 2-3 of 4. Call again with offset 4 for more.)",
  )
  assert.equal(await recall({ offset: 3 }), "3\n4\n\n(Lines 3-4 of 4.)")
})

test("it describes each argument, and what stands for not given", () => {
  const { tool: recallTool } = setUp()
  const described = Object.entries<{ type: string; description: string }>(recallTool.args)
  assert.deepEqual(
    described.map(([name, { type }]) => [name, type]),
    [
      ["tool", "string"],
      ["input", "string"],
      ["callID", "string"],
      ["offset", "integer"],
      ["limit", "integer"],
    ],
  )
  for (const [name, { description }] of described) assert.match(description, /empty (?:for any|if unknown)|0 for/, name)
  assert.match(recallTool.description, /\[Old tool result content cleared\]/)
})

/** Each is an input of its own; as a pattern the first would match all of them, or none would compile. */
const PATTERNS = [
  ".*",
  "[",
  "(",
  "(a+)+$",
  "\\",
  "$&",
  "^",
  "a|b",
  "(?<x>",
  "*",
  "\\d",
  "\u0000",
  "\uD800",
  "%s",
  "${1}",
]
for (const pattern of PATTERNS)
  test(`a text is looked for as it is, whatever it would mean as a pattern: ${JSON.stringify(pattern)}`, async () => {
    const stored = session(step(bash("plain words aaaaaaaaaaaaaaaa!", "plain")), step(bash(`<${pattern}>`, "special")))
    assert.equal(await setUp(stored).recall({ input: pattern }), "special")
    assert.match(await setUp(stored.slice(0, 1)).recall({ input: `${pattern}?` }), /^No cleared output/)
    assert.match(await setUp(stored).recall({ tool: pattern }), /^No cleared output/)
    assert.match(await setUp(stored).recall({ callID: pattern }), /^No cleared output/)
  })

test("quotes, newlines and backslashes are found as they are and as JSON writes them", async () => {
  const input = { command: 'say "hi"\n\tC:\\temp\r\n', list: [{ deep: "ünï\u2028code" }] }
  const { recall } = setUp(session(step(tool("bash", input, "found")), step(bash("other", "x"))))
  for (const part of ['"hi"\n', "\n\tC:\\t", "\r\n", "ünï\u2028", 'say \\"hi\\"\\n\\tC:\\\\temp', '"list":[{"deep":'])
    assert.equal(await recall({ input: part }), "found", JSON.stringify(part))
})

const OUTPUTS: [what: string, output: string][] = [
  ["replacement patterns", "$& $1 $` $' $<x> \\1 ${process.exit(9)} %s %d {{x}}"],
  ["markup and script", "</script><script>alert(1)</script>"],
  ["sequences for terminals", "\u001B]0;owned\u0007\u009B31m\u202E"],
  ["something like the footer", "a\n\n(Lines 1-1 of 9. Call again with offset 2 for more.)"],
  ["nothing", ""],
  ["NUL and half a character", "a\0b\uD800c"],
  ["every kind of line end", "a\rb\r\nc\nd\u2028e\u0085f"],
]
for (const [what, output] of OUTPUTS)
  test(`an output is given as it is stored: ${what}`, async () => {
    const stored = session(step(read("a.ts", output)))
    assert.equal(await setUp(stored).recall({ tool: "read" }), output)
    const long = session(step(read("a.ts", `${output}\n`.repeat(3_000))))
    const lines = `${output}\n`.split(/(?<=\n)/)
    assert.ok((await setUp(long).recall({ limit: lines.length })).startsWith(lines.slice(0, -1).join("")))
  })

const COUNTS: [what: string, count: unknown][] = [
  ["huge", 2 ** 53],
  ["beyond numbers", 1e308],
  ["huge as text", "9".repeat(400)],
  ["negative", -5],
  ["negative as text", "-5"],
  ["no number", Number.NaN],
  ["without end", Number.POSITIVE_INFINITY],
  ["a big integer", 10n ** 30n],
  ["a list", [3]],
  ["code", "1;process.exit(9)"],
]
for (const [what, count] of COUNTS)
  test(`an offset or a limit that is ${what} is no failure`, async () => {
    const { recall } = setUp(session(step(read("a", "1\n2\n3"))))
    assert.equal(await recall({ limit: count }), "1\n2\n3")
    assert.match(await recall({ offset: count }), /^1\n2\n3$|^\(There is no line [\de+]+: the output has 3 lines\.\)$/)
  })

test("the list is bounded in size however large inputs, names and ids are", { timeout: 20_000 }, async () => {
  const huge = "x\n".repeat(500_000)
  const drafts = Array.from({ length: 25 }, (_, index) => step(tool(`${index} ${huge}`, { [huge]: huge }, huge)))
  const stored = session(...drafts)
  for (const part of toolParts(stored)) part["callID"] = `${String(part["callID"])} ${huge}`
  const { recall } = setUp(stored)
  const listed = await recall()
  assert.match(listed, /^25 cleared outputs match/)
  assert.ok(listed.length < 20_000, `${listed.length}`)
  const none = await recall({ input: "not there" })
  assert.match(none, / and 13 other tools\. /)
  assert.ok(none.length < 4_000, `${none.length}`)
})

test("no character is cut in two, since providers refuse half a one", async () => {
  const emoji = session(step(read("🙂".repeat(200), "a")), step(read(`a${"🙂".repeat(200)}`, "b")))
  const listed = await setUp(emoji).recall()
  assert.match(listed, /🙂…/)
  assert.equal(Buffer.from(listed).toString(), listed)
})

test(
  "an input that is nested too deeply to be written down is searched all the same",
  { timeout: 20_000 },
  async () => {
    let deep: unknown = "at the bottom"
    for (let depth = 0; depth < 20_000; depth++) deep = [deep]
    const part = { id: "prt_0000_0001", state: { input: { deep }, output: "found", time: { start: 1e300 } } }
    const message = async (): Promise<unknown> => ({ data: { info: { sessionID: "ses_1" }, parts: [part] } })
    const { recall } = setUp(session(step(bash("x", "y"))), message)
    assert.match(await recall({ input: "nowhere" }), /^No cleared output/)
    assert.equal(await recall({ input: "bottom" }), "found")
  },
)

test("a time that no calendar has is left out", async () => {
  for (const calledAt of [1e300, -1e300, Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1]) {
    const stored = session(step(read("a", "1")), step(read("a", "2")))
    for (const { state } of toolParts(stored)) (state as { time: object }).time = { start: calledAt, end: 1 }
    assert.match(await setUp(stored).recall(), /\(1 line, 1 bytes\)$/)
  }
})
