const KINDS = ["lower", "upper", "digit", "space", "newline", "mark", "wide", "picture", "other"] as const
type CharKind = (typeof KINDS)[number]

/**
 * What characters cost in hundredths of a token: the first UTF-16 unit of a run of one kind, and each further one. Tokenizers
 * merge within a run and seldom across its ends; the longer a run of small letters, the more likely it is a word they know.
 *
 * `bench/estimate` holds the table against real tokenizers. It is the least squares of relative errors over the tuning texts
 * there, rounded, with plain words beside numbers held below four bytes per token; the judging texts are others. Two rows are
 * chosen, not fitted: `wide` (Chinese, Japanese, Korean) lies between vocabularies that take 0.6 tokens for a character and
 * those that take 1.3, and `other` is four bytes per token.
 */
const COSTS: Record<CharKind, { first: number; next: number }> = {
  lower: { first: 80, next: -12 },
  upper: { first: 145, next: 20 },
  digit: { first: 115, next: 25 },
  space: { first: 35, next: 10 },
  newline: { first: 50, next: 35 },
  mark: { first: 90, next: 35 },
  wide: { first: 85, next: 85 },
  picture: { first: 130, next: 130 },
  other: { first: 50, next: 50 },
}

/** The first row that matches an ASCII character says its kind. */
const ASCII_ROWS: readonly [pattern: RegExp, kind: CharKind][] = [
  [/[a-z]/, "lower"],
  [/[A-Z]/, "upper"],
  [/\d/, "digit"],
  [/\n/, "newline"],
  [/\s/, "space"],
]

/** Kinds of all other units by pages of 256: each row holds from its first page up to the next row's. */
const PAGE_ROWS: readonly [firstPage: number, kind: CharKind][] = [
  [0xff, "wide"],
  [0xfe, "picture"],
  [0xe0, "wide"],
  [0xd8, "picture"],
  [0xac, "wide"],
  [0xa0, "other"],
  [0x30, "wide"],
  [0x2c, "other"],
  [0x26, "picture"],
]

/** Below this a text says too little about itself; and it weighs little. */
const LEAST_UNITS = 64

/** A text is judged by windows spread over it, one for every `SPREAD_UNITS` within limits, so that the cost is bounded. */
const WINDOW_UNITS = 24
const SPREAD_UNITS = 256
const LEAST_WINDOWS = 12
const MOST_WINDOWS = 48

/** Each window lies elsewhere in its share of the text, or a table of just that width would show the same columns only. */
const SHIFT = 0.618

/** Stands for the kind before a text's first character. */
const NONE = KINDS.length
const ASCII_KINDS = Uint8Array.from({ length: 128 }, (_, code) =>
  KINDS.indexOf(findAsciiKind(String.fromCharCode(code))),
)
const PAGE_KINDS = Uint8Array.from({ length: 256 }, (_, page) => KINDS.indexOf(findPageKind(page)))
/** The cost of a kind after another: `[previous * KINDS.length + kind]`. */
const STEP_COSTS = Int16Array.from(
  [...KINDS, undefined].flatMap((previous) => KINDS.map((kind) => findCost(previous, kind))),
)

/** Tokens of a text by the kinds of its characters: 0 when it is too short to judge, and of a long one a sample decides. */
export function judgeTokens(text: string): number {
  if (text.length < LEAST_UNITS) return 0
  if (text.length <= LEAST_WINDOWS * WINDOW_UNITS) return sumCosts(text, 0, text.length) / 100
  const windows = Math.min(MOST_WINDOWS, Math.max(LEAST_WINDOWS, Math.ceil(text.length / SPREAD_UNITS)))
  const share = text.length / windows
  let sampled = 0
  for (let window = 0; window < windows; window++) {
    const shift = (share - WINDOW_UNITS) * ((window * SHIFT) % 1)
    const start = Math.floor(share * window + shift)
    sampled += sumCosts(text, start, start + WINDOW_UNITS)
  }
  return ((sampled / WINDOW_UNITS) * share) / 100
}

function sumCosts(text: string, start: number, end: number): number {
  let costs = 0
  let previous = start > 0 ? kindOf(text.charCodeAt(start - 1)) : NONE
  for (let index = start; index < end; index++) {
    const kind = kindOf(text.charCodeAt(index))
    costs += STEP_COSTS[previous * KINDS.length + kind]!
    previous = kind
  }
  return costs
}

function kindOf(unit: number): number {
  return unit < ASCII_KINDS.length ? ASCII_KINDS[unit]! : PAGE_KINDS[unit >> 8]!
}

function findAsciiKind(character: string): CharKind {
  return ASCII_ROWS.find(([pattern]) => pattern.test(character))?.[1] ?? "mark"
}

function findPageKind(page: number): CharKind {
  return PAGE_ROWS.find(([firstPage]) => page >= firstPage)?.[1] ?? "other"
}

/** A capital and the small letters after it are one word. */
function findCost(previous: CharKind | undefined, kind: CharKind): number {
  const continues = previous === kind || (previous === "upper" && kind === "lower")
  return COSTS[kind][continues ? "next" : "first"]
}
