/** Deeper data is refused: a cycle ends here, and later recursion over the copy is safe. */
const MAX_DEPTH = 200

/** More values than any session has: shared references that unfold without end stop here. */
const MAX_VALUES = 10_000_000

/**
 * Copies plain data: the structure is new, strings are shared. Answers `undefined` for anything else: accessors, class
 * instances, functions, symbols, bigints, holes, cycles, proxies that throw. Each property is looked at once, through its
 * descriptor, so that no accessor is called and nothing can answer differently later.
 *
 * What JSON does not have, a symbol as key and a property that is not enumerable, is not copied.
 */
export function copyPlain<T>(value: readonly T[]): T[] | undefined
export function copyPlain(value: unknown): unknown {
  try {
    return Array.isArray(value) ? copyArray(value, 0, { values: MAX_VALUES }) : undefined
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** A field of the value's own, if it is a record and has it. */
export function fieldOf(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== ""
}

/** A name as the host stores it. What is no text is no name: turning it into one may throw, also for plain data. */
export function readName(value: unknown): string {
  return typeof value === "string" ? value : ""
}

const NOT_PLAIN = new TypeError("not plain data")

/** Counts down over one history. */
interface Allowance {
  values: number
}

function copyArray(source: readonly unknown[], depth: number, allowance: Allowance): unknown[] {
  if (depth > MAX_DEPTH || Object.getPrototypeOf(source) !== Array.prototype) throw NOT_PLAIN
  const copy: unknown[] = []
  for (let index = 0; index < source.length; index++) copy.push(copyProperty(source, index, depth, allowance))
  return copy
}

function copyRecord(source: object, depth: number, allowance: Allowance): object {
  const prototype: unknown = Object.getPrototypeOf(source)
  if (depth > MAX_DEPTH || (prototype !== Object.prototype && prototype !== null)) throw NOT_PLAIN
  const copy: Record<string, unknown> = prototype === null ? Object.create(null) : {}
  for (const key of Object.keys(source)) {
    const value = copyProperty(source, key, depth, allowance)
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true })
    else copy[key] = value
  }
  return copy
}

function copyProperty(container: object, key: PropertyKey, depth: number, allowance: Allowance): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(container, key)
  if (descriptor === undefined || descriptor.get !== undefined || descriptor.set !== undefined) throw NOT_PLAIN
  if (--allowance.values < 0) throw NOT_PLAIN
  const value: unknown = descriptor.value
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? copyArray(value, depth + 1, allowance) : copyRecord(value, depth + 1, allowance)
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") throw NOT_PLAIN
  return value
}
