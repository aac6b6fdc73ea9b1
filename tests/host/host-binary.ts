import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { run } from "./executables.ts"
import type { Home } from "./home.ts"

export interface HostBinary {
  file: string
  version: string
}

/** Hosts whose wire, log and summaries look as the scenarios expect; a scenario over other versions passes its own. */
const SUPPORTED_VERSIONS = { from: "1.18.33", before: "2.0.0" }

export interface BinaryChoice {
  /** Absent: OPENCODE_BINARY from the environment, else the package that npm delivers for this platform. */
  file?: string
  supported?: { from: string; before: string }
}

/** Finds the host and asks its version before anything else runs. */
export async function chooseHostBinary(home: Home, choice: BinaryChoice = {}): Promise<HostBinary> {
  const explicit = choice.file ?? process.env["OPENCODE_BINARY"]
  const candidates = explicit === undefined ? findDeliveredBinaries() : [explicit]
  for (const file of candidates) {
    const version = await readVersion(file, home)
    if (version === undefined) continue
    const { from, before } = choice.supported ?? SUPPORTED_VERSIONS
    if (compareVersions(version, from) < 0 || compareVersions(version, before) >= 0)
      throw new Error(`OpenCode ${version} is not in the supported range >=${from} <${before}: ${file}`)
    return { file, version }
  }
  throw new Error(
    `No OpenCode binary runs here. Looked at: ${candidates.join(", ") || "nothing"}. ` +
      "Run `npm install`, or set OPENCODE_BINARY to the path of an `opencode` executable.",
  )
}

/**
 * npm delivers the host as one package per platform, processor and C library; its install script only copies the right
 * one, so the packages themselves are looked up. Variants follow for processors without AVX2 and for musl.
 */
function findDeliveredBinaries(): string[] {
  const require = createRequire(import.meta.url)
  const platform = process.platform === "win32" ? "windows" : process.platform
  const executable = process.platform === "win32" ? "opencode.exe" : "opencode"
  return ["", "-baseline", "-musl", "-baseline-musl"].flatMap((variant) => {
    const name = `opencode-${platform}-${process.arch}${variant}/package.json`
    const manifest = findManifest(require, name)
    const file = manifest === undefined ? undefined : join(dirname(manifest), "bin", executable)
    return file !== undefined && existsSync(file) ? [file] : []
  })
}

function findManifest(require: NodeJS.Require, name: string): string | undefined {
  try {
    return require.resolve(name)
  } catch {
    return undefined
  }
}

const knownVersions = new Map<string, string>()

async function readVersion(file: string, home: Home): Promise<string | undefined> {
  const known = knownVersions.get(file)
  if (known !== undefined) return known
  const result = await run(file, ["--version"], { cwd: home.project, env: home.env, timeoutMs: 30_000 }).catch(
    () => undefined,
  )
  const version = /^\d+\.\d+\.\d+\S*/.exec(result?.stdout.trim() ?? "")?.[0]
  if (version !== undefined) knownVersions.set(file, version)
  return version
}

/** Numeric parts only; a pre-release counts as its release. */
export function compareVersions(left: string, right: string): number {
  const against = versionNumbers(right)
  const differences = versionNumbers(left).map((number, index) => number - (against[index] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}

const versionNumbers = (version: string): number[] => version.split(/[.+-]/).slice(0, 3).map(Number)
