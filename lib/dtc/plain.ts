/** Deeper data is refused: a cycle ends here, and later recursion over the data is safe. */
const MAX_DEPTH = 200

/** More values than any session has: shared references that unfold without end stop here. */
const MAX_VALUES = 10_000_000

/**
 * Whether a list holds nothing but plain data: no accessors, class instances, functions, symbols, bigints, holes, cycles,
 * proxies that throw. No accessor is called. What JSON does not have, a symbol as key and a property that is not enumerable,
 * is not looked at.
 */
export function isPlain(list: unknown): boolean {
  try {
    return Array.isArray(list) && isPlainArray(list, 0, { values: MAX_VALUES })
  } catch {
    return false
  }
}

/** Copies a list of plain data: the structure is new, strings are shared. Answers `undefined` for anything else. */
export function copyPlain<T>(list: readonly T[]): T[] | undefined
export function copyPlain(list: unknown): unknown {
  if (!isPlain(list)) return undefined
  try {
    return copyValue(list)
  } catch {
    // A proxy that answers differently the second time.
    return undefined
  }
}

/** A copy of a plain record with one field set; whatever else it holds is shared. */
export function withField<T>(record: T, field: string, value: unknown): T {
  const copy = { ...record, [field]: value }
  return Object.getPrototypeOf(record) === null ? Object.setPrototypeOf(copy, null) : copy
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

/** Counts down over one list. */
interface Allowance {
  values: number
}

function isPlainArray(list: readonly unknown[], depth: number, allowance: Allowance): boolean {
  allowance.values -= list.length
  if (allowance.values < 0 || Object.getPrototypeOf(list) !== Array.prototype) return false
  for (let index = 0; index < list.length; index++) {
    if (findGetter.call(list, index) !== undefined) return false
    const item = list[index]
    if (typeof item === "object" ? !isPlainObject(item, depth + 1, allowance) : !isPlainLeaf(item, list, index))
      return false
  }
  return true
}

/** What `for…in` finds beyond the record's own fields is no part of the data. */
function isPlainRecord(record: Record<string, unknown>, depth: number, allowance: Allowance): boolean {
  const prototype: unknown = Object.getPrototypeOf(record)
  if (prototype !== Object.prototype && prototype !== null) return false
  let fields = 0
  for (const key in record) {
    fields++
    if (findGetter.call(record, key) !== undefined) return false
    const value = record[key]
    if (typeof value === "object" ? !isPlainObject(value, depth + 1, allowance) : !isPlainLeaf(value, record, key))
      return false
  }
  allowance.values -= fields
  return allowance.values >= 0
}

function isPlainObject(value: unknown, depth: number, allowance: Allowance): boolean {
  if (depth > MAX_DEPTH) return false
  if (Array.isArray(value)) return isPlainArray(value, depth, allowance)
  return isRecord(value) ? isPlainRecord(value, depth, allowance) : value === null
}

/** Where `undefined` is read, a hole or a setter alone may be. */
function isPlainLeaf(value: unknown, container: object, key: PropertyKey): boolean {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return true
  if (value === undefined) return "value" in (Object.getOwnPropertyDescriptor(container, key) ?? {})
  return !Object.hasOwn(container, key)
}

/** Of all ways to ask for accessors without calling one, the quickest on Bun, which the host runs on, and no slower on Node. */
const findGetter: (this: unknown, key: PropertyKey) => unknown = Reflect.get(Object.prototype, "__lookupGetter__")

function copyValue(value: unknown): unknown {
  if (Array.isArray(value)) return copyArray(value)
  return isRecord(value) ? copyRecord(value) : value
}

function copyArray(source: readonly unknown[]): unknown[] {
  const copy: unknown[] = []
  for (let index = 0; index < source.length; index++) copy.push(copyValue(source[index]))
  return copy
}

function copyRecord(source: Record<string, unknown>): object {
  const copy: Record<string, unknown> = Object.getPrototypeOf(source) === null ? Object.create(null) : {}
  for (const key of Object.keys(source)) {
    const value = copyValue(source[key])
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true })
    else copy[key] = value
  }
  return copy
}
