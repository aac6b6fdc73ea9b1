import { isRecord } from "./plain.ts"
import type { ToolOutput } from "./types.ts"

/** Tools that only look: the same call with the same output carries nothing that its later copy does not. */
const LOOKING_TOOLS: ReadonlySet<string> = new Set(["read", "grep", "glob"])

/**
 * The visible copies of each look, in a growing history. Identical: same tool, same complete input whatever its key order,
 * same exact text. Nested maps keyed by the strings themselves: exact, no joined keys, no hash that could collide.
 */
export class Copies {
  private readonly byTool = new Map<string, Map<string, Map<string | undefined, ToolOutput[]>>>()
  private readonly groups = new Map<ToolOutput, ToolOutput[]>()
  private readonly hidden = new Set<ToolOutput>()
  /** Looks that no question has been asked about yet: most histories never come to need their groups. */
  private ungrouped: ToolOutput[] = []

  /** Expects outputs that may serve as witnesses, in the order of the history. */
  add(output: ToolOutput): void {
    if (LOOKING_TOOLS.has(output.tool)) this.ungrouped.push(output)
  }

  hide(output: ToolOutput): void {
    this.hidden.add(output)
  }

  /** The latest visible copy of a visible output, if that is a later one. */
  findWitness(output: ToolOutput): ToolOutput | undefined {
    for (const look of this.ungrouped) this.group(look)
    this.ungrouped = []
    const group = this.groups.get(output) ?? []
    for (let latest = group.at(-1); latest && this.hidden.has(latest); latest = group.at(-1)) group.pop()
    const latest = group.at(-1)
    return latest === output ? undefined : latest
  }

  private group(output: ToolOutput): void {
    const byInput = getOrAdd(this.byTool, output.tool, () => new Map<string, Map<string | undefined, ToolOutput[]>>())
    const byText = getOrAdd(byInput, canonicalJson(output.input), () => new Map<string | undefined, ToolOutput[]>())
    const group = getOrAdd(byText, output.text, (): ToolOutput[] => [])
    group.push(output)
    this.groups.set(output, group)
  }
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
  return JSON.stringify(value, (_key, field: unknown) => (isRecord(field) ? sortKeys(field) : field))
}

function sortKeys(record: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(record).toSorted()
  return Object.fromEntries(keys.map((key) => [key, record[key]]))
}
