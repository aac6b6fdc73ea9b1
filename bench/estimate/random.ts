/** A seeded source of values, so that generated texts are the same on every machine. */
export interface Random {
  /** A whole number from 0 up to, without, `end`. */
  below: (end: number) => number
  pick: <T>(list: readonly T[]) => T
  /** `length` characters of the alphabet. */
  string: (length: number, alphabet: string) => string
}

export function makeRandom(seed: number): Random {
  const next = makeSequence(seed)
  const below = (end: number): number => Math.floor(next() * end)
  return {
    below,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    string: (length, alphabet) => Array.from({ length }, () => alphabet[below(alphabet.length)]).join(""),
  }
}

/** Fractions from 0 to 1: a Weyl sequence (steps of the golden ratio) through the mixing of MurmurHash3. */
function makeSequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}
