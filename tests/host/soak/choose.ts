import type { Draw } from "../../fuzz/mutate.ts"

/** An integer from `from` to `to`, both included. */
export const drawInteger = (draw: Draw, from: number, to: number): number => from + Math.floor(draw() * (to - from + 1))

export function pickOne<T>(all: readonly T[], draw: Draw): T {
  const one = all[Math.floor(draw() * all.length)]
  if (one === undefined) throw new Error("nothing to pick from")
  return one
}

export function pickByWeight<T extends { weight: number }>(rows: readonly T[], draw: Draw): T {
  let left = draw() * rows.reduce((sum, { weight }) => sum + weight, 0)
  for (const row of rows) {
    left -= row.weight
    if (left < 0) return row
  }
  return pickOne(rows, draw)
}

/** Each time round, from the first. */
export function atTurn<T>(all: readonly T[], count: number): T {
  const one = all[count % all.length]
  if (one === undefined) throw new Error("nothing to take turns with")
  return one
}
