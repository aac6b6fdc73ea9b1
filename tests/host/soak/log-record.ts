import { readPluginLog } from "../plugin-log.ts"
import { PROJECT_ROOT } from "../plugin.ts"
import type { LogRecord } from "./record-types.ts"

const LONGEST_SHOWN = 300

/** What one life of a host says about the plugin. */
export function readLogRecord(log: string, stdout: string): LogRecord {
  const entries = readPluginLog(log)
  const skipped: Record<string, number> = {}
  for (const entry of entries)
    if (entry.skipped !== undefined) skipped[entry.skipped] = (skipped[entry.skipped] ?? 0) + 1
  const lines = [...log.split("\n"), ...stdout.split("\n")]
  return {
    projected: entries.filter((entry) => entry.skipped === undefined).length,
    skipped,
    warnings: lines.filter((line) => /level=WARN.*opencode-dcp: /.test(line)).map(shorten),
    errors: lines.filter(isError).map(shorten),
  }
}

/** The host announces its plugins by their file; a stack that names it is another matter. */
const isError = (line: string): boolean =>
  line.includes("level=ERROR") || (line.includes(`${PROJECT_ROOT}/dist/`) && /\bat \S|rror/.test(line))

const shorten = (line: string): string => line.replace(/^timestamp=\S+ /, "").slice(0, LONGEST_SHOWN)
