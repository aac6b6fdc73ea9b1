import { readBudget } from "../catalog.ts"
import { isRecord } from "../dtc/plain.ts"
import type { CatalogDraft, SetupContext } from "./types.ts"

const DEADLINE_MS = 2_000

interface ContextCatalogOptions {
  context: SetupContext
  outputTokenMax: number
}

/**
 * Input budgets out of the host's catalog. The host shows its catalog to a callback, once on registration and again after
 * each change; the first request registers it. A host without a catalog, or one that does not answer, knows no budget.
 */
export class ContextCatalog {
  private readonly options: ContextCatalogOptions
  private budgets: ReadonlyMap<string, ReadonlyMap<string, number>> | undefined
  private registration: Promise<void> | undefined

  constructor(options: ContextCatalogOptions) {
    this.options = options
  }

  /** True once the host has shown its catalog. */
  get known(): boolean {
    return this.budgets !== undefined
  }

  /** Tokens; `undefined` when the catalog has no usable limits for exactly that model. */
  recall(providerID: string, modelID: string): number | undefined {
    return this.budgets?.get(providerID)?.get(modelID)
  }

  /** Asks the host to show its catalog and waits for it, two seconds at most and once. It never rejects. */
  async ask(): Promise<void> {
    this.registration ??= withDeadline(this.register())
    await this.registration
  }

  /** A refusal is asked again by the next request. */
  private async register(): Promise<void> {
    try {
      await this.options.context.catalog?.transform((draft) => this.read(draft))
    } catch {
      this.registration = undefined
    }
  }

  /** Only reads the draft. What it cannot read leaves the budgets as they were. */
  private read(draft: CatalogDraft): void {
    try {
      this.budgets = readBudgets(draft, this.options.outputTokenMax)
    } catch {
      // A catalog in another shape is none.
    }
  }
}

async function withDeadline(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<void>((resolve) => (timer = setTimeout(resolve, DEADLINE_MS)))
  await Promise.race([deadline, work])
  clearTimeout(timer)
}

/** By provider and model. A provider that is listed twice is ambiguous and has none. */
function readBudgets(draft: CatalogDraft, outputTokenMax: number): Map<string, Map<string, number>> {
  const providers = [...draft.provider.list()]
  const ids = providers.map(({ provider }) => provider.id)
  const unambiguous = providers.filter(({ provider }) => ids.indexOf(provider.id) === ids.lastIndexOf(provider.id))
  return new Map(
    unambiguous.map(({ provider, models }) => [
      provider.id,
      new Map([...models].flatMap(([id, entry]) => readEntry(provider.id, id, entry, outputTokenMax))),
    ]),
  )
}

/** Under the model's key, an entry that says it is that model of that provider. */
function readEntry(providerID: string, id: string, entry: unknown, outputTokenMax: number): [string, number][] {
  if (!isRecord(entry) || entry["id"] !== id || entry["providerID"] !== providerID) return []
  const budget = readBudget(entry["limit"], outputTokenMax)
  return budget === undefined ? [] : [[id, budget]]
}
