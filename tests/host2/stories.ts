/** One history told for both hosts: as 1.x's stored messages and as 2.x's rows. What a tool answers reads the same on both. */
import fc from "fast-check"
import type { Message } from "../../lib/dtc/types.ts"
import { failed, pending, reasoning, session, step, text, tokens, tool, user } from "../helpers/history.ts"
import { MODEL } from "./host.ts"
import type { AssistantEntry, Row, ToolContent, ToolEntry, ToolState } from "./rows.ts"

type Fields = Record<string, unknown>
type Draft = ReturnType<typeof user>

export interface Call {
  tool: string
  input: Fields
  said: string
  outcome?: "completed" | "failed" | "running"
  /** Of a shell command. Absent: 0. */
  exit?: number
  /** Instruction files came along. */
  loaded?: string[]
  /** `cut`: the host shortened the result to its limits, so that the tool's account of it is gone. */
  form?: "cut" | "full"
  picture?: boolean
  byProvider?: boolean
}

export type Turn = { user: string } | { system: string } | { said?: string; thought?: string; calls: readonly Call[] }
export type Story = readonly Turn[]

export const read = (filePath: string, said: string, more: Partial<Call> = {}): Call => ({
  tool: "read",
  input: { filePath },
  said,
  ...more,
})
export const grep = (pattern: string, said: string, more: Partial<Call> = {}): Call => ({
  tool: "grep",
  input: { pattern },
  said,
  ...more,
})
export const bash = (command: string, said: string, more: Partial<Call> = {}): Call => ({
  tool: "bash",
  input: { command },
  said,
  ...more,
})

/** A call's id by its place. */
export const callID = (turn: number, position: number): string => `call_${turn}_${position}`

/** One old read of 3,000 tokens that may be cleared, and a recent step that may not. */
export const longRows = (): Row[] =>
  toRows([{ user: "go" }, { calls: [read("old.ts", tokens(3_000))] }, { user: "next" }, { calls: [bash("ls", "a")] }])

export function toRows(story: Story): Row[] {
  return story.map((turn, index): Row => {
    const id = `msg_${index}`
    if ("user" in turn) return { id, type: "user", text: turn.user }
    if ("system" in turn) return { id, type: "system", text: turn.system }
    const content: AssistantEntry[] = [
      ...(turn.thought === undefined ? [] : [{ type: "reasoning" as const, text: turn.thought }]),
      ...(turn.said === undefined ? [] : [{ type: "text" as const, text: turn.said }]),
      ...turn.calls.map((call, position) => toEntry(call, callID(index, position))),
    ]
    return { id, type: "assistant", model: MODEL, content, completed: true }
  })
}

export function toMessages(story: Story): Message[] {
  const drafts = story.map((turn, index): Draft => {
    if ("user" in turn) return user(turn.user)
    if ("system" in turn) return user(turn.system)
    return step(
      ...(turn.thought === undefined ? [] : [reasoning(turn.thought)]),
      ...(turn.said === undefined ? [] : [text(turn.said)]),
      ...turn.calls.map((call, position) => ({ ...toPart(call), callID: callID(index, position) })),
    )
  })
  return session(...drafts)
}

/** Whether 2.x proves everything about the call that 1.x does. */
export function isProvable({ tool: name, form = "full", outcome = "completed", picture, byProvider }: Call): boolean {
  if (outcome !== "completed" || picture || byProvider) return false
  return form === "full" || (name !== "read" && name !== "bash")
}

function toEntry(call: Call, id: string): ToolEntry {
  const { tool: name, byProvider = false } = call
  return { type: "tool", id, name, provider: { executed: byProvider }, state: toState(call) }
}

function toState(call: Call): ToolState {
  const { input, said, outcome = "completed" } = call
  const settled = { input, structured: accountOf(call), content: contentOf(call) }
  if (outcome === "completed") return { status: "completed", ...settled }
  const empty = { input, structured: {}, content: [] }
  return outcome === "running"
    ? { status: "running", ...empty }
    : { status: "error", error: { type: "unknown", message: said }, ...empty }
}

