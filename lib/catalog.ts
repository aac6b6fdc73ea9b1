import type { Limit } from "./config/types.ts"
import { withinDeadline } from "./deadline.ts"
import { fieldOf, isRecord } from "./dtc/plain.ts"
import type { Modality, Model } from "./dtc/types.ts"
import type { HostClient } from "./host.ts"
import { findInputBudget } from "./request.ts"

/** A model as the host's catalog describes it. */
export interface CatalogEntry {
  model: Model
  /** Tokens; absent when the catalog states no usable limits. */
  inputBudget?: number
}

interface CatalogOptions {
  client: HostClient
  outputTokenMax: number
  /** Milliseconds of any steady clock. */
  clock: () => number
}

const DEADLINE_MS = 2_000
const FRESH_MS = 5_000

/**
 * The host's catalog of providers, asked for one exact model at a time. Only an entry with usable limits is remembered,
 * five seconds at most, so that a fresh answer needs no await; a failure is asked again.
 */
export class Catalog {
  private readonly fresh = new Map<string, { entry: CatalogEntry; until: number }>()
  private readonly options: CatalogOptions

  constructor(options: CatalogOptions) {
    this.options = options
  }

  /** A remembered entry, without asking. */
  recall(model: Model): CatalogEntry | undefined {
    const known = this.fresh.get(keyOf(model))
    return known && this.options.clock() < known.until ? known.entry : undefined
  }

  /** Asks the host, two seconds at most. `undefined`: no answer in time, or no unambiguous entry for the model. */
  async ask(model: Model): Promise<CatalogEntry | undefined> {
    try {
      const { client, outputTokenMax } = this.options
      const answer = await withinDeadline(DEADLINE_MS, (signal) => client.config.providers({ signal }))
      const entry = findEntry(answer, model, outputTokenMax)
      if (entry?.inputBudget !== undefined) this.remember(model, entry)
      return entry
    } catch {
      return undefined
    }
  }

  private remember(model: Model, entry: CatalogEntry): void {
    const now = this.options.clock()
    for (const [key, { until }] of this.fresh) if (until <= now) this.fresh.delete(key)
    this.fresh.set(keyOf(model), { entry, until: now + FRESH_MS })
  }
}

/** Exactly one provider of that id, and under the model's key an entry that says it is that model of that provider. */
function findEntry(answer: unknown, { providerID, modelID }: Model, outputTokenMax: number): CatalogEntry | undefined {
  const providers = fieldOf(fieldOf(answer, "data"), "providers")
  if (!Array.isArray(providers)) return undefined
  const [provider, ...others] = providers.filter((candidate) => fieldOf(candidate, "id") === providerID)
  const entry = fieldOf(fieldOf(provider, "models"), modelID)
  if (others.length > 0 || fieldOf(entry, "id") !== modelID || fieldOf(entry, "providerID") !== providerID)
    return undefined
  const inputBudget = readBudget(fieldOf(entry, "limit"), outputTokenMax)
  const model = describeModel({ providerID, modelID }, entry)
  return inputBudget === undefined ? { model } : { model, inputBudget }
}

export function readBudget(limit: unknown, outputTokenMax: number): number | undefined {
  return isLimits(limit) ? findInputBudget(limit, outputTokenMax) : undefined
}

function describeModel(model: Model, entry: unknown): Model {
  const api = fieldOf(entry, "api")
  const npm = fieldOf(api, "npm")
  const apiID = fieldOf(api, "id")
  const input = fieldOf(fieldOf(entry, "capabilities"), "input")
  return {
    ...model,
    ...(typeof npm === "string" && { npm }),
    ...(typeof apiID === "string" && { apiID }),
    ...(isRecord(input) && { capabilities: { input: readModalities(input) } }),
  }
}

function readModalities(input: Record<string, unknown>): Partial<Record<Modality, boolean>> {
  const { image, audio, video, pdf } = input
  return { image: Boolean(image), audio: Boolean(audio), video: Boolean(video), pdf: Boolean(pdf) }
}

function isLimits(limit: unknown): limit is Limit {
  return (
    isRecord(limit) &&
    typeof limit["context"] === "number" &&
    typeof limit["output"] === "number" &&
    (limit["input"] === undefined || typeof limit["input"] === "number")
  )
}

function keyOf({ providerID, modelID }: Model): string {
  return JSON.stringify([providerID, modelID])
}
