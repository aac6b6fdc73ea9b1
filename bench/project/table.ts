import type { ProjectFigures, ProjectRow } from "./figures.ts"

/** For the terminal and the README. */
export function describeProject({ aims, rows }: ProjectFigures): string[] {
  return [
    "What the hook computes for one request, as multiples: of the time that the same history's `structuredClone` and `JSON.stringify` take,",
    "and a floor, which sums the bytes of every text once and copies the structure once; of the history's bytes as JSON for memory.",
    "",
    `| ${COLUMNS.join(" | ")} |`,
    `| ${COLUMNS.map(() => "---").join(" | ")} |`,
    ...rows.map(describeRow),
    "",
    "Allocated is everything, garbage included; at a time, the most that the heap grows, which Bun cannot tell; kept, what stays with",
    "the result. The last column is the engine's function that copies, beside the floor.",
    "The aims, and [why some are missed](docs/decisions/2026-12-01-speed.md):",
    "",
    ...describeAims({ aims, rows }),
  ]
}

const COLUMNS = [
  "runtime",
  "history",
  "× floor",
  "× `structuredClone`",
  "× `JSON.stringify`",
  "allocated",
  "at a time",
  "kept",
  "`projectMessages`, × floor",
]

/** Each aim with the rows that reach it, so that one that is missed is called so. */
function describeAims({ aims, rows }: ProjectFigures): string[] {
  const memories = rows.map(({ memory }) => memory.hook)
  const judged: [aim: string, most: number, measured: number[]][] = [
    [`${aims.toFloor} × floor`, aims.toFloor, rows.map(({ speed }) => speed.hook.toFloor)],
    [`${aims.toClone} × \`structuredClone\``, aims.toClone, rows.map(({ speed }) => speed.hook.toClone)],
    [
      `${aims.extraMemory} of the history's bytes allocated`,
      aims.extraMemory,
      memories.map((memory) => memory.allocatedRatio),
    ],
    [
      `${aims.extraMemory} of the history's bytes kept`,
      aims.extraMemory,
      memories.map((memory) => memory.retainedRatio),
    ],
  ]
  return judged.map(([aim, most, measured]) => {
    const met = measured.filter((ratio) => ratio <= most).length
    return `- at most ${aim}: ${met === measured.length ? "met" : `missed in ${measured.length - met} rows of ${measured.length}`}`
  })
}

function describeRow({ runtime, messages, megabytes, speed, memory }: ProjectRow): string {
  const { toFloor, toClone, toStringify } = speed.hook
  const history = `${messages.toLocaleString("en")} messages, ${megabytes} MB`
  const { allocatedRatio, peakRatio, retainedRatio } = memory.hook
  const times = [toFloor, toClone, toStringify]
  return `| ${[runtime, history, ...times, allocatedRatio, peakRatio ?? "–", retainedRatio, speed.projectMessages.toFloor].join(" | ")} |`
}
