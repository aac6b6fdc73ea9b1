import { replayRequests, type ReplayedRequest } from "../../lib/dtc/replay.ts"
import type { History, Message, Model, Policy, Segment } from "../../lib/dtc/types.ts"
import { findRequestedModel, readHistory } from "../../lib/dtc/wire.ts"
import { splitWindows } from "../../lib/cli/windows.ts"
import type { Session } from "../replay/session.ts"
import { METHODS, type Moment, type ReportedMoment } from "./methods.ts"

/** One request whose size the provider reported, and what each method would have said just before it was made. */
export interface Prediction {
  session: string
  /** No earlier request of its window was reported. */
  isFirst: boolean
  reportedTokens: number
  /** By method; a method that cannot say is left out. */
  predicted: Record<string, number>
}

/** The name of the engine's own estimate among the methods. */
export const ENGINE = "engine"

export function predictReports(sessions: readonly Session[]): Prediction[] {
  return sessions.flatMap(({ name, messages }) =>
    splitWindows(messages).flatMap((window) => {
      const history = readHistory(window, { model: findModel(window), estimateMedia: true })
      return history ? predictWindow(name, history) : []
    }),
  )
}

/** Nothing is cleared: these sessions were sent without the plugin. */
function predictWindow(session: string, history: History): Prediction[] {
  const predictions: Prediction[] = []
  const past: ReportedMoment[] = []
  const base = observeRequests(history, false)
  for (const [index, { segment, tokens }] of observeRequests(history, true).entries()) {
    const reportedTokens = history.segments[segment]?.report?.promptTokens
    if (reportedTokens === undefined) continue
    const baseTokens = base[index]?.tokens ?? NaN
    const moment = describeMoment(history.segments, past.at(-1)?.segment, segment, baseTokens)
    const answers = [
      ...METHODS.map(({ name, predict }): Answer => [name, predict(moment, past)]),
      [ENGINE, tokens] as const,
    ]
    const isFirst = past.length === 0
    predictions.push({ session, isFirst, reportedTokens, predicted: Object.fromEntries(answers.filter(isFinite)) })
    past.push({ ...moment, reportedTokens })
  }
  return predictions
}

type Answer = readonly [method: string, tokens: number | undefined]

function isFinite(answer: Answer): answer is [string, number] {
  return Number.isFinite(answer[1])
}

/** The requested model, or, where no user message names one, the one that answered last. */
function findModel(messages: readonly Message[]): Model | undefined {
  const requested = findRequestedModel(messages)
  const info = messages.findLast(
    ({ info: { role, modelID } }) => role === "assistant" && typeof modelID === "string",
  )?.info
  return requested ?? (info && { providerID: String(info["providerID"]), modelID: String(info["modelID"]) })
}

function observeRequests(history: History, calibrate: boolean): ReplayedRequest[] {
  const requests: ReplayedRequest[] = []
  replayRequests(history, {
    policy: { ...IDLE_POLICY, calibrate },
    force: false,
    observe: (request) => void requests.push(request),
  })
  return requests
}

/** Without a budget nothing is decided, so that these do not matter. */
const IDLE_POLICY: Policy = {
  protectRecentSteps: 1,
  protectRecentTokens: 0,
  targetRatio: 1,
  minimumSavingsTokens: 1,
  protectedTools: [],
}

/** What has grown since the window's last reported request: `from` is the segment that answered it. */
function describeMoment(
  segments: readonly Segment[],
  from: number | undefined,
  segment: number,
  baseTokens: number,
): Moment {
  const grown = from === undefined ? [] : segments.slice(from, segment)
  const written = grown.map(({ report, writtenTokens }) => report?.writtenTokens ?? writtenTokens)
  const estimated = grown.map(({ report, writtenTokens }) => (report?.writtenTokens === undefined ? 0 : writtenTokens))
  return { segment, baseTokens, writtenTokens: sum(written), writtenBaseTokens: sum(estimated) }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
