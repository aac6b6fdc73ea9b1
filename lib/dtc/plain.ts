/** Deeper data is refused: a cycle ends here, and later recursion over the copy is safe. */
const MAX_DEPTH = 200

/** More values than any session has: shared references that unfold without end stop here. */
const MAX_VALUES = 10_000_000

/**
 * Copies plain data: the structure is new, strings are shared. Answers `undefined` for anything else: accessors, class
 * instances, functions, symbols, bigints, holes, cycles, proxies that throw. No accessor is called.
 */
export function copyPlain<T>(value: readonly T[]): T[] | undefined
export function copyPlain(value: unknown): unknown {
  try {
    new PlainCheck().assert(value, 0)
    return copyStructure(value)
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Two walks, not one: checking while copying takes half as long again. */
class PlainCheck {
  private values = 0

  assert(value: unknown, depth: number): void {
    if (++this.values > MAX_VALUES) throw NOT_PLAIN
    if (typeof value === "object" && value !== null) this.assertContainer(value, depth)
    else if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") throw NOT_PLAIN
  }

  private assertContainer(container: object, depth: number): void {
    if (depth > MAX_DEPTH) throw NOT_PLAIN
    const prototype: unknown = Object.getPrototypeOf(container)
    if (Array.isArray(container)) {
      if (prototype !== Array.prototype) throw NOT_PLAIN
      for (let index = 0; index < container.length; index++) this.assert(ownValue(container, index), depth + 1)
      return
    }
    if (prototype !== Object.prototype && prototype !== null) throw NOT_PLAIN
    for (const key in container) this.assert(ownValue(container, key), depth + 1)
  }
}

const NOT_PLAIN = new TypeError("not plain data")

function ownValue(container: object, key: PropertyKey): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(container, key)
  if (descriptor === undefined || descriptor.get !== undefined || descriptor.set !== undefined) throw NOT_PLAIN
  return descriptor.value
}

function copyStructure(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copyStructure)
  const copy: Record<string, unknown> = { ...value }
  if (Object.getPrototypeOf(value) === null) Object.setPrototypeOf(copy, null)
  for (const key in copy) {
    const field = copy[key]
    if (typeof field === "object" && field !== null) copy[key] = copyStructure(field)
  }
  return copy
}
