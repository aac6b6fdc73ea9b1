import type { BudgetSource, Placeholder, RequestKey, RequestRecord } from "./dispatches.ts"
import { describeProjection } from "./dtc/engine.ts"
import type { ClearedOutput, Message, Model, ProjectionFindings, SourceMap } from "./dtc/types.ts"
import { findLatestUser } from "./dtc/wire.ts"
import type { SkipReason } from "./request.ts"

/** What became of one request in the transform. */
export interface RequestOutcome {
  sessionID: string
  /** As the catalog describes it, where it does. */
  model?: Model
  /** Absent when the request was projected. */
  reason?: SkipReason
  forced?: boolean
  budgetFrom?: BudgetSource
  projection?: ProjectionFindings
}

/** Keeps of a request's outcome what can be told about it later. A request that was left alone has a source map too. */
export function describeRecord(messages: readonly Message[], outcome: RequestOutcome): RequestRecord {
  const { sessionID, model, reason, forced, budgetFrom, projection } = outcome
  const map = projection ? readMap(projection) : describeProjection(messages, { model })
  const cleared = projection?.cleared ?? []
  return {
    key: describeKey(sessionID, messages, model),
    ...(reason && { skipped: reason }),
    ...(forced !== undefined && { forced }),
    ...(budgetFrom && { budgetFrom }),
    ...(projection && { stats: projection.stats, kept: projection.kept }),
    cleared,
    placeholders: map ? listPlaceholders(map, cleared) : cleared.map(describeCleared),
    ...(map && { map }),
  }
}

function readMap({ sources, historyMessageCount }: ProjectionFindings): SourceMap | undefined {
  return sources && historyMessageCount !== undefined ? { historyMessageCount, sources } : undefined
}

function describeKey(sessionID: string, messages: readonly Message[], model: Model | undefined): RequestKey {
  const prompt = findLatestUser(messages)?.info
  const agent = prompt?.["agent"]
  return {
    sessionID,
    promptID: prompt?.id,
    agent: typeof agent === "string" ? agent : undefined,
    providerID: model?.providerID,
    modelID: model?.modelID,
  }
}

function listPlaceholders({ sources }: SourceMap, cleared: readonly ClearedOutput[]): Placeholder[] {
  const ours = new Map(cleared.map((output) => [`${output.messageIndex} ${output.partID}`, output]))
  return sources.flatMap(({ messageIndex, messageID, cleared: outputs = [] }) =>
    outputs.map((output) => {
      const own = ours.get(`${messageIndex} ${output.partID}`)
      return own ? describeCleared(own) : { ...output, messageID, reason: "host" }
    }),
  )
}

function describeCleared(output: ClearedOutput): Placeholder {
  const { callID, partID, messageID, tool, reason, witnessCallID, savedTokens } = output
  return { callID, partID, messageID, tool, reason, ...(witnessCallID && { witnessCallID }), savedTokens }
}
