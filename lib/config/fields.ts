import { type Path, pathKey } from "./path.ts"

/** The smallest thing that a layer sets, as a whole: `dtc.targetRatio`, `models[…].limit`, a list. */
export interface Field {
  path: Path
  value: unknown
}

/** The path of the field that a deeper path belongs to; the path itself when it is none deeper. */
export function fieldPath(path: Path): Path {
  return path.slice(0, fieldDepth(path))
}

/** Splits a configuration, or a layer's share of one, into its fields. */
export function fieldsOf(tree: object, path: Path = []): Field[] {
  return Object.entries(tree).flatMap(([key, value]: [string, unknown]) => {
    const valuePath = [...path, key]
    const isField = !isRecord(value) || valuePath.length >= fieldDepth(valuePath)
    return isField ? [{ path: valuePath, value }] : fieldsOf(value, valuePath)
  })
}

/** A copy in ordinary objects, without what stands at the rejected paths. What is rejected is not followed, however deep. */
export function withoutPaths(tree: object, rejected: ReadonlySet<string>, path: Path = []): Record<string, unknown> {
  const kept = Object.entries(tree).filter(([key]) => !rejected.has(pathKey([...path, key])))
  // `fromEntries` defines properties, so even `__proto__` is a key like any other.
  return Object.fromEntries(
    kept.map(([key, value]: [string, unknown]) => [
      key,
      isRecord(value) ? withoutPaths(value, rejected, [...path, key]) : value,
    ]),
  )
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function fieldDepth(path: Path): number {
  return path[0] === "models" ? 3 : 2
}
