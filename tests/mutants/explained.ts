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
    "wire-origins.ts": [
      'part?.["metadata"] -> part["metadata"]',
      'parts.find(({ type }) => type === "compaction")?.["tail_start_id"] -> parts.find(({ type }) => type === "compaction")["tail_start_id"]',
    ],
    "wire.ts": ['rendered !== "nothing" -> true', 'typeof time === "number" -> true'],
    "wire-media.ts": ["CARRIES_MEDIA[npm]?.(mime, apiID) -> CARRIES_MEDIA[npm](mime, apiID)"],
    "tokens.ts": ["isRecord(value) -> true"],
    "eligibility.ts": ["path === undefined -> false"],
    "wire-reports.ts": ["saidTokens !== undefined -> true"],
    "options.ts": ['typeof value === "number" -> true'],
    "state.ts": ["dropped !== undefined -> true"],
    "steps.ts": ["step -> true"],
  },
  speed: {
    "wire-origins.ts": ["outputs.length === 0 -> false", "!parts.some(isProviderExecuted) -> false"],
    "eligibility.ts": [
      "path === undefined || path.slice(-INSTRUCTION_EXTENSION.length).toLowerCase() !== INSTRUCTION_EXTENSION -> false",
      "path === undefined || path.slice(-INSTRUCTION_EXTENSION.length).toLowerCase() !== INSTRUCTION_EXTENSION -> path === undefined && path.slice(-INSTRUCTION_EXTENSION.length).toLowerCase() !== INSTRUCTION_EXTENSION",
      "path.slice(-INSTRUCTION_EXTENSION.length).toLowerCase() !== INSTRUCTION_EXTENSION -> false",
    ],
    // Any answer about a text will do, as long as it is the same for the same text.
    "redundancy.ts": [
      '({ text = "" }) => text.length -> () => undefined',
      '({ text = "" }) => sampleText(text) -> () => undefined',
      '{ const [third, end] = [Math.floor(text.length / 3), text.length - SAMPLED_CHARACTERS] return [third, 2 * third, end].map((start) => text.slice(start, start + SAMPLED_CHARACTERS)).join("") } -> {}',
      "[Math.floor(text.length / 3), text.length - SAMPLED_CHARACTERS] -> []",
      "text.length / 3 -> text.length * 3",
      "text.length - SAMPLED_CHARACTERS -> text.length + SAMPLED_CHARACTERS",
      "[third, 2 * third, end] -> []",
      "2 * third -> 2 / third",
      "(start) => text.slice(start, start + SAMPLED_CHARACTERS) -> () => undefined",
      "text.slice(start, start + SAMPLED_CHARACTERS) -> text",
      "start + SAMPLED_CHARACTERS -> start - SAMPLED_CHARACTERS",
    ],
    "wire.ts": ["start === 0 -> false"],
    "candidates.ts": ["output.segment < edge -> true", "output.segment < edge -> output.segment <= edge"],
    "replay.ts": ["until < this.nextMarkAt -> false"],
  },
  tie: {
    "plain.ts": ["{ // A proxy that answers differently the second time. return undefined } -> {}"],
    "wire-reports.ts": ["rest <= output + reasoning -> rest < output + reasoning"],
    // Every part of a user's that is sent keeps its message; a text of a response that is not sent is empty.
    "wire-origins.ts": ['role === "user" -> false', '"user" -> ""', 'text === "" -> true'],
    "wire.ts": [
      "byCreation(message, latest) > 0 -> byCreation(message, latest) >= 0",
      // `findLatestUser` asks again.
      'info.role === "user" -> true',
      'time["created"] > 0 -> time["created"] >= 0',
      "time > latest -> time >= latest",
    ],
    "text-rate.ts": [
      "text.length <= LEAST_WINDOWS * WINDOW_UNITS -> text.length < LEAST_WINDOWS * WINDOW_UNITS",
      "start > 0 -> true",
      "start > 0 -> start >= 0",
    ],
    "media-data.ts": ["comma < 0 -> comma <= 0"],
    "media-pdf.ts": [
      "maxBytes <= 2 * WINDOW_BYTES -> maxBytes < 2 * WINDOW_BYTES",
      '"obj" -> ""',
      "toByte - fromByte -> toByte + fromByte",
    ],
    "media-image.ts": ["header === undefined -> false", "{ return undefined } -> {}"],
  },
  filler: {
    "wire-origins.ts": ['"" -> "Stryker was here!"'],
    "wire.ts": ['[] -> ["Stryker was here"]', "false -> true", '"nothing" -> ""'],
    "engine.ts": ['[] -> ["Stryker was here"]'],
    "wire-media.ts": ['"" -> "Stryker was here!"'],
    // A call without a state has no known result either.
    "wire-parts.ts": ['"unknown" -> ""'],
    "tokens.ts": ['"utf8" -> ""'],
    "media-pdf.ts": ['[] -> ["Stryker was here"]'],
    "media-families.ts": ['"" -> "Stryker was here!"'],
    "redundancy.ts": ['[] -> ["Stryker was here"]', '"" -> "Stryker was here!"'],
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
