import { type Field, fieldsOf, isRecord } from "./fields.ts"
import { type Path, pathKey } from "./path.ts"
import { defaultTree } from "./schema.ts"
import type { Config } from "./types.ts"

/** A field with the place that set it; no file means the schema's default. */
export interface PlacedField extends Field {
  file?: string
  line?: number
  column?: number
}

/** For each field the last layer that sets it, above the defaults. */
export function mergeFields(layers: readonly (readonly PlacedField[])[]): PlacedField[] {
  const all = [fieldsOf(defaultTree()), ...layers].flat()
  return [...new Map(all.map((field) => [pathKey(field.path), field])).values()]
}

/** Sections that hold nothing unless a layer fills them, and that none has: they have no field, and a value all the same. */
export function findEmptySections(fields: readonly Field[]): Field[] {
  const filled = new Set(fields.map(({ path }) => path[0]))
  return Object.entries(defaultTree()).flatMap(([key, value]) => (filled.has(key) ? [] : [{ path: [key], value }]))
}

/** The configuration that the fields make up, deeply frozen. */
export function configOf(fields: readonly Field[]): Config {
  const tree = defaultTree()
  for (const { path, value } of fields) setField(tree, path, value)
  // The schema vouches for the type: its defaults are all there, and every field has passed it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return deepFreeze(tree) as unknown as Config
}

function setField(tree: Record<string, unknown>, [key = "", ...rest]: Path, value: unknown): void {
  if (rest.length === 0) {
    tree[key] = value
    return
  }
  const existing = tree[key]
  const branch = isRecord(existing) ? existing : {}
  tree[key] = branch
  setField(branch, rest, value)
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const child of Object.values(value)) if (typeof child === "object" && child !== null) deepFreeze(child)
  return Object.freeze(value)
}
