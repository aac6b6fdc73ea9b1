import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Mode, Run } from "./measure.ts"

/** The one inside the host's binary, 1.18.33. */
const BUN_VERSION = "1.3.14"
const MEASURE = fileURLToPath(new URL("measure.ts", import.meta.url))
/** A young generation that holds all that one call allocates, and the smallest one. */
const NO_COLLECTION = ["--min-semi-space-size=2048", "--max-semi-space-size=2048"]
const OFTEN_COLLECTING = ["--max-semi-space-size=1"]

export interface Runtime {
  name: string
  modes: readonly Mode[]
  run(messages: number, mode: Mode): Run
}

export function findRuntimes(): Runtime[] {
  return [describeNode(), describeBun()]
}

function describeNode(): Runtime {
  const flags: Readonly<Record<Mode, string[]>> = {
    time: [],
    allocated: NO_COLLECTION,
    retained: [],
    peak: OFTEN_COLLECTING,
  }
  return {
    name: `Node ${process.versions.node}`,
    modes: ["time", "allocated", "retained", "peak"],
    run: (messages, mode) =>
      runChild(process.execPath, [...flags[mode], "--expose-gc", "--import", "tsx", MEASURE, `${messages}`, mode]),
  }
}

function describeBun(): Runtime {
  const bun = findBun()
  return {
    name: `Bun ${BUN_VERSION}`,
    modes: ["time", "allocated", "retained"],
    run: (messages, mode) =>
      runChild(bun, [MEASURE, `${messages}`, mode], mode === "allocated" ? { BUN_JSC_useGC: "0" } : {}),
  }
}

function runChild(command: string, args: string[], env: Record<string, string> = {}): Run {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    env: { ...process.env, ...env },
    encoding: "utf8",
    maxBuffer: 1e8,
  })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`)
  return JSON.parse(stdout) as Run
}

/** From npm, into the user's cache. Its install script only picks one of these packages, so it is not needed. */
function findBun(): string {
  const arch = process.arch === "arm64" ? "aarch64" : process.arch
  const native = `@oven/bun-${process.platform}-${arch}`
  // The second is for processors without AVX2, on which the first dies.
  for (const name of [native, `${native}-baseline`]) {
    const bun = installBun(name)
    if (isRunning(bun)) return bun
  }
  throw new Error(`no Bun ${BUN_VERSION} for this machine: ${native} does not run`)
}

function installBun(name: string): string {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "opencode-dcp")
  const folder = join(cache, `${basename(name)}-${BUN_VERSION}`)
  const binary = join(folder, "node_modules", name, "bin", "bun")
  if (existsSync(binary)) return binary
  console.log(`fetching ${name}@${BUN_VERSION} into ${folder}`)
  const flags = ["--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]
  spawnSync("npm", ["install", ...flags, `${name}@${BUN_VERSION}`], { stdio: ["ignore", "ignore", "inherit"] })
  return binary
}

function isRunning(bun: string): boolean {
  return spawnSync(bun, ["--version"], { encoding: "utf8" }).stdout?.trim() === BUN_VERSION
}
