import type { ToolOutput } from "./types.ts"

/** Tools that only look: the same call with the same output carries nothing that its later copy does not. */
const LOOKING_TOOLS: ReadonlySet<string> = new Set(["read", "grep", "glob"])

/**
 * For each output that a later identical one stands in for, the latest such one. Identical: same tool, same complete input
 * whatever its key order, same exact text. Expects eligible outputs, oldest first; linear in their number.
 *
 * Nested maps keyed by the strings themselves: exact, no joined keys, no hash that could collide.
 */
export function findWitnesses(eligible: readonly ToolOutput[]): ReadonlyMap<ToolOutput, ToolOutput> {
  const witnesses = new Map<ToolOutput, ToolOutput>()
  const byTool = new Map<string, Map<string, Map<string | undefined, ToolOutput>>>()
  for (const output of eligible.toReversed()) {
    if (!LOOKING_TOOLS.has(output.tool)) continue
    const byInput = getOrAdd(byTool, output.tool, () => new Map<string, Map<string | undefined, ToolOutput>>())
    const byText = getOrAdd(byInput, canonicalJson(output.input), () => new Map<string | undefined, ToolOutput>())
    const latest = getOrAdd(byText, output.text, () => output)
    if (latest !== output) witnesses.set(output, latest)
  }
  return witnesses
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const created = create()
  map.set(key, created)
  return created
}

/** JSON with sorted keys: equal for equal inputs. Plain data only. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === "object" && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  )
}
