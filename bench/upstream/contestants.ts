import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Home } from "../../tests/host/home.ts"
import { installInto, makeFolder } from "../../tests/host/matrix-package.ts"
import { parseJson, recordOf, textOf } from "../../tests/host/json.ts"
import { pluginByFile, PROJECT_ROOT, type PluginEntry } from "../../tests/host/plugin.ts"
import type { HookTime, TimedOptions } from "./timed-plugin.ts"

/** Without a plugin, with this one, and with the one that it is compared to. */
export const CONTESTANTS = ["none", "ours", "upstream"] as const
export type Contestant = (typeof CONTESTANTS)[number]

const UPSTREAM = "@tarquinen/opencode-dcp"
const TIMED_PLUGIN = fileURLToPath(new URL("timed-plugin.ts", import.meta.url))
/** Its defaults, but that it may not replace itself in the middle of a run. */
const UPSTREAM_CONFIG = { autoUpdate: false }

export interface Installed {
  /** Where to import each from. */
  modules: Partial<Record<Contestant, string>>
  versions: Record<"ours" | "upstream", string>
}

/** The other one comes from npm, with the host's plugin package, into a folder that goes with this process. */
export async function installContestants(hostVersion: string): Promise<Installed> {
  const folder = makeFolder("upstream")
  await installInto(folder, [UPSTREAM, `@opencode-ai/plugin@${hostVersion}`])
  const upstream = join(folder, "node_modules", UPSTREAM)
  return {
    modules: { ours: pluginByFile(), upstream: pathToFileURL(join(upstream, "dist/index.js")).href },
    versions: { ours: readVersion(PROJECT_ROOT), upstream: readVersion(upstream) },
  }
}

/** What stands under `plugin` in the home's configuration. */
export function describePlugins(contestant: Contestant, { modules }: Installed, home: Home): PluginEntry[] {
  const module = modules[contestant]
  if (module === undefined) return []
  const options: TimedOptions = { module, report: reportOf(home) }
  return [[pathToFileURL(TIMED_PLUGIN).href, { ...options }]]
}

/** Both read the same file of settings, so only the one that it is for may find it. */
export function writeSettings(contestant: Contestant, home: Home): void {
  const file = home.path("config", "opencode", "dcp.jsonc")
  rmSync(file, { force: true })
  if (contestant !== "upstream") return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(UPSTREAM_CONFIG))
}

/** In the order in which the hooks ended; empty without a plugin. */
export function readHookTimes(home: Home): HookTime[] {
  try {
    const lines = readFileSync(reportOf(home), "utf8").trim().split("\n")
    return lines.map((line) => JSON.parse(line) as HookTime)
  } catch {
    return []
  }
}

export function forgetHookTimes(home: Home): void {
  rmSync(reportOf(home), { force: true })
}

function reportOf(home: Home): string {
  return home.path("tmp", "hooks.jsonl")
}

function readVersion(folder: string): string {
  return textOf(recordOf(parseJson(readFileSync(join(folder, "package.json"), "utf8")))["version"])
}
