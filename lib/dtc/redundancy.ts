import { isRecord } from "./plain.ts"
import type { ToolOutput } from "./types.ts"

/** Tools that only look: the same call with the same output carries nothing that its later copy does not. */
const LOOKING_TOOLS: ReadonlySet<string> = new Set(["read", "grep", "glob"])

/** What identical looks have in common, cheapest first: a look is told from others by no more of them than it takes. */
const KEYS: readonly ((output: ToolOutput) => unknown)[] = [
  ({ tool }) => tool,
  ({ text = "" }) => text.length,
  ({ text = "" }) => sampleText(text),
  ({ text }) => text,
  ({ input }) => canonicalJson(input),
]

const SAMPLED_CHARACTERS = 12

/** Looks that have the first so many keys in common: one, many by their next key, or, where all keys are, oldest first. */
interface Branch {
  sole?: ToolOutput | undefined
  byNextKey?: Map<unknown, Branch>
  copies?: ToolOutput[]
}

/**
 * The visible copies of each look, in a growing history. Identical: same tool, same complete input whatever its key order,
 * same exact text. Nested maps keyed by the strings themselves: exact, no joined keys, no hash that could collide.
 */
export class Copies {
  private readonly root: Branch = {}
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
    for (const look of this.ungrouped) this.place(look, this.root, 0)
    this.ungrouped = []
    const group = this.groups.get(output) ?? []
    for (let latest = group.at(-1); latest && this.hidden.has(latest); latest = group.at(-1)) group.pop()
    const latest = group.at(-1)
    return latest === output ? undefined : latest
  }

  private place(look: ToolOutput, branch: Branch, depth: number): void {
    const keyOf = KEYS[depth]
    if (!keyOf) this.join(look, (branch.copies ??= []))
    else if (branch.byNextKey)
      this.place(
        look,
        getOrAdd(branch.byNextKey, keyOf(look), () => ({})),
        depth + 1,
      )
    else if (branch.sole) this.split(look, branch, branch.sole, depth)
    else branch.sole = look
  }

  private split(look: ToolOutput, branch: Branch, sole: ToolOutput, depth: number): void {
    branch.byNextKey = new Map()
    branch.sole = undefined
    this.place(sole, branch, depth)
    this.place(look, branch, depth)
  }

  private join(look: ToolOutput, copies: ToolOutput[]): void {
    copies.push(look)
    this.groups.set(look, copies)
  }
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const created = create()
  map.set(key, created)
  return created
}

/** Some passages: few texts that differ agree in them, and a map has to read every character of a key. */
function sampleText(text: string): string {
  const [third, end] = [Math.floor(text.length / 3), text.length - SAMPLED_CHARACTERS]
  return [third, 2 * third, end].map((start) => text.slice(start, start + SAMPLED_CHARACTERS)).join("")
}

/** JSON with sorted keys: equal for equal inputs. Plain data only. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) => (isRecord(field) ? sortKeys(field) : field))
}

function sortKeys(record: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(record).toSorted()
  return Object.fromEntries(keys.map((key) => [key, record[key]]))
}
