import fc from "fast-check"
import type { Message, Policy, ProjectOptions } from "../../lib/dtc/types.ts"
import { draft, mediaDraft, projectOptions, toolPart, unknownDraft, usage, type Draft } from "./arbitraries.ts"
import { oddNumbers, oddValues, texts } from "./arbitrary-values.ts"
import {
  assistant,
  bash,
  compaction,
  failed,
  glob,
  grep,
  pending,
  read,
  reasoning,
  session,
  text,
  tool,
  user,
  userParts,
} from "./history.ts"

type Fields = Record<string, unknown>

/** Stands for a field that is taken away. */
const REMOVED = Symbol("removed")

/** How much a generated history may hold; everything smaller is generated too. */
export interface HistorySize {
  drafts: number
  stepsPerMessage: number
  partsPerStep: number
  /** Of one text. */
  mostTokens: number
}

export const SMALL: HistorySize = { drafts: 8, stepsPerMessage: 2, partsPerStep: 3, mostTokens: 900 }
export const FULL: HistorySize = { drafts: 40, stepsPerMessage: 4, partsPerStep: 5, mostTokens: 20_000 }

/** Fields of a settled call that hosts of some age store, or that decide whether an output may be cleared. */
const stateFields = fc.constantFrom<Fields>(
  { metadata: { exit: 0, output: "so far", truncated: false } },
  { metadata: { exit: 137 } },
  { metadata: { loaded: [] } },
  { metadata: { loaded: ["/r/AGENTS.md"] } },
  { metadata: { interrupted: true, output: "so far" }, status: "error", error: "aborted" },
  { metadata: { providerExecuted: true } },
  { time: { start: 1, end: 2, compacted: 3 } },
  { time: { start: 1, end: 2, compacted: 4_000 } },
  { time: { start: 1, end: 2, compacted: 9_500 } },
  { attachments: [] },
  { title: "", raw: "{" },
)

/** Tool calls of every kind and state as hosts store them. */
function toolParts(size: HistorySize): fc.Arbitrary<Fields> {
  const output = texts(size.mostTokens)
  const path = fc.constantFrom("a.ts", "a.ts", "b.ts", "dir/CLAUDE.md", String.raw`C:\x\agents.md`, "", "agents.md.ts")
  return fc.oneof(
    { weight: 4, arbitrary: toolPart },
    { weight: 6, arbitrary: fc.tuple(path, output).map(([file, out]) => read(file, out)) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(path, output, stateFields, fc.constantFrom<Fields>({}, { metadata: { openai: { itemId: "i" } } }))
        .map(([file, out, state, part]) => ({ ...read(file, out, state), ...part })),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom({ path: "a", pattern: "b" }, { pattern: "b", path: "a" }, { pattern: "b" }), output)
        .map(([input, out]) => tool("grep", input, out)),
    },
    { weight: 2, arbitrary: output.map((out) => grep("a", out)) },
    { weight: 1, arbitrary: output.map((out) => glob("**/*", out)) },
    { weight: 3, arbitrary: output.map((out) => bash("npm test", out)) },
    { weight: 1, arbitrary: fc.tuple(output, oddNumbers).map(([out, exit]) => bash("npm test", out, exit)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom("skill", "task", "todowrite", "write", "webfetch", "x_mcp", "dcp_status"), output)
        .map(([name, out]) => tool(name, { a: [1, { b: null }] }, out)),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom("read", "bash"), output).map(([name, out]) => failed(name, {}, out)),
    },
    { weight: 1, arbitrary: fc.constantFrom(pending("running", { a: "x".repeat(900) }), pending("pending", {})) },
    { weight: 1, arbitrary: fc.constant(tool("dcp_prune", {}, "Scheduled")) },
  )
}

/** Reports of every shape, some of them of sizes that no model has. */
const usages: fc.Arbitrary<Fields> = fc.oneof(
  { weight: 8, arbitrary: usage },
  {
    weight: 1,
    arbitrary: fc
      .record({ input: oddNumbers, output: oddNumbers, reasoning: oddNumbers, total: oddNumbers }, { requiredKeys: [] })
      .chain((counts) =>
        fc
          .record({ read: oddNumbers, write: oddNumbers }, { requiredKeys: [] })
          .map((cache) => ({ tokens: { ...counts, cache } })),
      ),
  },
)

