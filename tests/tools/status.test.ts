import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { Dispatches, type RequestRecord } from "../../lib/dispatches.ts"
import { projectMessages } from "../../lib/dtc/engine.ts"
import type { Message, ProjectOptions } from "../../lib/dtc/types.ts"
import { describeRecord, type RequestOutcome } from "../../lib/records.ts"
import type { SkipReason } from "../../lib/request.ts"
import { createStatusTool } from "../../lib/tools/status.ts"
import { histories, projectOptions } from "../helpers/arbitraries.ts"
import { PATH_HOSTILE, STEERING } from "../helpers/hostile.ts"
import {
  bash,
  DEFAULT_POLICY,
  grep,
  isMarked,
  MODEL,
  pending,
  read,
  session,
  step,
  text,
  tokens,
  toolParts,
  user,
  userParts,
} from "../helpers/history.ts"

const POLICY = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0 }
const OPTIONS = { inputBudget: 3_000, policy: POLICY, model: { ...MODEL, npm: "@ai-sdk/openai-compatible" } }

async function statusOf(record: RequestRecord | undefined, recall = true): Promise<string> {
  const dispatches = new Dispatches()
  if (record) {
    dispatches.prepare(record)
    dispatches.dispatch(record.key)
  }
  return createStatusTool({ dispatches, recall }).execute({}, { sessionID: "ses_1" })
}

function recordOf(
  messages: Message[],
  options: Partial<ProjectOptions> = {},
  outcome: Partial<RequestOutcome> = {},
): RequestRecord {
  const projection = projectMessages(messages, { ...OPTIONS, ...options })
  return describeRecord(projection.messages, {
    sessionID: "ses_1",
    model: OPTIONS.model,
    budgetFrom: "catalog",
    projection,
    ...outcome,
  })
}

const PRESSED = session(
  user("go"),
  step(read("a.ts", tokens(900)), read("host.ts", "x", { time: { start: 1, compacted: 5 } })),
  step(grep("x", tokens(900))),
  step(read("a.ts", tokens(900)), bash("ls", "small", 1)),
  userParts({ type: "text", text: "continue", synthetic: true }),
  step(bash("pwd", "here"), pending("running", {})),
)

test("the whole story of a request under pressure", async () => {
  const record = recordOf(PRESSED, { inputBudget: 3_000 })
  const [before, after, saved] = [
    record.stats?.estimatedBefore,
    record.stats?.estimatedAfter,
    record.cleared[0]?.savedTokens,
  ]
  assert.equal(
    await statusOf(record),
    [
      "Last request of this session, to lab/lab-1:",
      "Budget: 3,000 tokens of input, from the host's catalog. Above the target of 2,100 tokens, outputs are cleared.",
      `Estimate: ${before?.toLocaleString("en-US")} tokens before clearing, ${after?.toLocaleString("en-US")} tokens after, by the size of the content.`,
      `Cleared: 2 outputs, of which this plugin saved ${saved} tokens: 1 repeated later, 1 marked by the host.`,
      `  read call_0001_0001: repeated later, ${saved} tokens, the identical output of call_0003_0001 came later`,
      "  read call_0001_0002: marked by the host",
      "Kept: 5 outputs: 2 that may be cleared when there is need, 1 of commands that failed, 1 too small to matter, 1 of calls that failed or did not end. The newest tool step is protected.",
      "Source map: 10 messages sent (1 user, 4 assistant, 4 tool, 1 added by the host), from 6 stored ones.",
      "  Cleared outputs stand in messages 2 (2), counted from 0.",
      "dcp_recall returns the original of an output that was left out.",
    ].join("\n"),
  )
})

