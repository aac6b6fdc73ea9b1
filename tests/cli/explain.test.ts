import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import test from "node:test"
import { splitWindows } from "../../lib/cli/windows.ts"
import { projectMessages } from "../../lib/dtc/engine.ts"
import type { Message } from "../../lib/dtc/types.ts"
import { readHistory } from "../../lib/dtc/wire.ts"
import { cutAtRequests, windowOf } from "../helpers/growth.ts"
import { assistant, bash, read, session, step, text, tokens, tool, user, userParts } from "../helpers/history.ts"
import { explainJson, exported, LIMIT, READS, REPORTED, SETTINGS } from "./sessions.ts"
import { createTerminal, type Terminal } from "./terminal.ts"

const start = (t: test.TestContext, settings: object = SETTINGS): Terminal => {
  const terminal = createTerminal(t)
  terminal.write("project/.opencode/dcp.jsonc", settings)
  return terminal
}

/** Two windows, the second with a retained tail, and a clear that the model asked for in between. */
const compacted: Message[] = session(
  user("go"),
  ...["a", "b", "c", "d", "e", "f"].map((name) => step(read(`${name}.ts`, tokens(1_500, name)))),
  { role: "user", parts: [{ type: "compaction", auto: true, tail_start_id: "msg_0006" }], info: { id: "compact" } },
  assistant([text("## Goal\nsummary")], { id: "summary", summary: true, finish: "stop", parentID: "compact" }),
  userParts({ type: "text", text: "Continue.", synthetic: true }),
  ...["g", "h", "i"].map((name) => step(read(`${name}.ts`, tokens(900, name)))),
  step(tool("dcp_prune", {}, "Scheduled")),
  ...["k", "l", "m", "n", "o", "p"].map((name) => step(read(`${name}.ts`, tokens(1_300, name)), bash("ls", "a"))),
  assistant([text("Done.")]),
)

const marked = session(
  user("go"),
  step(read("a.ts", tokens(1_500, "a"), { time: { start: 10, end: 20, compacted: 5_500 } })),
  ...["b", "c", "d", "e", "f", "g", "h"].map((name) => step(read(`${name}.ts`, tokens(1_500, name)))),
)

const stepsOfOneMessage = session(
  user("go"),
  assistant(
    ["a", "b", "c", "d", "e", "f", "a"].flatMap((name) => [
      { type: "step-start" },
      read(`${name}.ts`, tokens(1_500, name)),
    ]),
  ),
)

const sessions: Record<string, Message[]> = { READS, REPORTED, compacted, stepsOfOneMessage }
for (const [name, messages] of Object.entries(sessions))
  for (const stablePrefix of [true, false])
    test(`each request clears what the engine clears for it: ${name}, stablePrefix ${stablePrefix}`, async (t) => {
      const settings = { dtc: { ...SETTINGS.dtc, stablePrefix, clearAtLeastRatio: 0.1 } }
      const { requests, outputs, policy, inputBudget, totals } = await explainJson(start(t, settings), messages)
      let number = 0
      for (const [index, window] of splitWindows(messages).entries()) {
        const own = cutAtRequests(window).filter((cut) => windowOf(cut) === windowOf(window))
        // The last one is the request that nothing has answered yet.
        let previous: string[] = []
        for (const cut of own.slice(0, -1)) {
          number++
          const { cleared, stats } = projectMessages(cut, { inputBudget, policy })
          const expected = cleared.map(({ callID, reason }) => `${callID} ${reason}`).toSorted()
          const request = requests[number - 1]
          assert.deepEqual([request?.request, request?.window], [number, index + 1])
          assert.equal(request?.clearedOutputs, cleared.length)
          const batch = request.batch.map(({ callID, reason }) => `${callID} ${reason}`)
          const known = stablePrefix ? [...previous, ...batch] : batch
          assert.deepEqual(known.toSorted(), expected, `request ${number}`)
          assert.equal(request.afterTokens, stats.estimatedAfter)
          // The plugin adds what each output saved by the estimate of its time; a report since then may have changed that.
          const drift = name === "REPORTED" ? 0.01 : 0
          const [before = 0, expectedBefore = 0] = [request.beforeTokens, stats.estimatedBefore]
          assert.ok(Math.abs(before - expectedBefore) <= expectedBefore * drift, `${before}, not ${expectedBefore}`)
          assert.equal(request.targetTokens, stats.targetTokens)
          previous = expected
        }
        const shown = outputs.filter((output) => output.window === index + 1 && output.state === "cleared")
        assert.deepEqual(shown.map(({ callID, reason }) => `${callID} ${reason}`).toSorted(), previous)
      }
      assert.equal(requests.length, number)
      assert.equal(totals.requests, number)
      assert.ok(totals.clearedOutputs > 1, "there was something to see")
    })

