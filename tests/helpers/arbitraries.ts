import fc from "fast-check"
import type { Message, Policy, ProjectOptions } from "../../lib/dtc/types.ts"
import {
  assistant,
  bash,
  compaction,
  failed,
  glob,
  grep,
  MODEL,
  pending,
  read,
  reasoning,
  session,
  step,
  text,
  tokens,
  tool,
  user,
  userParts,
} from "./history.ts"
import { dataUrl, pages, screenshot } from "./pictures.ts"

export type Draft = ReturnType<typeof user>
type Fields = Record<string, unknown>

const paths = fc.constantFrom("a.ts", "a.ts", "src/b.ts", "AGENTS.md", String.raw`C:\docs\Skill.md`)
const output = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 900 }), fc.constantFrom("x", "y")).map(([count, seed]) => tokens(count, seed)),
  fc.constantFrom(tokens(600, "same"), tokens(600, "same"), tokens(601, "same"), "漢字🙂\ud800".repeat(90), ""),
)
const oddState = fc.constantFrom<Fields>(
  {},
  {},
  {},
  { attachments: [] },
  { metadata: { exit: 0 } },
  { metadata: { exit: null } },
  { metadata: { loaded: ["/r/AGENTS.md"] } },
  { time: { start: 1, end: 2, compacted: 3 } },
  { time: { start: 1, compacted: 9_500 } },
  { time: { start: 1, compacted: 9_500 }, attachments: [{ mime: "image/png" }] },
  { time: { start: 1, compacted: 0 } },
  { time: undefined },
  { error: "late" },
  { status: "error", error: "boom" },
  { status: "error", error: "aborted", metadata: { interrupted: true, output: "so far" } },
)
const oddPart = fc.constantFrom<Fields>(
  {},
  {},
  {},
  {},
  { metadata: { providerExecuted: true } },
  { metadata: { google: { sig: "s" } } },
)

export const toolPart: fc.Arbitrary<Fields> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(read("a.ts", tokens(600, "again")), grep("a", tokens(600, "again"))) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(paths, output, oddState, oddPart)
      .map(([path, out, state, part]) => ({ ...read(path, out, state), ...part })),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom("a", "b"), output).map(([pattern, out]) => grep(pattern, out)) },
  { weight: 1, arbitrary: output.map((out) => glob("*", out)) },
  {
    weight: 3,
    arbitrary: fc.tuple(output, fc.constantFrom(0, 0, 0, 1, null)).map(([out, exit]) => bash("ls", out, exit)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("skill", "edit", "dcp_prune", "x_mcp"), output)
      .map(([name, out]) => tool(name, { a: 1 }, out)),
  },
  { weight: 1, arbitrary: output.map((out) => failed("read", { filePath: "a.ts" }, out)) },
  { weight: 1, arbitrary: fc.constantFrom(tool("dcp_prune", {}, "Scheduled"), failed("dcp_prune", {}, "no")) },
  { weight: 1, arbitrary: fc.constantFrom(pending("running", { a: 1 }), pending("pending", {})) },
)
/** What providers report, honest or not; sizes fit those of the histories. */
export const usage: fc.Arbitrary<Fields> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.integer({ min: 200, max: 9_000 }), fc.integer({ min: 0, max: 900 }), fc.constantFrom(0, 0.5, 0.9))
      .map(([size, written, cached]) => ({
        tokens: {
          input: Math.ceil(size * (1 - cached)),
          output: written,
          reasoning: 0,
          cache: { read: Math.floor(size * cached), write: 0 },
        },
      })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Fields>(
      { tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } } },
      { tokens: { total: 4_000 } },
      { tokens: { total: 5_000, output: 300, reasoning: 100, input: 0, cache: { read: 0, write: 0 } } },
      { tokens: { input: 900, output: 700, total: 1_600, reasoning: 400 } },
      { tokens: { input: 6_000, output: 60, cache: { read: 5_000, write: 0 } } },
      { tokens: { input: 1e12, output: 1 } },
      { tokens: { input: -5, output: 1 } },
      { tokens: { input: Number.NaN } },
      { tokens: "many" },
    ),
  },
)
const stepParts = fc
  .tuple(fc.array(toolPart, { maxLength: 3 }), fc.option(output), fc.boolean(), usage)
  .map(([tools, said, marked, reported]): Fields[] => [
    ...(marked ? [{ type: "step-start" }] : []),
    ...(said === null ? [] : [text(said)]),
    ...tools,
    ...(marked ? [{ type: "step-finish", ...reported }] : []),
  ])
