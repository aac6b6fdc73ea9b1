/** Draws numbers in [0, 1) that the seed alone determines. */
export type Draw = () => number

/** Marsaglia's xorshift with 32 bits of state. */
export function createDraw(seed: number): Draw {
  let state = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
}

type Mutation = (container: object, key: string, draw: Draw) => void

/** What stands in place of a value of another type. Plain data, since a stored session is. */
const RETYPED: readonly (() => unknown)[] = [
  () => null,
  () => undefined,
  () => "",
  () => "completed",
  () => 0,
  () => -1,
  () => 2 ** 53,
  () => Number.NaN,
  () => true,
  () => false,
  () => [],
  () => ({}),
  () => [[], null, { type: "tool" }],
  () => ({ toString: 1, valueOf: 1 }),
]

const MUTATIONS: readonly Mutation[] = [drop, retype, duplicate, reorder]

/** Changes the session in `count` places, each drawn from all of it. */
export function mutateSession(session: unknown[], count: number, draw: Draw): void {
  for (let done = 0; done < count; done++) {
    const place = findPlace(session, draw)
    if (place) pick(MUTATIONS, draw)(place.container, place.key, draw)
  }
}

interface Place {
  container: object
  key: string
}

/** Walks from the session into one message and on, so that small fields are found as often as those of large ones. */
function findPlace(session: unknown[], draw: Draw): Place | undefined {
  let container: object = session
  for (let depth = 0; ; depth++) {
    const keys = Object.keys(container)
    if (keys.length === 0) return undefined
    const key = pick(keys, draw)
    const value: unknown = Reflect.get(container, key)
    const isInner = typeof value === "object" && value !== null && Object.keys(value).length > 0
    if (!isInner || draw() < (depth < FRAME_DEPTH ? FRAME_SHARE : INNER_SHARE)) return { container, key }
    container = value
  }
}

/** Messages, their `info` and `parts`: a session that lacks one of these is refused at once, so they are seldom chosen. */
const FRAME_DEPTH = 3
const FRAME_SHARE = 0.04
const INNER_SHARE = 0.25

function drop(container: object, key: string): void {
  if (Array.isArray(container)) container.splice(Number(key), 1)
  else Reflect.deleteProperty(container, key)
}

function retype(container: object, key: string, draw: Draw): void {
  Reflect.set(container, key, pick(RETYPED, draw)())
}

/** A list gets the item once more, an object the value under another of its keys. */
function duplicate(container: object, key: string, draw: Draw): void {
  const copy = structuredClone(Reflect.get(container, key))
  if (Array.isArray(container)) container.splice(Math.floor(draw() * (container.length + 1)), 0, copy)
  else Reflect.set(container, pick(Object.keys(container), draw), copy)
}

/** Moves a list's item, or one key of an object behind the others. */
function reorder(container: object, key: string, draw: Draw): void {
  const value: unknown = Reflect.get(container, key)
  drop(container, key)
  if (Array.isArray(container)) container.splice(Math.floor(draw() * (container.length + 1)), 0, value)
  else Reflect.set(container, key, value)
}

function pick<T>(list: readonly T[], draw: Draw): T {
  return list[Math.floor(draw() * list.length)] as T
}
