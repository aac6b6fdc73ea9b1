import type { Policy } from "../dtc/types.ts"
import type { Config, Limit, ModelEntry } from "./types.ts"

/**
 * What counts for one model: `dtc`, then the entries that name the model, from the widest to the most exact, field by
 * field. A `limit` is taken as a whole from the most exact entry that has one.
 */
export function policyFor(
  config: Config,
  model: { providerID: string; modelID: string },
): { policy: Policy; limit?: Limit } {
  const { enabled: _switch, ...general } = config.dtc
  const entries = entryKeys(model).map((key) => config.models[key])
  const merged: Policy & ModelEntry = Object.assign({}, general, ...entries)
  const { limit, ...policy } = merged
  return limit === undefined ? { policy } : { policy, limit }
}

/** Widest first. Keys split at the first slash, so no key but the widest can name a provider whose id contains one. */
function entryKeys({ providerID, modelID }: { providerID: string; modelID: string }): string[] {
  return providerID.includes("/") ? ["*/*"] : ["*/*", `${providerID}/*`, `${providerID}/${modelID}`]
}
