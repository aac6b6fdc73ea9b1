import { createHash } from "node:crypto"
import { createReadStream, readdirSync, readFileSync, statSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import type { BinaryCheckOptions } from "./binary-check-options.ts"
import { run } from "./executables.ts"
import { Home } from "./home.ts"
import { parseJson, recordOf } from "./json.ts"
import { pluginByFile, PROJECT_ROOT } from "./plugin.ts"

/** Its message is one line: the artifact is not the one that was asked for. */
export class IdentityMismatch extends Error {
  override name = "IdentityMismatch"
}

export interface Artifact {
  file: string
  version: string
  sha256: string
}

/** Digest first: a file that is not the chosen one is not even started. */
export async function verifyIdentity({ binary, version, sha256 }: BinaryCheckOptions): Promise<Artifact> {
  const file = resolve(binary)
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new IdentityMismatch(`${binary} is not a file`)
  const found = await digestFile(file)
  if (found !== sha256) throw new IdentityMismatch(`${binary} has SHA-256 ${found}, not ${sha256}`)
  const reported = await askVersion(file)
  if (reported !== version) throw new IdentityMismatch(`${binary} says it is version "${reported}", not ${version}`)
  return { file, version, sha256 }
}

async function digestFile(file: string): Promise<string> {
  const hash = createHash("sha256")
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest("hex")
}

async function askVersion(file: string): Promise<string> {
  const home = await Home.create()
  try {
    const result = await run(file, ["--version"], { cwd: home.project, env: home.env })
    return result.stdout.trim()
  } catch (error) {
    throw new IdentityMismatch(`${file} does not run: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    home.remove()
  }
}

/** The build under test and the host types that it is developed against. */
export function describePlugin(): unknown {
  pluginByFile()
  const folder = join(PROJECT_ROOT, "dist")
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted()
  const hash = createHash("sha256")
  for (const name of files)
    hash.update(`${relative(folder, join(folder, name))}\0`).update(readFileSync(join(folder, name)))
  return {
    version: versionOf("."),
    buildSha256: hash.digest("hex"),
    buildFiles: files.length,
    peers: Object.fromEntries(
      ["@opencode-ai/plugin", "@opencode-ai/sdk"].map((name) => [name, versionOf(join("node_modules", name))]),
    ),
  }
}

const versionOf = (folder: string): unknown =>
  recordOf(parseJson(readFileSync(join(PROJECT_ROOT, folder, "package.json"), "utf8")))["version"]
