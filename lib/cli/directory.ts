import { stat } from "node:fs/promises"
import path from "node:path"
import type { Console } from "./console.ts"
import { InputFault } from "./faults.ts"

/** The absolute path of a directory that is there, relative to the current one. */
export async function findDirectory(directory: string, { cwd }: Console): Promise<string> {
  const place = path.resolve(cwd, directory)
  const found = await stat(place).catch(() => undefined)
  if (!found?.isDirectory()) throw new InputFault(`${directory} is no directory`)
  return place
}
