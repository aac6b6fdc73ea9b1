import type { MutantResult } from "./ledger.ts"

/** Why no test finds a mutant: what it changes cannot be seen. */
export const KINDS = {
  type: "The compiler asks for the check; the value that it looks for cannot come there",
  speed: "It saves work; the result is the same without it",
  tie: "Both sides of the changed figure, or both orders, come to the same",
  filler: "What Stryker fills in is never looked at, or stands where any value would do",
} as const

export type Kind = keyof typeof KINDS

/** By kind and file: what stood there and what came in its place. */
const EXPLAINED: Readonly<Record<Kind, Readonly<Record<string, readonly string[]>>>> = {
  type: {
    "options.ts": ['typeof value === "number" -> true'],
    "state.ts": ["dropped !== undefined -> true"],
    "steps.ts": ["step -> true"],
  },
  speed: {
    "candidates.ts": ["output.segment < edge -> true", "output.segment < edge -> output.segment <= edge"],
    "replay.ts": ["until < this.nextMarkAt -> false"],
  },
  tie: {
    "media-data.ts": ["comma < 0 -> comma <= 0"],
    "media-image.ts": ["header === undefined -> false", "{ return undefined } -> {}"],
  },
  filler: {
    "media-families.ts": ['"" -> "Stryker was here!"'],
    "redundancy.ts": ['[] -> ["Stryker was here"]'],
  },
}

export function findKind(mutant: MutantResult): Kind | undefined {
  const change = describeChange(mutant)
  const kinds = Object.keys(KINDS) as Kind[]
  return kinds.find((kind) =>
    Object.entries(EXPLAINED[kind]).some(
      ([file, changes]) => mutant.file.endsWith(`/${file}`) && changes.includes(change),
    ),
  )
}

export function describeChange({ original, replacement }: MutantResult): string {
  return `${original} -> ${replacement}`.replaceAll(/\s+/g, " ")
}