const infos = fc.constantFrom<Fields>(
  {},
  {},
  {},
  {},
  { providerID: "other", modelID: "m" },
  { error: { name: "APIError" } },
  { error: { name: "MessageAbortedError" } },
)
export const draft: fc.Arbitrary<Draft[]> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.array(stepParts, { minLength: 1, maxLength: 2 }), infos)
      .map(([steps, info]) => [assistant(steps.flat(), info)]),
  },
  { weight: 3, arbitrary: output.map((said) => [user(said)]) },
  { weight: 1, arbitrary: output.map((said) => [step(reasoning(said, { anthropic: { signature: "s" } }))]) },
  {
    weight: 1,
    arbitrary: fc
      .constant(
        userParts(
          { type: "text", text: "hidden", ignored: true },
          { type: "agent", name: "x" },
          { type: "file", mime: "text/plain" },
        ),
      )
      .map((one) => [one]),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 90_000 }).map((created) => compaction(created)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(assistant([]), userParts(), userParts({ type: "subtask" })).map((one) => [one]),
  },
)
const media = fc.constantFrom(screenshot(), screenshot(2_000), {
  type: "file",
  mime: "application/pdf",
  url: dataUrl("application/pdf", pages(2)),
})
/** Of known size where the policy sizes media, else as rare as what is unknown. */
export const mediaDraft: fc.Arbitrary<Draft[]> = fc
  .tuple(media, output, fc.constantFrom("user", "tool", "cleared"))
  .map(([file, said, place]) => {
    if (place === "user") return [userParts(text(said), file)]
    const time = place === "cleared" ? { start: 1, compacted: 9_500 } : { start: 1, end: 2 }
    return [step(read("a.png", said, { attachments: [file], time }))]
  })
/** Rare, since one of them makes the whole history unknown. */
export const unknownDraft: fc.Arbitrary<Draft[]> = fc
  .constantFrom(
    userParts({ type: "file", mime: "image/png", url: "data:," }),
    step(read("a.ts", "x", { attachments: [{ mime: "image/png" }] })),
    assistant([{ type: "hologram" }]),
  )
  .map((one) => [one])

export const histories: fc.Arbitrary<Message[]> = fc
  .array(
    fc.oneof(
      { weight: 60, arbitrary: draft },
      { weight: 5, arbitrary: mediaDraft },
      { weight: 1, arbitrary: unknownDraft },
    ),
    { maxLength: 14 },
  )
  .map((drafts) => session(user("go"), ...drafts.flat()))

export const policies: fc.Arbitrary<Policy> = fc.record({
  stablePrefix: fc.boolean(),
  clearAtLeastRatio: fc.constantFrom(0, 0, 0.1, 0.35, 0.9),
  estimateMedia: fc.constantFrom(true, true, true, false),
  protectRecentSteps: fc.constantFrom(1, 1, 2, 5),
  protectRecentTokens: fc.constantFrom(0, 0, 500, 3_000),
  targetRatio: fc.constantFrom(0.01, 0.35, 0.7, 1),
  minimumSavingsTokens: fc.constantFrom(1, 100, 512),
  protectedTools: fc.constantFrom([], [], ["grep"], ["bash", "read"]),
  calibrate: fc.boolean(),
})

export const projectOptions: fc.Arbitrary<ProjectOptions> = fc.record(
  {
    inputBudget: fc.oneof(fc.integer({ min: 1, max: 9_000 }), fc.constantFrom(0, Number.NaN, 1e9)),
    policy: policies,
    force: fc.boolean(),
    now: fc.integer({ min: 1, max: 2 ** 50 }),
    model: fc.constantFrom(
      MODEL,
      { ...MODEL, npm: "@ai-sdk/anthropic", apiID: "claude" },
      { ...MODEL, npm: "@ai-sdk/openai-compatible", apiID: "x", capabilities: { input: { image: true } } },
      { providerID: "other", modelID: "m" },
    ),
  },
  { requiredKeys: ["inputBudget", "policy"] },
)