test("an output tells its tool, target, size, state, reason, when it was cleared, and when it was made again", async (t) => {
  const { outputs } = await explainJson(start(t), exported(READS))
  const stored = readHistory(READS)?.outputs[0]
  const { repeats: _one, ...first } = outputs[0] ?? { repeats: 0 }
  assert.deepEqual(first, {
    window: 1,
    callID: "call_0001_0001",
    tool: "read",
    target: "a.ts",
    tokens: Math.round(stored?.textTokens ?? 0),
    state: "cleared",
    reason: "redundant",
    clearedAt: 6,
    savedTokens: Math.floor(stored?.savingsTokens ?? 0),
    witnessCallID: "call_0004_0001",
    request: 1,
  })
  const rows = outputs.map(({ tool: name, target, state, reason, clearedAt, repeats, repeatedAt }) => [
    `${name} ${target}`,
    state,
    reason,
    clearedAt,
    repeats,
    repeatedAt,
  ])
  assert.deepEqual(rows, [
    ["read a.ts", "cleared", "redundant", 6, 0, undefined],
    ["read b.ts", "cleared", "aged", 7, 1, 7],
    ["bash npm test", "kept", "failed-exit", undefined, 0, undefined],
    ["grep needle", "kept", "small", undefined, 0, undefined],
    ["read a.ts", "cleared", "aged", 7, 0, undefined],
    ["read c.ts", "cleared", "aged", 7, 0, undefined],
    ["read d.ts", "kept", "waiting", undefined, 0, undefined],
    ["webfetch https://example.com", "kept", "other-tool", undefined, 0, undefined],
    ["read b.ts", "kept", "waiting", undefined, 0, undefined],
    ["bash ls", "kept", "small", undefined, 0, undefined],
    ["read gone.ts", "kept", "not-completed", undefined, 0, undefined],
  ])
})

test("marks that the host stored count from their time on, with the plugin and without", async (t) => {
  const { requests, outputs, totals } = await explainJson(start(t), marked)
  assert.equal(outputs[0]?.state, "cleared-by-host")
  const [before, after] = [requests[3], requests[4]]
  assert.ok(before && after?.beforeTokens && before.beforeTokens)
  assert.ok(after.beforeTokens - before.beforeTokens < 200, "one read more, one read hidden")
  assert.equal(totals.prefixBreaksBefore, 1)
})

test("a mark without a time hides nothing that was not sent yet", async (t) => {
  const odd = session(
    user("go"),
    step(text("a")),
    step(read("b.ts", tokens(900), { time: { start: 1, compacted: true } })),
  )
  const { requests } = await explainJson(start(t), [...odd, ...session(step(text("c"))).map(later)])
  assert.deepEqual(
    requests.map(({ clearedOutputs }) => clearedOutputs),
    [0, 0, 1],
  )
})

/** Ten seconds later, so that it stands behind the others. */
const later = ({ info, parts }: Message): Message => ({
  info: { ...info, id: "msg_9", time: { created: 11_000 } },
  parts,
})

