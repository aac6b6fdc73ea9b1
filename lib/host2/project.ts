import { isRecord } from "../dtc/plain.ts"
import type { ClearReason, Policy, ToolOutput } from "../dtc/types.ts"
import { replayRequests } from "../dtc/replay.ts"
import { PLACEHOLDER_TEXT } from "../dtc/wire-texts.ts"
import { copyMessages, ownValue } from "./lowered.ts"
import { readLowered } from "./wire.ts"

export interface LoweredOptions {
  /** Tokens that the model accepts as input; above 0. */
  inputBudget: number
  policy: Policy
  /** Clear every eligible output, whatever the size. Every protection stays. */
  force?: boolean
}

/** An output that goes out as the placeholder. */
export interface LoweredClear {
  /** Index into the event's messages. */
  messageIndex: number
  /** Index into the message's content. */
  partIndex: number
  callID: string
  tool: string
  reason: ClearReason
  /** Redundant outputs only: the call whose later, identical output stays visible. */
  witnessCallID?: string
  /** The request that chose it, counted from 0 within the history. */
  requestIndex: number
}

/** Changed messages by their index; those left out stay as they are. */
export interface LoweredProjection {
  replacements: ReadonlyMap<number, object>
  /** In the order in which they were chosen. */
  cleared: readonly LoweredClear[]
}

/**
 * Works out what the messages of an event cost and which results go out as the placeholder, by the selection that both
 * hosts share. Pure: the messages are never written, changed ones are made anew. `undefined`: they cannot be read.
 */
export function projectLowered(messages: readonly unknown[], options: LoweredOptions): LoweredProjection | undefined {
  const copies = copyMessages(messages)
  if (!copies) return undefined
  const { policy, inputBudget, force = false } = options
  const { cleared } = replayRequests(readLowered(copies), { policy, budgetTokens: inputBudget, force })
  return {
    replacements: replaceResults(
      messages,
      cleared.map(({ output }) => output),
    ),
    cleared: cleared.map(({ output, reason, witness, requestIndex }) => ({
      messageIndex: output.messageIndex,
      partIndex: output.partIndex,
      callID: output.callID,
      tool: output.tool,
      reason,
      ...(witness && { witnessCallID: witness.callID }),
      requestIndex,
    })),
  }
}

/** The result value by which the host would send the placeholder itself. */
const CLEARED_RESULT = { type: "text", value: PLACEHOLDER_TEXT } as const

function replaceResults(messages: readonly unknown[], outputs: readonly ToolOutput[]): Map<number, object> {
  const replacements = new Map<number, object>()
  for (const { messageIndex, partIndex } of outputs) {
    const message = replacements.get(messageIndex) ?? messages[messageIndex]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its output has been read, so it is an object
    replacements.set(messageIndex, clearResult(message as object, partIndex))
  }
  return replacements
}

/** A message like the given one, of the same class, whose one result is the placeholder. No accessor is called. */
function clearResult(message: object, partIndex: number): object {
  const parts = ownValue(message, "content")
  const content = Array.from({ length: Number(ownValue(parts, "length")) }, (_, index) => {
    const part = ownValue(parts, String(index))
    return index === partIndex && isRecord(part) ? { ...part, result: { ...CLEARED_RESULT } } : part
  })
  const prototype: object | null = Object.getPrototypeOf(message)
  const fields = Object.getOwnPropertyDescriptors(message)
  const replacement: object = Object.create(prototype, {
    ...fields,
    content: { value: content, enumerable: true, writable: true, configurable: true },
  })
  return replacement
}
