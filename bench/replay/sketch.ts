import { RecentSteps } from "../../lib/dtc/steps.ts"
import { carryForward, sentTokens, type ClearingPolicy, type RequestView } from "./policy.ts"
import { sumSavings, type WindowOutput } from "./window.ts"

/** The choices that the stable prefix leaves open; shares of the target. */
export interface SketchChoices {
  /** What a batch frees at least; else it waits. */
  clearAtLeastRatio: number
  /** How far below the target a batch goes; at least `clearAtLeastRatio` (the watermark), 1: everything eligible. */
  depthRatio: number
  /** What redundant outputs must free to be cleared alone. */
  redundantReliefRatio: number
  /** What a smaller batch must free to be made because it brings the request back inside the budget; absent: anything. */
  rescueAtLeastRatio?: number
  /** A request whose prefix is cold clears everything eligible above this; absent: coldness changes nothing. */
  coldTargetRatio?: number
}

/**
 * A plain replay of the stable prefix: the cleared set is carried from request to request and grows only in requests over
 * target. It works on the window's sizes, not on messages, so that hundreds of settings can be compared.
 */
export function sketchPolicy(choices: SketchChoices): ClearingPolicy {
  return {
    name: describeChoices(choices),
    description: "stable prefix in batches",
    decide: carryForward((view, previous) => planBatch(view, previous, choices)),
  }
}

/** Short enough for a table; `mark` is the watermark that the ratio implies. */
export function describeChoices(choices: SketchChoices): string {
  const { clearAtLeastRatio, depthRatio, redundantReliefRatio, rescueAtLeastRatio, coldTargetRatio } = choices
  const depth = depthRatio >= 1 ? "all" : depthRatio <= clearAtLeastRatio ? "mark" : String(depthRatio)
  const rescue = rescueAtLeastRatio ? ` rescue ${rescueAtLeastRatio}` : ""
  const cold = coldTargetRatio === undefined ? "" : ` cold ${coldTargetRatio}`
  return `sketch ${clearAtLeastRatio} depth ${depth} relief ${redundantReliefRatio}${rescue}${cold}`
}

function planBatch(view: RequestView, previous: ReadonlySet<number>, choices: SketchChoices): number[] {
  const { targetTokens, budgetTokens } = view.limits
  const tokens = sentTokens(view, previous)
  const cold = view.request.cold && tokens > (choices.coldTargetRatio ?? Infinity) * targetTokens
  if (view.request.unknownSize || (tokens <= targetTokens && !cold)) return []

  const { redundant, aged } = findCandidates(view, previous)
  if (cold) return [...redundant, ...aged]
  const reliefTokens = sumSavings(view.window.outputs, redundant)
  const reaches = tokens - reliefTokens <= targetTokens
  if (reaches && reliefTokens >= choices.redundantReliefRatio * targetTokens) return redundant

  const floorTokens = choices.depthRatio >= 1 ? -Infinity : targetTokens * (1 - choices.depthRatio)
  const batch = takeUntil(view, [...redundant, ...aged], tokens - floorTokens)
  const freedTokens = sumSavings(view.window.outputs, batch)
  const inside = tokens > budgetTokens && tokens - freedTokens <= budgetTokens
  const rescues = inside && freedTokens >= (choices.rescueAtLeastRatio ?? 0) * targetTokens
  return rescues || freedTokens >= choices.clearAtLeastRatio * targetTokens ? batch : []
}

/** Unprotected eligible outputs, oldest first, by whether a later identical one stays visible. */
function findCandidates(view: RequestView, previous: ReadonlySet<number>): { redundant: number[]; aged: number[] } {
  const { window, request, settings } = view
  const visible = window.outputs
    .slice(0, request.outputEnd)
    .filter(({ index, eligible }) => eligible && !previous.has(index) && !request.hostCleared.has(index))
  const latest = new Map(visible.map(({ copyGroup, index }) => [copyGroup, index]))
  const recent = new RecentSteps(settings)
  for (const segment of findSentSegments(view)) recent.append(segment, segment.tokens)
  const candidates = visible.filter(({ output }) => output.segment < recent.fromSegment)
  const isRedundant = ({ copyGroup, index }: WindowOutput): boolean => latest.get(copyGroup) !== index
  return {
    redundant: candidates.filter(isRedundant).map(({ index }) => index),
    aged: candidates.filter((output) => !isRedundant(output)).map(({ index }) => index),
  }
}

/** The request's segments as the engine sizes them: with the host's placeholders, before its own clearing. */
function findSentSegments({ window, request }: RequestView): RequestView["window"]["segments"] {
  const segments = window.segments.slice(0, request.segmentEnd)
  for (const index of request.hostCleared) {
    const { segment = -1, savingsTokens = 0 } = window.outputs[index]?.output ?? {}
    const sized = segments[segment]
    if (sized) segments[segment] = { ...sized, tokens: sized.tokens - savingsTokens }
  }
  return segments
}

function takeUntil({ window }: RequestView, ordered: readonly number[], wantedTokens: number): number[] {
  let freedTokens = 0
  const enough = ordered.findIndex((index) => {
    freedTokens += window.outputs[index]?.output.savingsTokens ?? 0
    return freedTokens >= wantedTokens
  })
  return enough < 0 ? [...ordered] : ordered.slice(0, enough + 1)
}