test("what the newest steps and the answer that nothing has sent yet hold is recent", async (t) => {
  const settings = { dtc: { protectRecentSteps: 1, protectRecentTokens: 0 } }
  const { outputs } = await explainJson(start(t, settings), READS.slice(0, 5))
  assert.deepEqual(
    outputs.filter(({ tool: name }) => name === "read").map(({ target, reason }) => [target, reason]),
    [
      ["a.ts", "waiting"],
      ["b.ts", "waiting"],
      ["a.ts", "recent"],
    ],
  )
  const two = await explainJson(start(t, { dtc: { ...settings.dtc, protectRecentSteps: 2 } }), READS.slice(0, 5))
  assert.equal(two.outputs.filter(({ reason }) => reason === "recent").length, 2)
})

test("without a stable prefix an output may come back", async (t) => {
  const audio = user("hear", {}, { type: "file", mime: "audio/wav", url: "data:audio/wav;base64,AAAA" })
  const [, heard, answer] = session(user("go"), audio, step(text("?")))
  assert.ok(heard && answer)
  const messages = [
    ...READS.slice(0, 8),
    later(heard),
    { ...later(answer), info: { ...answer.info, time: { created: 12_000 } } },
  ]
  const stable = await explainJson(start(t), messages)
  const anew = await explainJson(start(t, { dtc: { ...SETTINGS.dtc, stablePrefix: false } }), messages)
  assert.ok(anew.totals.batches > 0)
  assert.deepEqual([anew.requests.at(-1)?.clearedOutputs, anew.totals.clearedOutputs], [0, 0])
  assert.ok(stable.totals.clearedOutputs > 0, "what is carried stays")
})

test("a row names the message that answered and which of its steps", async (t) => {
  const { requests } = await explainJson(start(t), stepsOfOneMessage)
  assert.deepEqual(
    requests.map(({ messageID, messageIndex, step: place }) => [messageID, messageIndex, place]),
    [0, 1, 2, 3, 4, 5, 6].map((place) => ["msg_0001", 1, place]),
  )
})

