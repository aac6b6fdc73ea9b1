import type { History, ToolOutput } from "../../lib/dtc/types.ts"

/** A request: it sends the segments before `end`, at that time, without the cleared outputs and without some tokens more. */
export interface Request {
  end: number
  at: number
  cleared: ReadonlySet<ToolOutput>
  momentaryTokens: number
}

export interface Weight {
  tokens: number | undefined
  slope: number
  overheadTokens: number
  isCalibrated: boolean
}

interface Level {
  base: number
  estimated: number
  written: number
  unknown: ReadonlySet<unknown>
}

interface Anchor {
  tokens: number
  level: Level
}

/** The calibrated size of a request, said plainly and slowly: every level is summed from nothing, every report read in order. */
export function weighPlainly(
  history: History,
  past: readonly Request[],
  present: Request,
  calibrate: boolean,
  budget: number,
): Weight {
  let anchor: Anchor | undefined
  let doubted: Anchor | undefined
  let overhead: number | undefined
  const growths: { base: number; reported: number }[] = []
  const slope = (): number => {
    if (!anchor) return 1
    const reported = growths.reduce((total, growth) => total + growth.reported, 1.1 * 2_000)
    return Math.min(3, Math.max(0.5, reported / growths.reduce((total, growth) => total + growth.base, 2_000)))
  }
  const expect = (from: Anchor, to: Level): number =>
    from.tokens + to.written - from.level.written + slope() * (to.estimated - from.level.estimated)
  const isFar = (reading: Anchor, from: Anchor): boolean =>
    Math.abs(reading.tokens - expect(from, reading.level)) > Math.max(10_000, expect(from, reading.level) / 2)
  const forgetWhatWent = (level: Level): void => {
    if (anchor && !isSubset(anchor.level.unknown, level.unknown)) anchor = undefined
  }
  for (const request of past) {
    const level = levelOf(history, request)
    forgetWhatWent(level)
    const report = history.segments[request.end]?.report
    if (!report || !calibrate) continue
    const carried = sum(listCarried(history, request).map(({ savingsTokens }) => savingsTokens))
    const lowered = raise(level, -request.momentaryTokens)
    const levels = [lowered, raise(lowered, carried + request.momentaryTokens)]
    const sizes = [report.promptTokens, ...(anchor ? [report.promptTokensCachedInside ?? report.promptTokens] : [])]
    const readings = sizes
      .flatMap((tokens) => levels.map((one) => ({ tokens, level: one })))
      .filter(({ tokens, level: one }) => tokens >= one.base / 4 && tokens <= 2 * budget)
    const distance = (reading: Anchor): number =>
      Math.abs(reading.tokens - (anchor ? expect(anchor, reading.level) : 1.1 * reading.level.base))
    const nearest = Math.min(...readings.map(distance))
    const reading = readings.find((one) => distance(one) === nearest)
    if (!reading) continue
    if (anchor && isSubset(reading.level.unknown, anchor.level.unknown)) {
      if (isFar(reading, anchor) && (!doubted || isFar(reading, doubted))) {
        doubted = reading
        continue
      }
      const base = reading.level.estimated - anchor.level.estimated
      const reported = reading.tokens - anchor.tokens - (reading.level.written - anchor.level.written)
      if (base >= 200 && reported >= base / 2 && reported <= base * 3) growths.push({ base, reported })
    }
    doubted = undefined
    anchor = reading
    overhead ??= Math.max(0, reading.tokens - slope() * reading.level.base)
  }
  const level = levelOf(history, present)
  forgetWhatWent(level)
  const known = isSubset(level.unknown, anchor?.level.unknown ?? new Set())
  const tokens = anchor ? Math.max(0, expect(anchor, level)) : level.base
  return {
    tokens: known ? tokens : undefined,
    slope: slope(),
    overheadTokens: overhead ?? 0,
    isCalibrated: anchor !== undefined,
  }
}

function levelOf(history: History, request: Request): Level {
  const { segments, outputs } = history
  const sent = segments.slice(0, request.end)
  const present = outputs.filter(({ segment }) => segment < request.end)
  const awaited = present.filter(
    (output) => output.markedAt !== undefined && !isHiddenByMark(output, request.at, segments),
  )
  const full = sum(sent.map(({ tokens, reminderTokens }) => tokens - reminderTokens))
  const base =
    full +
    sum(awaited.map(({ savingsTokens }) => savingsTokens)) -
    sum(listCarried(history, request).map(({ savingsTokens }) => savingsTokens))
  const stated = sent.filter(({ report }) => report?.writtenTokens !== undefined)
  return {
    base,
    estimated: base - sum(stated.map(({ writtenTokens }) => writtenTokens)),
    written: sum(stated.map(({ report }) => report?.writtenTokens ?? 0)),
    unknown: new Set([...sent.filter(({ unknownSize }) => unknownSize), ...awaited.filter(isUnknownInFull)]),
  }
}

/** What only the engine hides: a stored mark that is in force hides for everybody. */
function listCarried({ segments }: History, { cleared, at }: Request): ToolOutput[] {
  return [...cleared].filter((output) => !isHiddenByMark(output, at, segments))
}

/** A mark that is as young as the newest request of the past counts for the one about to be made alone. */
export function isHiddenByMark({ markedAt }: ToolOutput, at: number, segments: History["segments"]): boolean {
  if (markedAt === undefined) return false
  const last = Math.max(0, ...segments.map(({ requestedAt }) => requestedAt ?? 0))
  return markedAt >= last ? at === Infinity : markedAt <= at
}

function isUnknownInFull({ facts, text }: ToolOutput): boolean {
  return facts.sent && facts.outcome === "completed" && (facts.attachments || text === undefined)
}

function raise(level: Level, tokens: number): Level {
  return { ...level, base: level.base + tokens, estimated: level.estimated + tokens }
}

function isSubset(part: ReadonlySet<unknown>, whole: ReadonlySet<unknown>): boolean {
  return [...part].every((one) => whole.has(one))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
