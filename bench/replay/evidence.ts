import { isRecord } from "../../lib/dtc/plain.ts"
import type { ReplayWindow } from "./window.ts"
import type { WindowRequest } from "./requests.ts"

/** Tools whose output shows what stands at the path that their call names. */
const SHOWING_TOOLS: ReadonlySet<string> = new Set(["read", "grep", "glob", "list"])

const PATCHED_FILE = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/gm

/** Paths in a call's input: `filePath`, `path`, and the files of a patch. A path inside a shell command is not seen. */
export function findNamedPaths(input: unknown): string[] {
  if (!isRecord(input)) return []
  const named = [input["filePath"], input["path"]].filter((path) => typeof path === "string" && path !== "") as string[]
  const patch = input["patchText"]
  const patched = typeof patch === "string" ? [...patch.matchAll(PATCHED_FILE)].map(([, path = ""]) => path.trim()) : []
  return [...new Set([...named, ...patched])]
}

/**
 * How many paths lost their evidence at one request. A path is lost when the response to the request names it in a call
 * of any tool, at least one earlier read, grep, glob or list output of this window was shown for it, and every one of
 * those is cleared in this request. Outputs that showed nothing (failed, never sent) do not count as evidence.
 *
 * It measures need, not harm: the call itself may fetch the evidence again, and the path may stand elsewhere, for
 * instance in an edit's input or a shell command's output.
 */
export function countLostPaths(window: ReplayWindow, request: WindowRequest, cleared: ReadonlySet<number>): number {
  return request.namedPaths.filter((path) => isLost(window, request, cleared, path)).length
}

function isLost(window: ReplayWindow, request: WindowRequest, cleared: ReadonlySet<number>, path: string): boolean {
  let shown = false
  for (const { index, output, paths } of window.outputs) {
    if (index >= request.outputEnd) break
    if (output.textTokens === 0 || !SHOWING_TOOLS.has(output.tool)) continue
    if (!paths.some((earlier) => isSamePath(earlier, path))) continue
    if (!cleared.has(index)) return false
    shown = true
  }
  return shown
}

/** Equal, or one is the end of the other: patches name files relative to the project, reads from the root. */
function isSamePath(left: string, right: string): boolean {
  return left === right || left.endsWith(`/${right}`) || right.endsWith(`/${left}`)
}
