import { findKeptReason } from "../../lib/dtc/eligibility.ts"
import { Copies } from "../../lib/dtc/redundancy.ts"
import type { Message, Policy, Segment, ToolOutput } from "../../lib/dtc/types.ts"
import { readHistory } from "../../lib/dtc/wire.ts"
import { splitWindows } from "../../lib/cli/windows.ts"
import { findNamedPaths } from "./evidence.ts"
import { findMarkMs, withoutMarks } from "./marks.ts"
import { findRequests, type WindowRequest } from "./requests.ts"
import type { Session } from "./session.ts"

/**
 * One active window, read once: what each request of it sent is a prefix of `segments` and `outputs`.
 *
 * Approximations: sizes follow the window's latest model, also before a model switch; a step of a message that failed
 * later counts as failed from its start.
 */
export interface ReplayWindow {
  session: string
  /** Position among the session's windows. */
  index: number
  /** Without the host's clearing marks; `markedAtMs` of the outputs keeps them. */
  messages: readonly Message[]
  segments: readonly Segment[]
  outputs: readonly WindowOutput[]
  requests: readonly WindowRequest[]
  /** Tokens before each segment; the last entry is the size of the whole window, nothing cleared. */
  segmentStartTokens: readonly number[]
}

export interface WindowOutput {
  index: number
  output: ToolOutput
  /** The engine may clear it, recent protection aside. */
  eligible: boolean
  /** The index of the window's last identical output; equal for identical ones, the output's own index without a copy. */
  copyGroup: number
  /** When the host itself cleared it; `Infinity`: never. */
  markedAtMs: number
  /** Tokens before it within the window, nothing cleared: its step's calls stand before its step's results. */
  startTokens: number
  /** Paths that the call names. */
  paths: readonly string[]
}

export function readWindows(session: Session, policy: Policy): ReplayWindow[] {
  return splitWindows(session.messages).map((messages, index) => readWindow(session.name, index, messages, policy))
}

export function readWindow(session: string, index: number, stored: readonly Message[], policy: Policy): ReplayWindow {
  const messages = stored.map(withoutMarks)
  const history = readHistory(messages)
  if (!history) throw new TypeError(`${session}: malformed message`)
  const segmentStartTokens = sumBefore(history.segments)
  const outputs = describeOutputs(stored, history.outputs, history.segments, segmentStartTokens, policy)
  const requests = findRequests(messages, history.segments, outputs)
  return { session, index, messages, segments: history.segments, outputs, requests, segmentStartTokens }
}

/** The window's size with nothing cleared but what the host had cleared by its last request. */
export function finalTokens({ segmentStartTokens, requests, outputs }: ReplayWindow): number {
  return (segmentStartTokens.at(-1) ?? 0) - sumSavings(outputs, requests.at(-1)?.hostCleared ?? [])
}

export function sumSavings(outputs: readonly WindowOutput[], indices: Iterable<number>): number {
  let tokens = 0
  for (const index of indices) tokens += outputs[index]?.output.savingsTokens ?? 0
  return tokens
}

function sumBefore(segments: readonly Segment[]): number[] {
  const sums = [0]
  for (const { tokens } of segments) sums.push((sums.at(-1) ?? 0) + tokens)
  return sums
}

function describeOutputs(
  stored: readonly Message[],
  outputs: readonly ToolOutput[],
  segments: readonly Segment[],
  segmentStartTokens: readonly number[],
  policy: Policy,
): WindowOutput[] {
  const eligible = outputs.filter((output) => findKeptReason(output, policy) === undefined)
  const isEligible = new Set(eligible)
  const copies = new Copies()
  for (const output of eligible) copies.add(output)
  const indices = new Map(outputs.map((output, index) => [output, index]))
  const ends = new Map<number, number>()
  for (const { segment, textTokens } of outputs) ends.set(segment, (ends.get(segment) ?? 0) + textTokens)
  const placed = new Map<number, number>()
  return outputs.map((output, index) => {
    const { segment, messageIndex, partIndex, textTokens } = output
    const callTokens = (segments[segment]?.tokens ?? 0) - (ends.get(segment) ?? 0)
    const earlier = placed.get(segment) ?? 0
    placed.set(segment, earlier + textTokens)
    const part = stored[messageIndex]?.parts[partIndex]
    return {
      index,
      output,
      eligible: isEligible.has(output),
      copyGroup: indices.get(copies.findWitness(output) ?? output) ?? index,
      markedAtMs: part ? findMarkMs(part) : Infinity,
      startTokens: (segmentStartTokens[segment] ?? 0) + callTokens + earlier,
      paths: findNamedPaths(output.input),
    }
  })
}
