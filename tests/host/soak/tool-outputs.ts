import { join } from "node:path"
import type { ProjectFile } from "./project-files.ts"

/** What the host's tools make of a file, written down from what OpenCode 1.18.33 did and computed without it. */

const linesOf = (content: string): string[] => content.replace(/\n$/, "").split("\n")

export function readOutput(root: string, { path, content }: Pick<ProjectFile, "path" | "content">): string {
  const lines = linesOf(content)
  return wrapRead(join(root, path), lines, 1, `(End of file - total ${lines.length} lines)`)
}

export function readPageOutput(root: string, { path, content }: ProjectFile, offset: number, limit: number): string {
  const lines = linesOf(content)
  const last = offset + limit - 1
  const end = `(Showing lines ${offset}-${last} of ${lines.length}. Use offset=${last + 1} to continue.)`
  return wrapRead(join(root, path), lines.slice(offset - 1, last), offset, end)
}

function wrapRead(file: string, lines: readonly string[], first: number, end: string): string {
  const numbered = lines.map((line, index) => `${first + index}: ${line}`).join("\n")
  return `<path>${file}</path>\n<type>file</type>\n<content>\n${numbered}\n\n${end}\n</content>`
}

export function grepOutput(root: string, { path, content, needle }: ProjectFile): string {
  const matches = linesOf(content).flatMap((line, index) =>
    line.includes(needle) ? [`  Line ${index + 1}: ${line}\n`] : [],
  )
  return `Found ${matches.length} matches\n${join(root, path)}:\n${matches.join("\n")}`
}

/** The head says where the whole was stored, under a name that only the host knows. */
export const isCutBashOutput = (output: string, content: string): boolean => {
  const tail = /^\.\.\.output truncated\.\.\.\n\nFull output saved to: \S+\n\n([\s\S]{2000,})$/.exec(output)?.[1]
  return tail !== undefined && tail.length < content.length && content.endsWith(tail)
}

export const isCappedRead = (output: string, root: string, { path, content }: ProjectFile): boolean => {
  const shown =
    /\n\n\(Output capped at 50 KB\. Showing lines 1-(\d+)\. Use offset=\d+ to continue\.\)\n<\/content>$/.exec(output)
  if (shown === null) return false
  const lines = linesOf(content).slice(0, Number(shown[1]))
  return (
    lines.length > 100 && output === wrapRead(join(root, path), lines, 1, shown[0].slice(2, -"\n</content>".length))
  )
}
