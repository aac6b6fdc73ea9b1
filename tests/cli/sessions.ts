import type { Message } from "../../lib/dtc/types.ts"
import type { Report } from "../../lib/cli/types.ts"
import {
  assistant,
  bash,
  failed,
  grep,
  read,
  reportedStep,
  session,
  step,
  text,
  tokens,
  tool,
  user,
} from "../helpers/history.ts"
import type { Terminal } from "./terminal.ts"

/** A budget of 10,000 tokens and, by default, a target of 7,000. */
export const LIMIT = "12000,2000"

/** Settings small enough for sessions of a page. */
export const SETTINGS = { dtc: { protectRecentSteps: 1, protectRecentTokens: 0 } }

/** Reads of 1,500 tokens each; the first is repeated, one command fails, one output is small. */
export const READS: Message[] = session(
  user("Please look around."),
  step(read("a.ts", tokens(1_500, "a"))),
  step(read("b.ts", tokens(1_500, "b")), bash("npm test", tokens(1_200, "t"), 1)),
  step(grep("needle", "few hits")),
  step(read("a.ts", tokens(1_500, "a"))),
  step(read("c.ts", tokens(1_500, "c"))),
  step(read("d.ts", tokens(1_500, "d")), tool("webfetch", { url: "https://example.com" }, tokens(800, "w"))),
  step(read("b.ts", tokens(1_500, "b"))),
  step(bash("ls", "one two"), failed("read", { filePath: "gone.ts" }, "no such file")),
  assistant([{ type: "step-start" }, text("Done."), { type: "step-finish", reason: "stop" }]),
)

/** The provider tells what each request held, which is more than the messages are. */
export const REPORTED: Message[] = session(
  user("Please look around."),
  ...["a", "b", "c", "a", "d", "e", "f"].map((name, index) =>
    reportedStep({ input: 900 + 1_800 * index, output: 40 }, read(`${name}.ts`, tokens(1_300, name))),
  ),
)

/** What `opencode export` prints for the messages. */
export const exported = (messages: readonly Message[], info: object = {}): object => ({
  info: { id: "ses_1", title: "A look around", ...info },
  messages,
})

export async function explainJson(terminal: Terminal, session_: unknown, ...args: string[]): Promise<Report> {
  const file = terminal.write("session.json", session_)
  const { code, out, err } = await terminal.run(
    "explain",
    file,
    "--json",
    ...(args.length > 0 ? args : ["--limit", LIMIT]),
  )
  if (code !== 0) throw new Error(`explain ended with ${code}: ${err}`)
  return JSON.parse(out) as Report
}