function steps(size: HistorySize): fc.Arbitrary<Fields[]> {
  const said = texts(size.mostTokens)
  const other = fc.oneof(
    said.map(text),
    said.map((thought) => reasoning(thought)),
    said.map((thought) => reasoning(thought, { anthropic: { signature: "s".repeat(400) } })),
    fc.constantFrom<Fields>(
      { type: "snapshot", snapshot: "abc" },
      { type: "patch", hash: "abc", files: ["a.ts"] },
      { type: "retry", attempt: 1, error: { name: "APIError" } },
      { type: "text", text: "" },
    ),
  )
  const parts = fc.oneof({ weight: 4, arbitrary: toolParts(size) }, { weight: 1, arbitrary: other })
  return fc
    .tuple(fc.array(parts, { maxLength: size.partsPerStep }), fc.constantFrom(true, true, true, false), usages)
    .map(([within, marked, reported]) =>
      marked ? [{ type: "step-start" }, ...within, { type: "step-finish", reason: "tool-calls", ...reported }] : within,
    )
}

/** Equal, earlier and later times than the order of the array suggests. */
const times = fc
  .oneof(fc.integer({ min: 1, max: 60_000 }), fc.constantFrom(1, 5_000, 5_000, 2 ** 53 - 1))
  .map((created) => ({ time: { created } }))

const infos: fc.Arbitrary<Fields> = fc.oneof(
  { weight: 10, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: times },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Fields>(
      { providerID: "other", modelID: "m" },
      { id: "msg_same" },
      { error: { name: "APIError" } },
      { error: { name: "MessageAbortedError" } },
      { finish: "tool-calls", cost: 0.1, mode: "build" },
      { model: { providerID: "lab", modelID: "lab-1" }, agent: "build", system: "s".repeat(900) },
    ),
  },
  { weight: 1, arbitrary: usages },
)

/** A compaction that finished, failed, or was cut off; newer than what follows it where a tail was retained. */
const compactions: fc.Arbitrary<Draft[]> = fc
  .tuple(
    fc.integer({ min: 1, max: 60_000 }),
    fc.constantFrom<Fields>({}, {}, {}, { finish: "" }, { error: { name: "E" } }),
  )
  .map(([created, info]) => compaction(created).map((one) => (one.role === "user" ? one : withInfo(one, info))))

function ordinaryDrafts(size: HistorySize): fc.Arbitrary<Draft[]> {
  const messageSteps = fc.array(steps(size), { minLength: 1, maxLength: size.stepsPerMessage })
  return fc.oneof(
    { weight: 10, arbitrary: fc.tuple(messageSteps, infos).map(([parts, info]) => [assistant(parts.flat(), info)]) },
    { weight: 3, arbitrary: fc.tuple(texts(size.mostTokens), infos).map(([said, info]) => [user(said, info)]) },
    { weight: 5, arbitrary: draft },
    { weight: 1, arbitrary: mediaDraft },
    { weight: 1, arbitrary: compactions },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(
          userParts({ type: "text", text: "<system-reminder>\nnow\n</system-reminder>", synthetic: true }),
          userParts({ type: "text", text: "continue", synthetic: true }),
          userParts({ type: "file", mime: "text/plain", url: "file:///a.ts", filename: "a.ts" }),
          userParts({ type: "subtask", agent: "x", description: "y", prompt: "z" }, { type: "agent", name: "x" }),
          assistant([]),
          userParts(),
        )
        .map((one) => [one]),
    },
  )
}

/** Histories that a host could have stored, however odd their course. */
export function storedHistories(size: HistorySize): fc.Arbitrary<Message[]> {
  return fc
    .tuple(fc.array(ordinaryDrafts(size), { maxLength: size.drafts, size: "max" }), fc.constantFrom(false, false, true))
    .map(([drafts, sameIDs]) => withRepeatedIDs(session(user("go"), ...drafts.flat()), sameIDs))
}

const KINDS = [
  "agent",
  "compaction",
  "file",
  "hologram",
  "patch",
  "reasoning",
  "retry",
  "snapshot",
  "step-finish",
  "step-start",
  "subtask",
  "text",
  "tool",
]

/** A part of any kind with any of the fields that something reads. */
const oddParts: fc.Arbitrary<Fields> = fc
  .record({
    type: fc.constantFrom(...KINDS),
    fields: fc.dictionary(
      fc.constantFrom(
        "text",
        "mime",
        "url",
        "metadata",
        "state",
        "synthetic",
        "ignored",
        "tokens",
        "tool",
        "callID",
        "id",
      ),
      oddValues,
      { maxKeys: 3 },
    ),
  })
  .map(({ type, fields }) => ({ ...fields, type }))