test("nothing cleared, and why", async () => {
  const calm = session(user("go"), step(read("a.ts", "x")))
  assert.match(await statusOf(recordOf(calm)), /^Cleared: nothing\. The estimate is within the target\.$/m)
  const stuck = session(user(tokens(4_000)), step(read("a.ts", "x")))
  assert.match(
    await statusOf(recordOf(stuck)),
    /^Estimate: .* That is above the target\.\nCleared: nothing\. No output may be cleared, or/m,
  )
  assert.match(await statusOf(recordOf(session(user("go")))), /^Kept: no tool output\.$/m)
  assert.match(
    await statusOf(recordOf(calm)),
    /^Kept: 1 output: 1 too small to matter\. The newest tool step is protected\.$/m,
  )
  assert.match(
    await statusOf(recordOf(session(user("go")))),
    /^Source map: 1 message sent \(1 user\), from 1 stored one\.$/m,
  )
})

test("the budget's origin, a forced clear and an estimate by reports are told", async () => {
  const record = recordOf(PRESSED, { force: true }, { budgetFrom: "configuration", forced: true })
  const status = await statusOf(record)
  assert.match(status, /^Budget: 3,000 tokens of input, from the plugin's configuration\./m)
  assert.match(status, /^dcp_prune had asked for everything that may be cleared\.$/m)
  assert.match(status, /1 repeated later, 1 marked by the host, 1 asked for by dcp_prune|asked for by dcp_prune/)
  const stats = { ...record.stats, estimateMethod: "calibrated" } as NonNullable<RequestRecord["stats"]>
  assert.match(await statusOf({ ...record, stats }), /by what the provider reported for earlier requests/)
})

/** Complete by its type: a reason without a sentence is a compile error here and there. */
const REASONS: Record<SkipReason, RegExp> = {
  "empty-history": /no messages/,
  failed: /the plugin failed/,
  "guard-capacity": /too many compactions/,
  "malformed-message": /cannot be read/,
  "model-changed": /the model changed/,
  "native-compaction": /own compaction/,
  "not-plain-data": /plain data/,
  "request-changed": /messages changed/,
  "unavailable-budget": /no token limits/,
  "unidentified-session": /same session/,
  "unknown-content": /size cannot be known/,
  "unknown-model": /names a model/,
}
for (const [reason, sentence] of Object.entries(REASONS))
  test(`${reason} is told in a sentence`, async () => {
    const skipped = reason as SkipReason
    const status = await statusOf({ key: { sessionID: "ses_1" }, skipped, cleared: [], placeholders: [] })
    const [head, why, cleared, map, ...others] = status.split("\n")
    assert.equal(head, "Last request of this session, to ?/?:")
    assert.match(why ?? "", /^Nothing was done to it: /)
    assert.match(why ?? "", sentence)
    assert.deepEqual([cleared, map?.startsWith("Source map: none."), others], ["Cleared: nothing.", true, []])
  })

test("a request of unknown size has no figures but its budget", async () => {
  const unknown = session(user("go"), step(text("x"), { type: "hologram" }))
  const status = await statusOf(recordOf(unknown, {}, { reason: "unknown-content" }))
  assert.match(
    status,
    /^Nothing was done to it: .*\nBudget: 3,000 .*\nEstimate: unknown\. That is above the target\.|^Estimate: unknown\./m,
  )
  assert.match(status, /^Source map: 2 messages sent/m)
})

test("before any request it says so", async () => {
  assert.match(await statusOf(undefined), /^No request of this session has been sent since/)
})

test("recall is named only where it is offered and of use", async () => {
  assert.match(await statusOf(recordOf(PRESSED)), /dcp_recall/)
  assert.doesNotMatch(await statusOf(recordOf(PRESSED), false), /dcp_recall/)
  assert.doesNotMatch(await statusOf(recordOf(session(user("go")))), /dcp_recall/)
})

test("it is bounded, whatever the session holds, and names are cut", async () => {
  const name = "mcp_".repeat(500)
  const many = session(
    user("go"),
    ...Array.from({ length: 300 }, (_, index) =>
      step({ ...read(`${index}`, tokens(600, `${index}`)), callID: `${name}${index}` }),
    ),
  )
  const status = await statusOf(recordOf(many))
  assert.ok(status.length < 4_000, `${status.length}`)
  assert.match(status, /The newest 12; \d+ older ones are not listed:/)
  assert.match(status, /and \d+ older ones, counted from 0/)
})

test("it takes no argument and describes itself", () => {
  const tool = createStatusTool({ dispatches: new Dispatches(), recall: true })
  assert.deepEqual(tool.args, {})
  assert.match(tool.description, /Names, counts and sizes only/)
})

const SECRET = "SECRET-7f3a"

test("no text of the conversation is in it: inputs, outputs, titles, errors, reasoning", async () => {
  const messages = session(
    user(SECRET, { system: SECRET, agent: SECRET }),
    step(
      text(SECRET),
      read(`/${SECRET}`, tokens(900, SECRET), { title: SECRET, metadata: { preview: SECRET } }),
      bash(SECRET, tokens(900, SECRET)),
    ),
    step(bash(SECRET, SECRET, 1), pending("running", { command: SECRET })),
    step(grep(SECRET, SECRET)),
  )
  for (const options of [{ inputBudget: 500 }, { inputBudget: 1e9 }, { force: true }]) {
    const record = recordOf(messages, options)
    assert.ok(!JSON.stringify({ ...record, key: {} }).includes(SECRET), "the record keeps some of it")
    assert.ok(!(await statusOf(record)).includes(SECRET))
  }
})

test("status, cleared outputs and source map tell the same counts, over generated histories", async () => {
  const seen = { cleared: 0, mapped: 0 }
  await fc.assert(
    fc.asyncProperty(histories, projectOptions, async (messages, options) => {
      const projection = projectMessages(messages, options)
      const record = describeRecord(projection.messages, {
        sessionID: "ses_1",
        ...(options.model && { model: options.model }),
        projection,
      })
      const status = await statusOf(record)
      const listed = record.placeholders.map(({ partID }) => partID)
      const { map } = record
      if (map) {
        const marked = projection.messages.flatMap((message, index) =>
          map.sources.some(({ messageIndex }) => messageIndex === index) ? toolParts([message]).filter(isMarked) : [],
        )
        const completed = marked.filter(({ state }) => (state as { status: string }).status === "completed")
        assert.deepEqual(listed.toSorted(), completed.map(({ id }) => id).toSorted())
        assert.match(
          status,
          new RegExp(
            `^Source map: ${map.sources.length} messages? sent .* from ${map.historyMessageCount} stored`,
            "m",
          ),
        )
      }
      for (const { partID } of projection.cleared) assert.ok(listed.includes(partID))
      assert.equal(/^Cleared: (\d+)/m.exec(status)?.[1], listed.length > 0 ? `${listed.length}` : undefined)
      assert.ok(status.length < 4_000)
      seen.cleared += Math.min(1, projection.cleared.length)
      seen.mapped += map ? 1 : 0
    }),
    { numRuns: 300 },
  )
  for (const [what, count] of Object.entries(seen))
    assert.ok(count > 20, `the generator hardly reaches: ${what} (${count})`)
})

test("names steer nothing that shows the answer, and forge no line of it", async () => {
  const placeholders = Array.from({ length: 3 }, (_, index) => ({
    callID: `${index} ${PATH_HOSTILE}`,
    partID: "p",
    messageID: "m",
    tool: `a\nKept: 9 outputs${PATH_HOSTILE}`,
    reason: "redundant" as const,
    witnessCallID: PATH_HOSTILE,
  }))
  const key = { sessionID: "ses_1", providerID: PATH_HOSTILE, modelID: PATH_HOSTILE }
  const answer = await statusOf({ key, cleared: [], placeholders })
  assert.doesNotMatch(answer.replaceAll("\n", ""), STEERING)
  assert.equal(answer.split("\n").length, 7)
})
