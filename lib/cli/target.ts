import { isRecord } from "../dtc/plain.ts"

/** The input that says what a call is about, by tool; of other tools, the first text of their input. */
const TARGET_KEYS: Readonly<Record<string, string>> = {
  read: "filePath",
  write: "filePath",
  edit: "filePath",
  bash: "command",
  grep: "pattern",
  glob: "pattern",
}

const LONGEST_CHARS = 300

/** As `nameTarget`, short enough for a row. */
export function describeTarget(tool: string, input: unknown): string {
  const target = nameTarget(tool, input)
  return target.length > LONGEST_CHARS ? `${target.slice(0, LONGEST_CHARS)}…` : target
}

/** What a call is about, as a user would name it: a path with its page, a command, a pattern with where it was sought. */
export function nameTarget(tool: string, input: unknown): string {
  if (!isRecord(input)) return ""
  const key = Object.hasOwn(TARGET_KEYS, tool) ? TARGET_KEYS[tool] : undefined
  const named = key === undefined ? Object.values(input).find(isText) : input[key]
  const target = isText(named) ? named : JSON.stringify(input)
  return `${target}${describePlace(tool, input)}`
}

function describePlace(tool: string, { offset, path, include }: Record<string, unknown>): string {
  if (tool === "read") return typeof offset === "number" && offset > 0 ? `, from line ${offset}` : ""
  if (tool !== "grep" && tool !== "glob") return ""
  return [path, include]
    .filter(isText)
    .map((place) => ` in ${place}`)
    .join("")
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== ""
}
