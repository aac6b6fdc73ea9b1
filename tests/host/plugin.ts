import { existsSync, mkdirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { findExecutable, run } from "./executables.ts"
import type { Home } from "./home.ts"
import { listOf, parseJson, recordOf, textOf } from "./json.ts"

/** An entry of `plugin` in `opencode.json`: a specifier, or a specifier with the plugin's options. */
export type PluginEntry = string | readonly [specifier: string, options: Record<string, unknown>]

export const PROJECT_ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..")

const PACKAGE_NAME = "opencode-dcp"

export const withOptions = (specifier: string, options?: Record<string, unknown>): PluginEntry =>
  options === undefined ? specifier : [specifier, options]

/** The built entry file. */
export function pluginByFile(): string {
  const entry = join(PROJECT_ROOT, "dist/index.js")
  if (!existsSync(entry)) throw new Error(`${entry} is missing: run \`npm run build\` first`)
  return pathToFileURL(entry).href
}

/** The package folder: the host reads `exports["./server"]`, then `main`. */
export function pluginByFolder(): string {
  pluginByFile()
  return pathToFileURL(PROJECT_ROOT).href
}

/** Packs what npm would publish into the home. The host installs it from there, asking no registry. */
export async function pluginByTarball(home: Home): Promise<string> {
  pluginByFile()
  const npm = findExecutable("npm")
  if (npm === undefined) throw new Error("npm is not on PATH")
  const folder = home.path("packed")
  mkdirSync(folder, { recursive: true })
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]
  const result = await run(npm, args, { cwd: PROJECT_ROOT, env: home.env })
  const name = textOf(recordOf(listOf(parseJson(result.stdout))[0])["filename"])
  if (result.code !== 0 || name === "") throw new Error(`npm pack failed: ${result.stderr || result.stdout}`)
  return `${PACKAGE_NAME}@file:${join(folder, name)}`
}

/** A plugin that exists only for a scenario, from `tests/host/fixtures`. */
export const fixturePlugin = (file: string): string =>
  pathToFileURL(join(dirname(fileURLToPath(import.meta.url)), "fixtures", file)).href