const oddInfos: fc.Arbitrary<Fields> = fc.dictionary(
  fc.constantFrom(
    "id",
    "role",
    "time",
    "error",
    "summary",
    "finish",
    "model",
    "providerID",
    "modelID",
    "tokens",
    "agent",
  ),
  oddValues,
  { maxKeys: 2 },
)

const oddDrafts: fc.Arbitrary<Draft[]> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom("user", "assistant", "assistant", "system", ""),
        fc.array(oddParts, { maxLength: 2 }),
        oddInfos,
      )
      .map(([role, parts, info]) => [{ role, parts, info }]),
  },
  { weight: 1, arbitrary: unknownDraft },
)

const SPOILED_KEYS =
  "status input output title metadata time error attachments compacted start exit loaded providerExecuted filePath pattern tool callID id state".split(
    " ",
  )

/** One place of a tool's state, or of the part around it, holds something else than the host puts there. */
const spoiledTools: fc.Arbitrary<Draft[]> = fc
  .tuple(
    toolParts(SMALL),
    fc.constantFrom("state", "part", "time", "metadata", "input"),
    fc.constantFrom(...SPOILED_KEYS),
    fc.oneof({ weight: 5, arbitrary: oddValues }, { weight: 1, arbitrary: fc.constant(REMOVED) }),
  )
  .map(([part, place, key, value]) => [assistant([{ type: "step-start" }, spoil(part, place, key, value)])])

/** Histories that no host would store: odd kinds, roles, fields and values among ordinary ones. */
export function oddHistories(size: HistorySize): fc.Arbitrary<Message[]> {
  const one = fc.oneof(
    { weight: 6, arbitrary: ordinaryDrafts(size) },
    { weight: 3, arbitrary: spoiledTools },
    { weight: 1, arbitrary: oddDrafts },
  )
  return fc.array(one, { maxLength: size.drafts, size: "max" }).map((drafts) => session(user("go"), ...drafts.flat()))
}

export function wholeHistories(size: HistorySize): fc.Arbitrary<Message[]> {
  return fc.oneof({ weight: 3, arbitrary: storedHistories(size) }, { weight: 2, arbitrary: oddHistories(size) })
}

const oddPolicies: fc.Arbitrary<Partial<Policy>> = fc.record(
  {
    protectRecentSteps: fc.constantFrom(1, 3, Number.MAX_SAFE_INTEGER),
    protectRecentTokens: fc.constantFrom(0, -0, 1, 50_000, Number.MAX_SAFE_INTEGER),
    targetRatio: fc.constantFrom(Number.MIN_VALUE, 0.5, 0.999_999, 1),
    minimumSavingsTokens: fc.constantFrom(1, 2_000, Number.MAX_SAFE_INTEGER),
    protectedTools: fc.constantFrom([""], ["read", "read"], ["__proto__"], ["READ", "*"]),
    clearAtLeastRatio: fc.constantFrom(0, Number.MIN_VALUE, 0.3, 0.999_999),
  },
  { requiredKeys: [] },
)

/** Every valid policy, and every budget, for a history of that size. */
export function wholeOptions(size: HistorySize): fc.Arbitrary<ProjectOptions> {
  const budgets = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: size.mostTokens * size.drafts }) },
    { weight: 1, arbitrary: oddNumbers },
  )
  return fc
    .tuple(
      projectOptions,
      budgets,
      fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: oddPolicies }),
    )
    .map(([options, inputBudget, policy]) => ({ ...options, inputBudget, policy: { ...options.policy, ...policy } }))
}

function withInfo(one: Draft, info: Fields): Draft {
  return { ...one, info: { ...one.info, ...info } }
}

function withRepeatedIDs(messages: Message[], repeated: boolean): Message[] {
  if (!repeated) return messages
  const same = (part: Message["parts"][number], index: number): Message["parts"][number] =>
    index % 2 === 0 ? part : { ...part, id: "prt_same", ...(part.type === "tool" && { callID: "call_same" }) }
  return messages.map(({ info, parts }) => ({ info, parts: parts.map(same) }))
}

function spoil(part: Fields, place: string, key: string, value: unknown): Fields {
  const copy = structuredClone(part)
  const state = copy["state"] as Fields
  const holder = place === "part" ? copy : place === "state" ? state : state[place]
  if (typeof holder !== "object" || holder === null) return copy
  if (value === REMOVED) Reflect.deleteProperty(holder, key)
  else Reflect.set(holder, key, value)
  return copy
}
