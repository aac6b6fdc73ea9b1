/** The package against the host's published types, oldest and newest proven: `npm run test:types:range`. */
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { run } from "./executables.ts"
import { removeFolder } from "./leftovers.ts"
import { installInto, makeFolder } from "./matrix-package.ts"
import { findProvenBounds, readResults } from "./matrix-results.ts"
import { PROJECT_ROOT } from "./plugin.ts"

const COPIED = [
  "index.ts",
  "lib",
  "package.json",
  "dcp.schema.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "tests/host/type-range-claims.ts",
]

const RANGE_CONFIG = { extends: "./tsconfig.json", include: ["index.ts", "lib", "tests"] }

/** By its name, as a user's program would; Node finds the copy's own `exports`. */
const IMPORTS = `
const { default: plugin } = await import("opencode-dcp/server")
const { projectMessages } = await import("opencode-dcp/engine")
if (typeof plugin.server !== "function" || typeof projectMessages !== "function") throw new Error("exports are missing")
`

const TSC = join(PROJECT_ROOT, "node_modules/typescript/bin/tsc")

/** Arguments of Node by what a failure of them means. */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  "type-check": [TSC, "-p", "tsconfig.range.json"],
  build: [TSC, "-p", "tsconfig.build.json"],
  import: ["--input-type=module", "--eval", IMPORTS],
}

const { oldest, newest } = findProvenBounds(readResults())
for (const version of new Set([oldest, newest])) {
  const fault = await findFault(version)
  if (fault !== undefined) process.exitCode = 1
  console.log(`@opencode-ai/plugin and sdk ${version}: ${fault ?? Object.keys(CHECKS).join(", ") + " ok"}`)
}

async function findFault(version: string): Promise<string | undefined> {
  const folder = makeFolder("types")
  try {
    await installInto(folder, [`@opencode-ai/plugin@${version}`, `@opencode-ai/sdk@${version}`])
    copyPackage(folder)
    return await findFailedCheck(folder)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    removeFolder(folder)
  }
}

function copyPackage(folder: string): void {
  for (const path of COPIED) cpSync(join(PROJECT_ROOT, path), join(folder, path), { recursive: true })
  writeFileSync(join(folder, "tsconfig.range.json"), JSON.stringify(RANGE_CONFIG))
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies: Record<string, string>
  }
  for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) linkModule(folder, name)
}

/** Everything but the host's packages is what this repository has installed. */
function linkModule(folder: string, name: string): void {
  const link = join(folder, "node_modules", name)
  if (existsSync(link)) return
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(join(PROJECT_ROOT, "node_modules", name), link, "dir")
}

async function findFailedCheck(folder: string): Promise<string | undefined> {
  const env = { PATH: process.env["PATH"] ?? "" }
  for (const [name, args] of Object.entries(CHECKS)) {
    const result = await run(process.execPath, args, { cwd: folder, env, timeoutMs: 180_000 })
    if (result.code !== 0) return `${name} failed:\n${result.stdout}${result.stderr}`
  }
  return undefined
}
