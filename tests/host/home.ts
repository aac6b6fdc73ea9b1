import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { findExecutable, run } from "./executables.ts"
import { ownFolder, removeFolder } from "./leftovers.ts"

export type ProjectFiles = Record<string, string | Uint8Array>

/** No server listens on port 1: whatever asks a registry fails at once instead of reaching the network. */
export const DEAD_REGISTRY = "http://127.0.0.1:1/"

const FOLDERS = ["home", "config", "data", "cache", "state", "tmp", "project"]

/** A place for one host, throw-away unless it is kept: its home, its database and a project to work in. */
export class Home {
  readonly root: string
  readonly project: string
  /** Everything the host may see of this machine's environment. */
  readonly env: Record<string, string>

  private constructor(root: string) {
    this.root = root
    this.project = join(root, "project")
    this.env = isolatedEnvironment(root)
  }

  static async create(files: ProjectFiles = {}): Promise<Home> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "opencode-dcp-")))
    ownFolder(root)
    const home = new Home(root)
    await home.#furnish(files)
    return home
  }

  /** In a folder that outlives this process, so that a later one finds it as it was left. */
  static async keep(folder: string, files: ProjectFiles = {}): Promise<Home> {
    const isNew = !existsSync(folder)
    mkdirSync(folder, { recursive: true })
    const home = new Home(realpathSync(folder))
    if (isNew) await home.#furnish(files)
    return home
  }

  path(...segments: string[]): string {
    return join(this.root, ...segments)
  }

  /** Writes a project file, with its folders. */
  write(path: string, content: string | Uint8Array): void {
    const file = join(this.project, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }

  /** Kills what still runs in it first. */
  remove(): void {
    removeFolder(this.root)
  }

  async #furnish(files: ProjectFiles): Promise<void> {
    for (const folder of FOLDERS) mkdirSync(join(this.root, folder))
    for (const [path, content] of Object.entries(files)) this.write(path, content)
    await this.#becomeRepository()
  }

  /** The host takes a repository's root as the worktree; without one it would look for instructions up to `/`. */
  async #becomeRepository(): Promise<void> {
    const git = findExecutable("git")
    if (git === undefined) return
    for (const args of [
      ["init", "--quiet"],
      ["add", "--all"],
      [
        "-c",
        "user.name=scenario",
        "-c",
        "user.email=scenario@localhost",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "start",
      ],
    ]) {
      const result = await run(git, args, { cwd: this.project, env: this.env })
      if (result.code !== 0) throw new Error(`git ${args.join(" ")} failed: ${result.stderr}`)
    }
  }
}

function isolatedEnvironment(root: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    LANG: "C.UTF-8",
    TERM: "dumb",
    SHELL: "/bin/sh",
    TMPDIR: join(root, "tmp"),
    HOME: join(root, "home"),
    XDG_CONFIG_HOME: join(root, "config"),
    XDG_DATA_HOME: join(root, "data"),
    XDG_CACHE_HOME: join(root, "cache"),
    XDG_STATE_HOME: join(root, "state"),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_SHARE: "1",
    npm_config_registry: DEAD_REGISTRY,
    npm_config_fetch_retries: "0",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
  }
}

/**
 * With any plugin configured the host waits for `npm install @opencode-ai/plugin` in each configuration folder. It skips
 * that when `node_modules` exists and the lock file lists the package, so this writes exactly these.
 */
export function seedPluginDependency(configFolder: string, version: string): void {
  const dependencies = { "@opencode-ai/plugin": version }
  const lock = { name: "opencode", lockfileVersion: 3, requires: true, packages: { "": { dependencies } } }
  mkdirSync(join(configFolder, "node_modules"), { recursive: true })
  writeFileSync(join(configFolder, "package.json"), JSON.stringify({ dependencies }))
  writeFileSync(join(configFolder, "package-lock.json"), JSON.stringify(lock))
}
