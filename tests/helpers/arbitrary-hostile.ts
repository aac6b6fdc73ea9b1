import fc from "fast-check"
import type { Message } from "../../lib/dtc/types.ts"
import { histories } from "./arbitraries.ts"

/** A history that holds one thing which is no plain data, and how often that thing's own code ran. */
export interface Hostile {
  what: string
  messages: Message[]
  runs: () => number
}

type Placer = (container: object, key: string, run: () => never) => void

const assigned =
  (make: (container: object, run: () => never) => unknown): Placer =>
  (container, key, run) => {
    Reflect.set(container, key, make(container, run))
  }

class Special {
  readonly state = { status: "completed" }
}

/** Each puts something odd at a key of a container. None of it may be called, read through, or copied. */
const PLACERS: Readonly<Record<string, Placer>> = {
  "an accessor": (container, key, get) => {
    Reflect.defineProperty(container, key, { get, enumerable: true, configurable: true })
  },
  "a setter": (container, key, set) => {
    Reflect.defineProperty(container, key, { set, enumerable: true, configurable: true })
  },
  "an accessor deep inside": assigned((_container, get) => [
    { x: Object.defineProperty({}, "y", { get, enumerable: true }) },
  ]),
  "a class instance": assigned(() => new Special()),
  "an object with a prototype": assigned((_container, get) =>
    Object.create(Object.defineProperty({}, "type", { get })),
  ),
  "a list of another class": assigned(() => new (class Other extends Array<number> {})(3)),
  "a hole": assigned(() => [1, , 2]), // oxlint-disable-line no-sparse-arrays
  "a date": assigned(() => new Date(0)),
  "a map": assigned(() => new Map([["a", 1]])),
  "an error": assigned(() => new Error("odd")),
  "a typed array": assigned(() => new Uint8Array(4)),
  "a boxed text": assigned(() => Object("text")),
  "a function": assigned((_container, run) => run),
  "a symbol": assigned(() => Symbol("odd")),
  "a bigint": assigned(() => 1n),
  "a cycle": assigned((container) => ({ back: [container] })),
  "its own container": assigned((container) => container),
  // The engine cannot tell a proxy without asking it: a trap may run, and its failure is the answer.
  "a proxy that throws": assigned(() => new Proxy({}, { ownKeys: fails, getPrototypeOf: fails })),
}

function fails(): never {
  throw new Error("trapped")
}

/** An ordinary history with such a thing in any place, however deep. */
export const hostileHistories: fc.Arbitrary<Hostile> = fc
  .tuple(histories, fc.constantFrom(...Object.keys(PLACERS)), fc.array(fc.nat(), { maxLength: 6 }), fc.boolean())
  .map(([drawn, what, path, replace]) => {
    const messages = structuredClone(drawn)
    let calls = 0
    const run = (): never => {
      calls++
      throw new Error("ran")
    }
    const container = findContainer(messages, path)
    PLACERS[what]?.(container, findKey(container, path, replace), run)
    // Printing the messages would run what is in them.
    return { what, messages, runs: () => calls, [fc.toStringMethod]: () => `${what} by ${JSON.stringify(path)}` }
  })

/** Follows the path from an object to one of its objects until either ends. */
function findContainer(root: object, path: readonly number[]): object {
  return path.reduce((container, step) => {
    const inner = Object.values(container).filter(
      (value): value is object => typeof value === "object" && value !== null,
    )
    return inner[step % inner.length] ?? container
  }, root)
}

/** An existing key, or a new one. A list stays dense. */
function findKey(container: object, path: readonly number[], replace: boolean): string {
  const keys = Object.keys(container)
  const existing = replace ? keys[path.length % keys.length] : undefined
  return existing ?? (Array.isArray(container) ? String(container.length) : "odd")
}
