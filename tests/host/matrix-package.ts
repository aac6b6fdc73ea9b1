import { existsSync, mkdtempSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { findExecutable, run, type RunResult } from "./executables.ts"
import { Home } from "./home.ts"
import { chooseHostBinary } from "./host-binary.ts"
import { parseJson, textOf } from "./json.ts"
import { ownFolder, removeFolder } from "./leftovers.ts"

/** npm has no such version, or could not be asked. */
export class Unavailable extends Error {
  override name = "Unavailable"
}

/** The package whose host runs on this machine: platform, processor and C library are in its name. */
export async function findPlatformPackage(): Promise<string> {
  const home = await Home.create()
  try {
    const { file } = await chooseHostBinary(home)
    const name = basename(dirname(dirname(file)))
    if (!name.startsWith("opencode-")) throw new Error(`not of a platform package, unset OPENCODE_BINARY: ${file}`)
    return name
  } finally {
    home.remove()
  }
}

/** What npm calls latest; `undefined` when it does not answer. */
export async function findLatestVersion(): Promise<string | undefined> {
  const result = await runNpm(["view", "opencode-ai", "dist-tags.latest", "--json"], tmpdir())
  const version = textOf(parseJson(result.stdout))
  return result.code === 0 && version !== "" ? version : undefined
}

/** The host's executable in a throw-away folder for the time of `use`. */
export async function withHostBinary<T>(
  packageName: string,
  version: string,
  use: (file: string) => Promise<T>,
): Promise<T> {
  const folder = makeFolder("host")
  try {
    await installInto(folder, [`${packageName}@${version}`])
    const bin = join(folder, "node_modules", packageName, "bin")
    const file = ["opencode", "opencode.exe"].map((name) => join(bin, name)).find(existsSync)
    if (file === undefined) throw new Unavailable("the package holds no executable")
    return await use(file)
  } finally {
    removeFolder(folder)
  }
}

/** Removed at the latest when this process ends. */
export function makeFolder(purpose: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `opencode-dcp-${purpose}-`)))
  ownFolder(folder)
  return folder
}

/** Without install scripts, and without peers: the plugin package's are the libraries of the host's terminal. */
export async function installInto(folder: string, specifiers: readonly string[]): Promise<void> {
  const flags = [
    "--prefix",
    folder,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-save",
    "--no-package-lock",
    "--legacy-peer-deps",
  ]
  const result = await runNpm(["install", ...flags, ...specifiers], folder)
  if (result.code !== 0) throw new Unavailable(describeRefusal(result))
}

async function runNpm(args: readonly string[], cwd: string): Promise<RunResult> {
  const npm = findExecutable("npm")
  if (npm === undefined) throw new Error("npm is not on PATH")
  return run(npm, args, { cwd, env: plainEnvironment(), timeoutMs: 300_000 })
}

/** What `npm run` tells its scripts would make an npm inside of them work on this package. */
function plainEnvironment(): Record<string, string> {
  const passed = Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(?:registry|cache)$)/i.test(name))
  return Object.fromEntries(passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** npm's own sentence, without the address that it asked. */
function describeRefusal({ stderr, code }: RunResult): string {
  const lines = stderr
    .split("\n")
    .flatMap((line) => /^npm (?:error|ERR!) (?!code |errno |syscall )(.+)/.exec(line)?.[1] ?? [])
  return (lines[0] ?? `npm ended with ${code}`)
    .replaceAll(/https?:\/\/\S+/g, "the registry")
    .replace(/^\w+ (?=No |Not )/, "")
}