test("with several windows a line stands between them, and a long target keeps its end", async (t) => {
  const terminal = start(t)
  const name = `${"deep/".repeat(30)}leaf.ts`
  const long = compacted.map((message) => JSON.parse(JSON.stringify(message).replaceAll("a.ts", name)) as Message)
  const { out } = await terminal.run("explain", terminal.write("s.json", long), "--limit", LIMIT)
  assert.match(out, /^ +#6 .+\n… a compaction: window 2 of 2\n +#7 /m)
  assert.match(out, /^ +#17 /m)
  assert.match(out, / (deep\/){4}…\S+leaf\.ts /)
  for (const line of out.split("\n")) assert.ok(line.length < 180, line)
})

test("each window says where its messages come from", async (t) => {
  const { windows } = await explainJson(start(t), compacted)
  const [first = [], second = []] = windows.map(({ sources }) => sources)
  assert.deepEqual(new Set(first.map(({ type }) => type)), new Set(["history"]))
  assert.ok(second.some(({ type }) => type === "compaction"))
  assert.ok(second.some(({ cleared = [] }) => cleared.length > 0))
})

test("numbers and totals add up", async (t) => {
  const { requests, outputs, totals, windows, inputBudget, targetTokens, limit, limitSource } = await explainJson(
    start(t),
    compacted,
  )
  assert.deepEqual(
    [inputBudget, targetTokens, limit, limitSource],
    [10_000, 7_000, { context: 12_000, output: 2_000 }, "--limit"],
  )
  assert.deepEqual(
    windows.map(({ window, firstRequest, lastRequest }) => [window, firstRequest, lastRequest]),
    [
      [1, 1, 6],
      [2, 7, 17],
    ],
  )
  const cleared = outputs.filter(({ state }) => state === "cleared")
  assert.equal(totals.clearedOutputs, cleared.length)
  assert.equal(
    totals.clearedTokens,
    cleared.reduce((sum, { savedTokens = 0 }) => sum + savedTokens, 0),
  )
  assert.equal(totals.batches, requests.filter(({ batch }) => batch.length > 0).length)
  assert.equal(totals.peakBeforeTokens, Math.max(...requests.map(({ beforeTokens = 0 }) => beforeTokens)))
  assert.equal(totals.peakAfterTokens, Math.max(...requests.map(({ afterTokens = 0 }) => afterTokens)))
  assert.equal(
    totals.beforeTokens,
    requests.reduce((sum, { beforeTokens = 0 }) => sum + beforeTokens, 0),
  )
  assert.equal(totals.overBudgetBefore, requests.filter(({ beforeTokens = 0 }) => beforeTokens > inputBudget).length)
  assert.ok(totals.overBudgetBefore > totals.overBudgetAfter)
  assert.ok(outputs.some(({ reason }) => reason === "forced"))
})

test("what the provider reported stands beside what was estimated, and moves the target", async (t) => {
  const { requests, targetTokens } = await explainJson(start(t), REPORTED)
  assert.deepEqual(
    requests.map(({ reportedTokens }) => reportedTokens),
    [900, 2_700, 4_500, 6_300, 8_100, 9_900, 11_700],
  )
  assert.equal(targetTokens, requests.at(-1)?.targetTokens)
  assert.ok(new Set(requests.map((request) => request.targetTokens)).size > 1)
})

test("content of unknown size is said to be unknown", async (t) => {
  const messages = session(
    user("look"),
    step(read("a.ts", tokens(800))),
    user("see", {}, { type: "file", mime: "audio/wav", url: "data:audio/wav;base64,AAAA" }),
    step(read("b.ts", tokens(800))),
  )
  const terminal = start(t)
  const { requests, totals } = await explainJson(terminal, messages)
  const [known, unknown] = requests
  assert.ok(known?.beforeTokens !== undefined && known.skipped === undefined)
  assert.deepEqual([unknown?.beforeTokens, unknown?.skipped, totals.unknownSize], [undefined, "unknown-content", 1])
  const { out } = await terminal.run("explain", terminal.at("session.json"), "--limit", LIMIT)
  assert.match(out, /In 1 request of 2 there is content of unknown size/)
})

test("the text shows each request with its bar, each batch, each cleared output and why the others stay", async (t) => {
  const terminal = start(t)
  const file = terminal.write("session.json", exported(READS))
  const { code, out, err } = await terminal.run("explain", file, "--limit", LIMIT)
  assert.deepEqual([code, err], [0, ""])
  assert.equal(out, readFileSync(new URL("explain.expected.txt", import.meta.url), "utf8"))
  for (const line of out.split("\n")) assert.ok(line.length <= 120, line)
})

test("with --all each request has its row", async (t) => {
  const terminal = start(t)
  const { code, out } = await terminal.run(
    "explain",
    terminal.write("session.json", exported(READS)),
    "--limit",
    LIMIT,
    "--all",
  )
  const expected = readFileSync(new URL("explain.expected.txt", import.meta.url), "utf8")
  const rows = [
    "     #2    1,531  1,531  ██████                  │",
    "     #3    4,269  4,269  ████████████████        │",
    "     #4    4,292  4,292  ████████████████        │",
    "     #5    5,813  5,813  █████████████████████   │",
  ]
  assert.deepEqual([code, out], [0, expected.replace("… 4 requests without a change", rows.join("\n"))])
})

test("a session of four hundred requests is read in a screen or two", async (t) => {
  const terminal = start(t)
  const long = session(
    user("go"),
    ...Array.from({ length: 400 }, (_, index) => step(bash(`ls ${index % 3}`, tokens(40, `${index}`)))),
  )
  const run = (...args: string[]) => terminal.run("explain", terminal.write("long.json", long), ...args)
  const { out } = await run("--limit", "100000,9000")
  assert.match(out, /\n… 398 requests without a change\n +#400 /)
  assert.ok(out.split("\n").length < 30)
  const { out: all } = await run("--limit", "100000,9000", "--all")
  assert.ok(all.split("\n").length > 410)
})

test("standard input and a plain array of messages are read too", async (t) => {
  const plain = createTerminal(t, { input: `\uFEFF${JSON.stringify(READS)}` })
  plain.write("project/.opencode/dcp.jsonc", SETTINGS)
  const { code, out } = await plain.run("explain", "-", "--limit", LIMIT)
  assert.equal(code, 0)
  assert.match(out, /^ses_1 · lab\/lab-1\n/)
})

test("an input without end ends at the size that can be read", async (t) => {
  const terminal = createTerminal(t, { endless: new Uint8Array(32 * 1024 * 1024) })
  const { code, out, err } = await terminal.run("explain", "-", "--limit", LIMIT)
  assert.deepEqual([code, out], [1, ""])
  assert.match(err, /^opencode-dcp: standard input is too large: at most \d+ bytes can be read\n$/)
})

test("colours are for terminals, and not for users who say no", async (t) => {
  const coloured = createTerminal(t, { outIsTTY: true })
  const refused = createTerminal(t, { outIsTTY: true, env: { NO_COLOR: "1" } })
  const outputs = await Promise.all(
    [coloured, refused].map((terminal) => terminal.run("explain", terminal.write("s.json", READS), "--limit", LIMIT)),
  )
  assert.deepEqual(
    outputs.map(({ out }) => out.includes("\u001B[")),
    [true, false],
  )
})

test("what a session holds cannot steer the terminal", async (t) => {
  const evil = "\u001B]0;owned\u0007\u202E\r\nb.ts"
  const terminal = start(t)
  const messages = session(user("go"), step(read(evil, tokens(9_000))), step(read("b", "b")), step(bash("ls", "a")))
  const file = terminal.write("session.json", exported(messages, { title: evil }))
  const { out } = await terminal.run("explain", file, "--limit", LIMIT)
  assert.match(out, /\\u\{001b\}\]0;owned\\u\{0007\}\\u\{202e\}\\r\\nb\.ts/)
  assert.doesNotMatch(out.replaceAll("\n", ""), /[\p{Cc}\p{Cf}]/u)
})

test("limits come from --limit, else from the configuration for the session's model", async (t) => {
  const limit = { context: 50_000, input: 9_000, output: 5_000 }
  const terminal = start(t, { ...SETTINGS, models: { "lab/*": { limit, targetRatio: 0.5 } } })
  const configured = await explainJson(terminal, READS, "--dir", ".")
  assert.deepEqual(
    [configured.inputBudget, configured.targetTokens, configured.limitSource],
    [9_000, 4_500, "configuration"],
  )
  const given = await explainJson(terminal, READS, "--limit", "20000,8000,2000")
  assert.deepEqual([given.inputBudget, given.targetTokens, given.limitSource], [8_000, 4_000, "--limit"])

  const elsewhere = await terminal.run("explain", terminal.at("session.json"), "--dir", "..")
  assert.deepEqual([elsewhere.code, elsewhere.out], [1, ""])
  assert.match(elsewhere.err, /^opencode-dcp: no token limits for lab\/lab-1: give --limit .*\n$/)
})

const faults: [name: string, content: unknown, line: RegExp][] = [
  ["broken JSON", '{"info": {}, "messages": [ }', /session\.json is not JSON\n$/],
  [
    "an export that was cut",
    '{"info": {}, "messages": [{"in',
    /its end is missing, .* `opencode export SESSION > FILE`\n$/,
  ],
  ["an export that was cut within a character", Buffer.from('[{"info": "ä').subarray(0, -1), /: its end is missing, /],
  ["a binary file", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a]), /session\.json is not UTF-8 text\n$/],
  ["Latin-1", Buffer.from('{"title": "ä"}', "latin1"), /session\.json is not UTF-8 text\n$/],
  ["UTF-16", Buffer.from("\uFEFF[]", "utf16le"), /is not UTF-8 text but UTF-16, as PowerShell's > writes it\n$/],
  ["UTF-16, the other way round", Buffer.from("\uFEFF[]", "utf16le").swap16(), /is not UTF-8 text but UTF-16, /],
  ["an empty file", "", /is empty\n$/],
  ["an empty array", [], /holds no messages\n$/],
  ["an export without messages", exported([]), /holds no messages\n$/],
  ["another JSON", { name: "opencode-dcp" }, /is no exported session/],
  ["a text", '"messages"', /is no exported session/],
  ["an array of something else", [1, 2], /is no exported session/],
  ["messages without ids", [{ info: {}, parts: [] }], /is no exported session/],
  ["messages with odd parts", [{ info: { id: "m", role: "user" }, parts: [null] }], /is no exported session/],
]
for (const [name, content, line] of faults)
  test(`bad input is one line and exit code 1: ${name}`, async (t) => {
    const terminal = createTerminal(t)
    const { code, out, err } = await terminal.run("explain", terminal.write("session.json", content), "--limit", LIMIT)
    assert.deepEqual([code, out, err.split("\n").length], [1, "", 2])
    assert.match(err, /^opencode-dcp: /)
    assert.match(err, line)
  })

test("a missing file, a directory, a page that cannot be written, limits that leave nothing: one line each", async (t) => {
  const terminal = createTerminal(t)
  const file = terminal.write("session.json", READS)
  const lines: [args: string[], line: RegExp][] = [
    [["missing.json"], /missing\.json cannot be read: no such file or directory\n$/],
    [[`${file}/x`], /session\.json\/x cannot be read: a part of its path is no directory\n$/],
    [["x".repeat(300)], /cannot be read: the name is too long\n$/],
    [["."], /\. is a directory: expected the file that an export was written to\n$/],
    [[file, "--html", "missing/page.html"], /missing\/page\.html cannot be written: no such file or directory\n$/],
    [[file, "--html", "."], /\. cannot be written: it is a directory\n$/],
    [[file, "--dir", "missing"], /missing is no directory\n$/],
    [[file, "--limit", "100,200"], /the limits of lab\/lab-1 leave nothing for input\n$/],
  ]
  for (const [args, line] of lines) {
    const { code, out, err } = await terminal.run("explain", "--limit", LIMIT, ...args)
    assert.deepEqual([code, out, err.split("\n").length], [1, "", 2])
    assert.match(err, line)
  }
})

test("an odd session without requests or model is no failure", async (t) => {
  const terminal = createTerminal(t)
  const question = session(userParts({ type: "text", text: "hello" }))
  for (const { info } of question) delete info["model"]
  const { code, out } = await terminal.run("explain", terminal.write("s.json", question), "--limit", LIMIT)
  assert.equal(code, 0)
  assert.match(out, /The session holds no request\./)
})

test("problems of the configuration are told on standard error and stop nothing", async (t) => {
  const terminal = start(t, { dtc: { targetRatoi: 1 } })
  const { code, out, err } = await terminal.run("explain", terminal.write("s.json", READS), "--json", "--limit", LIMIT)
  assert.equal(code, 0)
  assert.ok(JSON.parse(out))
  assert.match(err, /targetRatoi: unknown key/)
})

test("a configuration that switches clearing off is said to, and the report is what it would do", async (t) => {
  for (const settings of [
    { ...SETTINGS, enabled: false },
    { ...SETTINGS, dtc: { enabled: false } },
  ]) {
    const terminal = start(t, settings)
    const { code, out, err } = await terminal.run(
      "explain",
      terminal.write("off.json", exported(READS)),
      "--limit",
      LIMIT,
    )
    assert.equal(code, 0)
    assert.match(err, /^opencode-dcp: the configuration switches clearing off; .*\n$/)
    assert.match(out, /Input budget/)
  }
})

test("progress is drawn on a terminal and taken away, said rarely elsewhere, and never on standard output", async (t) => {
  const run = async (setup: Parameters<typeof createTerminal>[1]) => {
    const terminal = createTerminal(t, setup)
    return terminal.run("explain", terminal.write("s.json", READS), "--limit", LIMIT)
  }
  const [quick, slow, drawn] = await Promise.all([run({}), run({ tickMs: 6_000 }), run({ errIsTTY: true })])
  assert.equal(quick.err, "")
  assert.deepEqual(slow.err.split("\n"), ["reading 100 %", "parsing …", "replaying window 1 of 1 …", ""])
  const clearLine = "\r\u001B[K"
  assert.equal(
    drawn.err,
    `${clearLine}reading 100 %${clearLine}parsing …${clearLine}replaying window 1 of 1 …${clearLine}`,
  )
  assert.equal(new Set([quick.out, slow.out, drawn.out]).size, 1)
})
