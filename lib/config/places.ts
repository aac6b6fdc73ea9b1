import nodePath from "node:path"
import type { LayerSource } from "./types.ts"

/** A layer's candidates: the first directory that holds a DCP file is the one. */
export interface Place {
  source: LayerSource
  directories: readonly string[]
}

/** In a directory the first of these that exists is the layer, readable or not. */
export const FILE_NAMES: readonly string[] = ["dcp.jsonc", "dcp.json"]

/**
 * The places of the layers on disk, lowest first. Paths follow the rules of the running system unless others are given.
 * A `directory` or `home` that is not absolute names no place.
 */
export function placesOf(
  input: { directory: string; env: Readonly<Record<string, string | undefined>>; home: string },
  path: nodePath.PlatformPath = nodePath,
): Place[] {
  const { directory, env, home } = input
  const firstAbsolute = (candidates: readonly string[]) => candidates.find((candidate) => path.isAbsolute(candidate))

  // The XDG base directory specification: all paths must be absolute, relative ones are to be ignored.
  const global = firstAbsolute([env["XDG_CONFIG_HOME"] ?? "", path.join(home, ".config")])
  const custom = env["OPENCODE_CONFIG_DIR"]
  // Relative to the project and not to the process, which may have been started anywhere.
  const configDirectory = custom && firstAbsolute([custom, path.join(directory, custom)])
  return [
    { source: "global", directories: global ? [path.join(global, "opencode")] : [] },
    { source: "config-dir", directories: configDirectory ? [configDirectory] : [] },
    { source: "project", directories: ancestorsOf(directory, path).map((each) => path.join(each, ".opencode")) },
  ]
}

function ancestorsOf(directory: string, path: nodePath.PlatformPath): string[] {
  if (!path.isAbsolute(directory)) return []
  const ancestors = [path.normalize(directory)]
  for (;;) {
    const last = ancestors.at(-1) ?? directory
    const parent = path.dirname(last)
    if (parent === last) return ancestors
    ancestors.push(parent)
  }
}
