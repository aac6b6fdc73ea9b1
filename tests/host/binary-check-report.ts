import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { UsageError } from "./binary-check-options.ts"

/** Before the work, so that none of it is lost. */
export function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new UsageError(`--output ${folder} is no folder to write to (${error instanceof Error ? error.message : ""})`)
  }
}

/** What was not found is written as null. */
export function writeJson(folder: string, name: string, value: unknown): void {
  writeFileSync(join(folder, name), `${JSON.stringify(value, (_key, one: unknown) => one ?? null, 2)}\n`)
}
