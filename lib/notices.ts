import type { ClearedOutput, ClearReason, ProjectionFindings } from "./dtc/types.ts"

/** Sessions that are remembered; the oldest is forgotten first, and may then be told something twice. */
const CAPACITY = 256

/** What one request was the first to be sent without. Metadata only. */
export interface Batch {
  outputs: number
  tokens: number
  /** In the order of `CAUSES`. */
  reasons: Partial<Record<ClearReason, number>>
}

/**
 * Finds the batches that are worth a word: outputs which the present request itself chose. Carried ones were announced
 * when they were chosen, if need be by an earlier run of the host. A request that is made again, or that selects anew and
 * finds the same, is no batch.
 */
export class Notices {
  private readonly sentWithout = new Map<string, ReadonlySet<string>>()

  findBatch(sessionID: string, { cleared, requestIndex: present }: ProjectionFindings): Batch | undefined {
    const before = this.sentWithout.get(sessionID)
    this.remember(sessionID, cleared)
    const fresh = cleared.filter(({ requestIndex, partID }) => requestIndex === present && !before?.has(partID))
    return fresh.length > 0 ? describeBatch(fresh) : undefined
  }

  forget(sessionID: string): void {
    this.sentWithout.delete(sessionID)
  }

  forgetAll(): void {
    this.sentWithout.clear()
  }

  private remember(sessionID: string, cleared: readonly ClearedOutput[]): void {
    this.sentWithout.delete(sessionID)
    this.sentWithout.set(sessionID, new Set(cleared.map(({ partID }) => partID)))
    const [oldest] = this.sentWithout.keys()
    if (oldest !== undefined && this.sentWithout.size > CAPACITY) this.sentWithout.delete(oldest)
  }
}

const CAUSES: Readonly<Record<ClearReason, string>> = {
  redundant: "with a later identical copy",
  aged: "oldest first, over target",
  forced: "asked for with dcp_prune",
}

/** `cleared 12 outputs, about 34,000 tokens (3 with a later identical copy, 9 oldest first, over target)` */
export function explainBatch({ outputs, tokens, reasons }: Batch): string {
  const causes = reasonsOf(reasons).map((reason) => `${reasons[reason]} ${CAUSES[reason]}`)
  const noun = outputs === 1 ? "output" : "outputs"
  return `cleared ${outputs} ${noun}, about ${tokens.toLocaleString("en-US")} tokens (${causes.join("; ")})`
}

function describeBatch(cleared: readonly ClearedOutput[]): Batch {
  const counts: [ClearReason, number][] = reasonsOf(CAUSES).map((reason) => [
    reason,
    cleared.filter((output) => output.reason === reason).length,
  ])
  return {
    outputs: cleared.length,
    tokens: cleared.reduce((sum, { savedTokens }) => sum + savedTokens, 0),
    reasons: Object.fromEntries(counts.filter(([, count]) => count > 0)),
  }
}

function reasonsOf(table: Partial<Record<ClearReason, unknown>>): ClearReason[] {
  const order: readonly ClearReason[] = ["redundant", "aged", "forced"]
  return order.filter((reason) => reason in table)
}
