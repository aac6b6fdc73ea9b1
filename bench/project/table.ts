import type { Memory, ProjectFigures, ProjectRow } from "./figures.ts"

/** For the terminal and the README. */
export function describeProject({ aims, rows }: ProjectFigures): string[] {
  return [
    "What the hook computes for one request, beside the same history's `structuredClone`, `JSON.stringify` and a floor: the bytes of",
    `every text summed once, and the structure copied once. Aims: at most ${aims.toFloor} of the floor, ${aims.toClone} of`,
    `\`structuredClone\`, and ${aims.extraMemory} of the history's bytes as extra memory. Memory: all that is allocated, garbage included / the most`,
    "at a time, where the runtime can tell / what stays with the result.",
    "",
    "| runtime | history | floor | `structuredClone` | `JSON.stringify` | memory | `projectMessages`, floor |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map(describeRow),
  ]
}

function describeRow({ runtime, messages, megabytes, speed, memory }: ProjectRow): string {
  const { toFloor, toClone, toStringify } = speed.hook
  const history = `${messages.toLocaleString("en")} messages, ${megabytes} MB`
  const cells = [runtime, history, toFloor, toClone, toStringify, describeMemory(memory.hook)]
  return `| ${[...cells, speed.projectMessages.toFloor].join(" | ")} |`
}

function describeMemory({ allocatedRatio, peakRatio, retainedRatio }: Memory): string {
  return [allocatedRatio, peakRatio ?? "–", retainedRatio].join(" / ")
}
