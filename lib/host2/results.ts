import { isRecord } from "../dtc/plain.ts"
import { textTokens } from "../dtc/tokens.ts"
import type { OutputFacts } from "../dtc/types.ts"
import type { LoweredPart } from "./types.ts"

/** What a lowered tool result says, in the forms that the host's result values have. */
export interface ResultReading {
  outcome: OutputFacts["outcome"]
  /** What the model reads, files apart; `undefined` when that cannot be told. */
  text: string | undefined
  /** Of everything that can be sized. */
  tokens: number
  unknownSize: boolean
  attachments: boolean
  exitCode: OutputFacts["exitCode"]
  /** The tool's own account of its output, where the result carries one. */
  account: Record<string, unknown> | undefined
}

type ResultKind = "content" | "error" | "json" | "text"

const RESULTS: Readonly<Record<ResultKind, (value: unknown) => ResultReading>> = {
  text: (value) => (typeof value === "string" ? describeText(value) : describeJson(value)),
  json: describeJson,
  content: (value) => (Array.isArray(value) ? describeContent(value) : UNREADABLE),
  error: (value) => ({ ...RESULTS.text(value), outcome: "failed" }),
}

const UNREADABLE: ResultReading = {
  outcome: "unknown",
  text: undefined,
  tokens: 0,
  unknownSize: true,
  attachments: false,
  exitCode: "odd",
  account: undefined,
}

/** Reads the value of a `tool-result` part. What it does not carry is absent, never assumed. */
export function readResult({ result }: LoweredPart): ResultReading {
  if (!isRecord(result) || !isResultKind(result["type"])) return UNREADABLE
  return RESULTS[result["type"]](result["value"])
}

function describeText(text: string): ResultReading {
  const tokens = textTokens(text)
  return { ...UNREADABLE, outcome: "completed", text, tokens, unknownSize: false, exitCode: "absent" }
}

/** The tool's account itself, as JSON: how a file's text is sent. */
function describeJson(value: unknown): ResultReading {
  // For `undefined` the answer is `undefined`, which the declared type leaves out.
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) return UNREADABLE
  const account = isRecord(value) ? value : undefined
  const attachments = account !== undefined && holdsBytes(account)
  return { ...describeText(text), account, attachments, exitCode: readExitCode(account) }
}

/** A list of texts and files; the host joins texts by a line break. */
function describeContent(items: readonly unknown[]): ResultReading {
  const texts = items.flatMap((item) =>
    isRecord(item) && item["type"] === "text" && typeof item["text"] === "string" ? [item["text"]] : [],
  )
  const others = texts.length < items.length
  const exitCode = readExitSentence(texts)
  return { ...describeText(texts.join("\n")), unknownSize: others, attachments: others, exitCode }
}

function readExitCode(account: Record<string, unknown> | undefined): OutputFacts["exitCode"] {
  if (!account || !Object.hasOwn(account, "exit")) return "absent"
  return typeof account["exit"] === "number" ? account["exit"] : "odd"
}

/** The sentence by which the host's shell tool ends the last of its texts; the command's own output is another text. */
const EXIT_SENTENCE = /(?:^|\n\n)Command exited with code (\d+)\.$/

function readExitSentence(texts: readonly string[]): OutputFacts["exitCode"] {
  const code = texts.length > 1 ? EXIT_SENTENCE.exec(texts.at(-1) ?? "")?.[1] : undefined
  return code === undefined ? "absent" : Number(code)
}

function holdsBytes({ attachments, encoding }: Record<string, unknown>): boolean {
  const empty = attachments === undefined || (Array.isArray(attachments) && attachments.length === 0)
  return !empty || (encoding !== undefined && encoding !== "utf8")
}

function isResultKind(type: unknown): type is ResultKind {
  return typeof type === "string" && Object.hasOwn(RESULTS, type)
}
