import { withinDeadline } from "../deadline.ts"
import type { Dispatches, Placeholder } from "../dispatches.ts"
import { fieldOf, isRecord } from "../dtc/plain.ts"
import type { HostClient, ToolDefinition } from "../host.ts"
import { describeArguments, readCount, readText } from "./arguments.ts"
import { describePage } from "./page.ts"
import { plural, shorten } from "./wording.ts"

const DEADLINE_MS = 10_000
const LISTED_MATCHES = 20
const LISTED_TOOLS = 12
const SHOWN_CHARACTERS = 160

/** A time that can be written as a date. */
const LARGEST_TIME_MS = 8.64e15

const DESCRIPTION =
  "Returns the original of one tool output that this conversation shows as [Old tool result content cleared]. It reads " +
  "the stored session and runs nothing again. Say which one by the tool's name and a part of its input, such as a path or a " +
  "piece of the command, or by the call's id. When several match it lists them instead of guessing. A long output comes in pages."

const ARGUMENTS = describeArguments({
  tool: { type: "string", description: "Name of the tool whose output is wanted; empty for any." },
  input: { type: "string", description: "Plain text that the call's input contains; empty for any." },
  callID: {
    type: "string",
    description: "Id of the call, as an earlier answer of this tool names it; empty if unknown.",
  },
  offset: { type: "integer", minimum: 0, description: "First line to return, counted from 1; 0 for the beginning." },
  limit: { type: "integer", minimum: 0, description: "Most lines to return; 0 for as many as fit." },
})

const UNSENT = "Nothing to recall: no request of this session has been sent since the plugin started."
const NOTHING_CLEARED = "Nothing to recall: the last request of this session carried every output in full."
const NO_ANSWER = "Not recalled: the host's store did not answer in time. Try again."

/**
 * Reads a cleared output again, from the host's own store and for the calling session only. Among the outputs that the last
 * request carried as placeholders; text is compared as text, never as a pattern.
 */
export function createRecallTool({
  client,
  dispatches,
}: {
  client: HostClient
  dispatches: Dispatches
}): ToolDefinition {
  return {
    description: DESCRIPTION,
    args: ARGUMENTS,
    execute: async (args, { sessionID }) => {
      const placeholders = dispatches.findRecord(sessionID)?.placeholders
      if (!placeholders) return UNSENT
      if (placeholders.length === 0) return NOTHING_CLEARED
      const wanted = readWanted(args)
      const found = await findStored(client, sessionID, placeholders.filter(isWanted(wanted)))
      if (found === undefined) return NO_ANSWER
      const stored = found.filter(({ output }) => output !== undefined)
      const matches = stored.filter(({ input }) => holdsText(input, wanted.input))
      const [match, ...others] = matches
      if (match?.output === undefined) return describeNone(placeholders, found.length - stored.length)
      if (others.length > 0) return listMatches(matches)
      return describePage(match.output, { offset: readCount(args["offset"]), limit: readCount(args["limit"]) })
    },
  }
}

interface Wanted {
  tool: string
  input: string
  callID: string
}

function readWanted(args: Record<string, unknown>): Wanted {
  return { tool: readText(args["tool"]), input: readText(args["input"]), callID: readText(args["callID"]) }
}

const isWanted =
  ({ tool, callID }: Wanted) =>
  (placeholder: Placeholder): boolean =>
    (tool === "" || placeholder.tool === tool) && (callID === "" || placeholder.callID === callID)

interface StoredOutput extends Placeholder {
  input?: unknown
  /** Absent: it is not stored in this session any more. */
  output?: string
  /** Milliseconds since the epoch. */
  calledAt?: number
}

/** Message by message, so that nothing else of the session is read. `undefined`: no answer in time. */
async function findStored(
  client: HostClient,
  sessionID: string,
  wanted: readonly Placeholder[],
): Promise<StoredOutput[] | undefined> {
  const messageIDs = [...new Set(wanted.map(({ messageID }) => messageID))]
  const answers = await withinDeadline(DEADLINE_MS, (signal) =>
    Promise.all(messageIDs.map((messageID) => readMessage(client, { id: sessionID, messageID }, signal))),
  )
  if (!answers) return undefined
  const messages = new Map(messageIDs.map((messageID, index) => [messageID, answers[index]]))
  return wanted.map((placeholder) => describeStored(placeholder, sessionID, messages.get(placeholder.messageID)))
}