/** The text that reaches the model, on both hosts. */
export function textOf(call: Call): string {
  const { said, outcome = "completed" } = call
  if (outcome === "failed")
    return JSON.stringify({ error: { type: "unknown", message: said }, content: [], structured: {} })
  const content = contentOf(call)
  if (content.length === 0) return JSON.stringify(accountOf(call))
  return content.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n")
}

function contentOf({ tool: name, said, exit = 0, form = "full", picture = false }: Call): ToolContent[] {
  const sentence = `Command exited with code ${exit}.`
  if (picture) return [textItem(said), { type: "file", uri: "data:image/png;base64,", mime: "image/png" }]
  if (name === "bash") return form === "full" ? [textItem(said), textItem(sentence)] : [textItem(`${said}${sentence}`)]
  return name === "read" && form === "full" ? [] : [textItem(said)]
}

const textItem = (value: string): ToolContent => ({ type: "text", text: value })

function accountOf({ tool: name, input, said, exit = 0, loaded }: Call): Fields {
  if (name === "bash") return { exit, truncated: false }
  if (name !== "read") return {}
  const content = { name: input["filePath"], content: said, encoding: "utf8", mime: "text/plain" }
  return { ...content, ...(loaded && { loaded }) }
}

function toPart(call: Call): Fields {
  const { tool: name, input, outcome = "completed", exit = 0, loaded, picture, byProvider } = call
  if (outcome === "running") return { ...pending("running", input), tool: name }
  if (outcome === "failed") return failed(name, input, textOf(call))
  const metadata = { ...(name === "bash" && { exit }), ...(loaded && { loaded }) }
  const attachments = picture && [{ mime: "image/png", url: "data:image/png;base64," }]
  return tool(
    name,
    input,
    textOf(call),
    { metadata, ...(attachments && { attachments }) },
    byProvider ? { metadata: { providerExecuted: true } } : {},
  )
}

const says = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 900 }), fc.constantFrom("x", "y")).map(([count, seed]) => tokens(count, seed)),
  fc.constantFrom(tokens(600, "same"), tokens(600, "same"), '漢字🙂\ud800"\\\n'.repeat(60), ""),
)

const plainCall: fc.Arbitrary<Call> = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(read("a.ts", tokens(600, "again")), grep("a", tokens(600, "again"))) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom("a.ts", "a.ts", "src/b.ts", "AGENTS.md", String.raw`C:\docs\Skill.md`), says)
      .map(([path, said]) => read(path, said)),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom("a", "b"), says).map(([pattern, said]) => grep(pattern, said)) },
  {
    weight: 3,
    arbitrary: fc.tuple(says, fc.constantFrom(0, 0, 0, 1)).map(([said, exit]) => bash("ls", said, { exit })),
  },
  { weight: 1, arbitrary: says.map((said): Call => ({ tool: "edit", input: { a: 1 }, said })) },
  { weight: 1, arbitrary: says.map((said) => read("a.ts", said, { loaded: ["/r/AGENTS.md"] })) },
)

const oddities = fc.constantFrom<Partial<Call>>(
  ...Array.from({ length: 12 }, () => ({})),
  { form: "cut" },
  { form: "cut" },
  { outcome: "failed" },
  { outcome: "running" },
  { picture: true },
  { byProvider: true },
  { loaded: [] },
)

const oddCall = fc.tuple(plainCall, oddities).map(([call, odd]): Call => ({ ...call, ...odd }))

function storiesOf(call: fc.Arbitrary<Call>): fc.Arbitrary<Story> {
  const turn: fc.Arbitrary<Turn> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(fc.array(call, { minLength: 1, maxLength: 3 }), fc.option(says), fc.option(says))
        .map(([calls, said, thought]) => ({
          calls,
          ...(said && { said }),
          ...(thought && { thought }),
        })),
    },
    { weight: 2, arbitrary: says.map((said) => ({ user: said })) },
    { weight: 1, arbitrary: says.map((said) => ({ system: said })) },
  )
  return fc.array(turn, { minLength: 2, maxLength: 16 }).map((turns) => [{ user: "go" }, ...turns])
}

/** Everything that 1.x proves is proven on 2.x too. */
export const provableStories: fc.Arbitrary<Story> = storiesOf(plainCall)
export const stories: fc.Arbitrary<Story> = storiesOf(oddCall)
