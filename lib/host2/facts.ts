/**
 * What a lowered message proves about an output, and what it cannot.
 *
 * | fact | proven by | not proven, so kept |
 * | --- | --- | --- |
 * | the call succeeded | a `text`, `json` or `content` result in a tool message | `error` results; results without their call |
 * | a shell command succeeded | `exit` 0 in a `json` result, or the host's own sentence as the last of several texts | one text, also the one that the host cut to its limits; a command that timed out |
 * | no instruction file | the call's `path` (1.x: `filePath`) | both names at once, or neither |
 * | no instructions came along | a `json` result of `read` whose `loaded` is absent or empty | `read` results that are text: the tool's account is not in them, nor is a page that the host cut to its limits |
 * | no attachments | texts only, and no `attachments` or bytes in a `json` result | `content` with anything but texts |
 * | not executed by the provider | no flag on call or result, and a tool message | results inside assistant content |
 * | still visible | it is not the placeholder itself | |
 */
import { isRecord } from "../dtc/plain.ts"
import { textTokens } from "../dtc/tokens.ts"
import type { OutputFacts, ToolOutput } from "../dtc/types.ts"
import { PLACEHOLDER_TEXT, PLACEHOLDER_TOKENS } from "../dtc/wire-texts.ts"
import type { ResultReading } from "./results.ts"
import type { LoweredPart } from "./types.ts"

export interface ResultPlace {
  messageIndex: number
  partIndex: number
  /** Index of the step's segment. */
  segment: number
  /** The step that the result belongs to. */
  messageID: string
  /** The call of that step with the result's id and tool; absent when there is none, or an answer already. */
  call: LoweredPart | undefined
  inAssistant: boolean
}

/** An output as the engine sees it. */
export function describeOutput(part: LoweredPart, place: ResultPlace, result: ResultReading): ToolOutput {
  const { call, messageIndex, partIndex, segment, messageID } = place
  const callID = String(part["id"])
  const tokens = result.outcome === "completed" && result.text !== undefined ? textTokens(result.text) : 0
  return {
    messageIndex,
    partIndex,
    messageID,
    partID: callID,
    callID,
    tool: String(part["name"]),
    segment,
    input: call?.["input"],
    text: result.text,
    textTokens: tokens,
    savingsTokens: Math.max(0, tokens - PLACEHOLDER_TOKENS),
    facts: describeFacts(part, place, result),
  }
}

function describeFacts(part: LoweredPart, { call, inAssistant }: ResultPlace, result: ResultReading): OutputFacts {
  const { account, text } = result
  return {
    sent: true,
    outcome: call ? result.outcome : "unknown",
    mark: text === PLACEHOLDER_TEXT ? "placeholder" : "none",
    error: account !== undefined && Object.hasOwn(account, "error"),
    attachments: result.attachments,
    providerExecuted: inAssistant || Boolean(part["providerExecuted"]) || Boolean(call?.["providerExecuted"]),
    exitCode: result.exitCode,
    path: readPath(call?.["input"]),
    loadedInstructions: mayHaveLoaded(String(part["name"]), account),
  }
}

function readPath(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined
  const [path, ...others] = [input["path"], input["filePath"]].filter((name) => name !== undefined)
  return typeof path === "string" && path !== "" && others.length === 0 ? path : undefined
}

/** Only `read` attaches instruction files; it names them in its account. */
function mayHaveLoaded(tool: string, account: Record<string, unknown> | undefined): boolean {
  if (!account) return tool === "read"
  const { loaded } = account
  return loaded !== undefined && !(Array.isArray(loaded) && loaded.length === 0)
}