/** The host refuses what it does not have: a deleted session, a message that was undone. */
async function readMessage(
  client: HostClient,
  path: { id: string; messageID: string },
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return (await client.session.message({ path, signal })).data
  } catch {
    return undefined
  }
}

function describeStored(placeholder: Placeholder, sessionID: string, message: unknown): StoredOutput {
  if (!isRecord(message) || fieldOf(message["info"], "sessionID") !== sessionID) return placeholder
  const parts = Array.isArray(message["parts"]) ? message["parts"] : []
  const part: unknown = parts.find((one) => fieldOf(one, "id") === placeholder.partID)
  const state = fieldOf(part, "state")
  const output = fieldOf(state, "output")
  if (typeof output !== "string") return placeholder
  const calledAt = fieldOf(fieldOf(state, "time"), "start")
  return {
    ...placeholder,
    input: fieldOf(state, "input"),
    output,
    ...(isTime(calledAt) && { calledAt }),
  }
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= LARGEST_TIME_MS
}

/** In one of the input's texts, at any depth, or in the input as JSON. An empty text is in every input. */
function holdsText(input: unknown, text: string): boolean {
  return listTexts(input).some((one) => one.includes(text)) || describeInput(input).includes(text)
}

/** A list instead of recursion: nothing bounds how deep an input is. */
function listTexts(input: unknown): string[] {
  const texts: string[] = []
  const open: unknown[] = [input]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === "string") texts.push(value)
    else if (typeof value === "object" && value !== null) for (const field of Object.values(value)) open.push(field)
  }
  return texts
}

function describeNone(placeholders: readonly Placeholder[], missingCount: number): string {
  const missing = missingCount > 0 ? `${missingCount} that could match are not stored in this session any more. ` : ""
  const counts = new Map<string, number>()
  for (const { tool } of placeholders) counts.set(tool, (counts.get(tool) ?? 0) + 1)
  const listed = [...counts]
    .slice(0, LISTED_TOOLS)
    .map(([tool, count]) => `${shorten(tool, SHOWN_CHARACTERS)} (${count})`)
  const others = counts.size > listed.length ? ` and ${counts.size - listed.length} other tools` : ""
  const tools = `${listed.join(", ")}${others}`
  return `No cleared output of this session's last request matches. ${missing}Cleared are outputs of ${tools}. Give less, or another part of the input.`
}

function listMatches(matches: readonly StoredOutput[]): string {
  const listed = matches.slice(-LISTED_MATCHES)
  const left = matches.length - listed.length
  return [
    `${matches.length} cleared outputs match. Call again with the callID of one of them, or with more of its input.`,
    ...(left > 0
      ? [`The newest ${listed.length}, oldest first; ${left} older ones are not listed:`]
      : ["Oldest first:"]),
    ...listed.map(describeMatch),
  ].join("\n")
}

function describeMatch({ callID, tool, input, output = "", calledAt, witnessCallID }: StoredOutput): string {
  const when = calledAt === undefined ? "" : `, ${new Date(calledAt).toISOString()}`
  const same =
    witnessCallID === undefined
      ? ""
      : `; the identical output of ${shorten(witnessCallID, SHOWN_CHARACTERS)} came later`
  const size = `${plural(output.split("\n").length, "line")}, ${Buffer.byteLength(output)} bytes`
  return `- callID ${shorten(callID, SHOWN_CHARACTERS)}: ${shorten(tool, SHOWN_CHARACTERS)} ${shorten(describeInput(input), SHOWN_CHARACTERS)} (${size}${when}${same})`
}

/** Empty also for an input that is nested too deeply to be written down. */
function describeInput(input: unknown): string {
  try {
    return JSON.stringify(input) ?? ""
  } catch {
    return ""
  }
}
