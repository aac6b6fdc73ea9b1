import { readFileSync } from "node:fs"
import type { Policy } from "../../lib/dtc/types.ts"

type SchemaField = { default?: unknown }
type ConfigurationSchema = { properties: { dtc: { properties: Record<string, SchemaField> } } }

/** Policy fields that the rule of selecting afresh does not have. */
const STABLE_PREFIX_FIELDS = ["stablePrefix", "clearAtLeastRatio", "cacheTtlMs"]
/** Policy fields that change sizes: policies are compared by the base estimate. */
const ESTIMATE_FIELDS = ["estimateMedia", "calibrate"]

export interface EngineSettings {
  /** The schema's defaults without the stable prefix: the rule that selects afresh for every request. */
  base: Policy
  /** The schema's defaults for the stable prefix; empty while the engine has none. */
  stablePrefix: Partial<Policy>
}

export function readEngineSettings(): EngineSettings {
  const file = new URL("../../dcp.schema.json", import.meta.url)
  const { properties } = (JSON.parse(readFileSync(file, "utf8")) as ConfigurationSchema).properties.dtc
  const defaults = Object.entries(properties).filter(
    ([field]) => field !== "enabled" && !ESTIMATE_FIELDS.includes(field) && "default" in properties[field]!,
  )
  const pick = (extension: boolean): object =>
    Object.fromEntries(
      defaults
        .filter(([field]) => STABLE_PREFIX_FIELDS.includes(field) === extension)
        .map(([field, { default: value }]) => [field, value]),
    )
  return { base: pick(false) as Policy, stablePrefix: pick(true) }
}
