import { readBudget } from "../catalog.ts"
import { isRecord } from "../dtc/plain.ts"
import type { CatalogDraft, SetupContext } from "./types.ts"

const DEADLINE_MS = 2_000

interface ContextCatalogOptions {
  context: SetupContext
  outputTokenMax: number
}

/**
 * Input budgets out of the host's catalog. The host shows its catalog to a callback whenever it makes it anew; the first
 * request registers that callback. A host without a catalog, or one that does not answer, knows no budget.
 */
export class ContextCatalog {
  private readonly options: ContextCatalogOptions
  private budgets: ReadonlyMap<string, ReadonlyMap<string, number>> | undefined
  private registration: Promise<"refused" | undefined> | undefined

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

  /** Asks the host to show its catalog and waits for it, two seconds at most and once; a refusal is asked again. */
  async ask(): Promise<void> {
    this.registration ??= withDeadline(this.register())
    if ((await this.registration) === "refused") this.registration = undefined
  }

  /**
   * A host that has finished loading its plugins shows a catalog only when it makes it anew (1.18.33, whose loader of this
   * form offers a catalog already).
   */
  private async register(): Promise<"refused" | undefined> {
    try {
      const { catalog } = this.options.context
      await catalog?.transform((draft) => this.read(draft))
      if (!this.known) await catalog?.reload?.()
      return undefined
    } catch {
      return "refused"
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

async function withDeadline<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), DEADLINE_MS)
  })
  const answer = await Promise.race([deadline, work])
  clearTimeout(timer)
  return answer
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
