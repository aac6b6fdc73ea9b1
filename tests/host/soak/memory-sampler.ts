import type { ModelRequest } from "../model-request.ts"
import type { MemorySample } from "./record-types.ts"
import type { StageContext } from "./stage-context.ts"

/** One sample for each model call of a conversation, of the host that makes it, at the moment it arrives. */
export class MemorySampler {
  #stage: StageContext | undefined
  #samples: MemorySample[] = []

  attach(stage: StageContext): void {
    this.#stage = stage
  }

  see({ lane, sessionID }: ModelRequest): void {
    const host = this.#stage?.servedBy.get(sessionID)
    if (lane !== "main" || host === undefined) return
    const { residentBytes, peakResidentBytes } = host
    if (residentBytes !== undefined && peakResidentBytes !== undefined)
      this.#samples.push({ residentBytes, peakResidentBytes })
  }

  /** What is new since the last time. */
  take(): MemorySample[] {
    const samples = this.#samples
    this.#samples = []
    return samples
  }
}
