/** Deeper data is refused: a cycle ends here, and later recursion over the copy is safe. */
const MAX_DEPTH = 200

/** More values than any session has: shared references that unfold without end stop here. */
const MAX_VALUES = 10_000_000

/**
 * Copies plain data: the structure is new, strings are shared. Answers `undefined` for anything else: accessors, class
 * instances, functions, symbols, bigints, holes, cycles, proxies that throw. No accessor is called.
 *
 * Two walks, since checking while copying takes half as long again.
 */
export function copyPlain<T>(value: readonly T[]): T[] | undefined
export function copyPlain(value: unknown): unknown {
  try {
    if (!Array.isArray(value)) return undefined
    assertPlain(value, 0, { values: MAX_VALUES })
    return copyArray(value)
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

const NOT_PLAIN = new TypeError("not plain data")

/** Counts down over one history. */
interface Allowance {
  values: number
}

function assertPlain(container: object, depth: number, allowance: Allowance): void {
  if (depth > MAX_DEPTH) throw NOT_PLAIN
  const prototype: unknown = Object.getPrototypeOf(container)
  if (Array.isArray(container)) {
    if (prototype !== Array.prototype) throw NOT_PLAIN
    for (let index = 0; index < container.length; index++) assertProperty(container, index, depth, allowance)
    return
  }
  if (prototype !== Object.prototype && prototype !== null) throw NOT_PLAIN
  for (const key in container) assertProperty(container, key, depth, allowance)
}

function assertProperty(container: object, key: PropertyKey, depth: number, allowance: Allowance): void {
  const descriptor = Object.getOwnPropertyDescriptor(container, key)
  if (descriptor === undefined || descriptor.get !== undefined || descriptor.set !== undefined) throw NOT_PLAIN
  if (--allowance.values < 0) throw NOT_PLAIN
  const value: unknown = descriptor.value
  if (typeof value === "object" && value !== null) assertPlain(value, depth + 1, allowance)
  else if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") throw NOT_PLAIN
}

function copyArray(source: readonly unknown[]): unknown[] {
  const copy = source.slice()
  for (let index = 0; index < copy.length; index++) {
    const value = copy[index]
    if (typeof value === "object" && value !== null) copy[index] = copyContainer(value)
  }
  return copy
}

function copyContainer(source: object): object {
  if (Array.isArray(source)) return copyArray(source)
  const copy: Record<string, unknown> = { ...source }
  if (Object.getPrototypeOf(source) === null) Object.setPrototypeOf(copy, null)
  for (const key in copy) {
    const value = copy[key]
    if (typeof value === "object" && value !== null) copy[key] = copyContainer(value)
  }
  return copy
}
