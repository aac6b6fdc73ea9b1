import assert from "node:assert/strict"
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { fileURLToPath } from "node:url"

interface Manifest {
  name: string
  version: string
  main: string
  bin: Record<string, string>
  exports: Record<string, string | Record<string, string>>
  scripts: Record<string, string>
  dependencies: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  bundleDependencies: string[]
  engines: Record<string, string>
}

interface Lock {
  packages: Record<string, LockedPackage>
}

interface LockedPackage {
  version: string
  resolved?: string
  engines?: Record<string, string>
  inBundle?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const root = fileURLToPath(new URL("..", import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), "utf8")
const manifest: Manifest = JSON.parse(read("package.json"))
const lock: Lock = JSON.parse(read("package-lock.json"))

/** A folder of its own with the built package, its tarball and what a host would unpack. */
let scratch = ""
let unpacked = ""
let packedPaths: string[] = []

before(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "opencode-dcp-package-")))
  const staged = join(scratch, "staged")
  stagePackage(staged)
  packedPaths = packInto(scratch, staged)
  unpacked = join(scratch, "package")
})

after(() => rmSync(scratch, { recursive: true, force: true }))

test("the tarball holds the build, the schema, the documents and the bundled dependencies, nothing else", () => {
  const ours = packedPaths.filter((path) => !path.startsWith("node_modules/"))
  const documents = ["CHANGELOG.md", "LICENSE", "README.md", "dcp.schema.json", "package.json"]
  assert.deepEqual(ours.filter((path) => !path.startsWith("dist/")).toSorted(), documents)
  const built = /^dist\/(index|lib\/.+)\.(js|d\.ts)$/
  assert.deepEqual(
    ours.filter((path) => path.startsWith("dist/") && !built.test(path)),
    [],
  )
  const bundled = Object.entries(lock.packages).filter(([, locked]) => locked.inBundle)
  assert.deepEqual(
    [...new Set(packedPaths.flatMap(bundledPackageOf))].toSorted(),
    bundled.map(([path]) => path.replace("node_modules/", "")).toSorted(),
  )
})

test("every source file of the plugin is built into the tarball", () => {
  const sources = ["index.ts", ...filesUnder("lib")].filter((path) => path.endsWith(".ts"))
  assert.deepEqual(
    sources.map((path) => `dist/${path.replace(/\.ts$/, ".js")}`).filter((path) => !packedPaths.includes(path)),
    [],
  )
})

test("the file that the coverage gate leaves out holds types only", () => {
  const code = readFileSync(join(unpacked, "dist/lib/dtc/types.js"), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "")
  assert.match(code.trim(), /^export \{\};?$/)
})

test("installing the package runs no script", () => {
  const installScripts = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"]
  assert.deepEqual(
    installScripts.filter((name) => name in manifest.scripts),
    [],
  )
  const manifests = packedPaths.filter((packed) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(packed))
  assert.ok(manifests.length >= manifest.bundleDependencies.length)
  for (const path of manifests) {
    const { scripts = {} }: Partial<Manifest> = JSON.parse(readFileSync(join(unpacked, path), "utf8"))
    assert.deepEqual(
      installScripts.slice(0, 3).filter((name) => name in scripts),
      [],
      path,
    )
  }
  // npm compiles a package with such a file although no script says so.
  assert.deepEqual(
    packedPaths.filter((path) => /(^|\/)binding\.gyp$|\.(node|so|dll|dylib|exe|sh|wasm)$/.test(path)),
    [],
  )
})

test("every run-time dependency is bundled", () => {
  assert.deepEqual([...manifest.bundleDependencies].toSorted(), Object.keys(manifest.dependencies).toSorted())
  assert.equal(manifest.optionalDependencies, undefined)
  assert.equal(manifest.peerDependencies, undefined)
})

test("every entry point is in the tarball", () => {
  assert.deepEqual(
    [".", "./server", "./engine"].filter((entry) => !(entry in manifest.exports)),
    [],
  )
  const targets = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  )
  for (const target of [manifest.main, ...targets]) {
    assert.ok(packedPaths.includes(target.replace("./", "")), `${target} is missing from the tarball`)
  }
})

test("the unpacked tarball loads with nothing but what it bundles", () => {
  const loaded = probeUnpacked()
  assert.deepEqual(loaded.server, { exports: ["default"], id: "string", server: "function" })
  assert.equal(loaded.sameServer, true)
  assert.equal(loaded.projectMessages, "function")
  assert.deepEqual(Object.keys(loaded.dependencies).toSorted(), Object.keys(manifest.dependencies).toSorted())
  for (const [name, path] of Object.entries(loaded.dependencies)) {
    assert.ok(path.startsWith(join(unpacked, "node_modules")), `${name} was loaded from ${path}`)
  }
})

test("the program runs from the unpacked tarball: as npm would start it, its page included", () => {
  const program = join(unpacked, manifest.bin["opencode-dcp"] ?? "")
  assert.match(readFileSync(program, "utf8"), /^#!\/usr\/bin\/env node\n/)
  assert.equal(runProgram(program, "--version"), `${manifest.version}\n`)
  const message = { info: { id: "m", sessionID: "s", role: "user" }, parts: [] }
  writeFileSync(join(scratch, "session.json"), JSON.stringify([message]))
  runProgram(program, "explain", "session.json", "--limit", "20000,2000", "--html", "page.html")
  assert.match(readFileSync(join(scratch, "page.html"), "utf8"), /<script type="module">[^]*pointermove/)
})

test("the engine loads with nothing but the one library that it may use", () => {
  rmSync(join(scratch, "engine"), { recursive: true, force: true })
  cpSync(join(unpacked, "dist/lib/dtc"), join(scratch, "engine"), { recursive: true })
  cpSync(join(unpacked, "node_modules/image-size"), join(scratch, "engine/node_modules/image-size"), {
    recursive: true,
  })
  writeFileSync(join(scratch, "engine/package.json"), '{ "type": "module" }')
  const source = 'const engine = await import("./engine.js"); console.log(typeof engine.projectMessages)'
  assert.equal(runOutside(join(scratch, "engine"), source).trim(), "function")
})

test("packed files name no folder of the machine that built them", () => {
  const folders = [root, scratch, homedir()].map((folder) => folder.replace(/\/*$/, "/")).filter((at) => at !== "/")
  const written = packedPaths.filter((path) => !path.startsWith("node_modules/"))
  for (const path of written) {
    const text = readFileSync(join(unpacked, path), "utf8")
    assert.deepEqual(
      folders.filter((folder) => text.includes(folder)),
      [],
      path,
    )
  }
})

test("the build and the lock name no package registry", () => {
  const registry = /https?:\/\/[^\s"'`)]*(registry|artifactory|verdaccio|nexus|mirror)/i
  const built = packedPaths.filter((path) => /^(dist\/|package\.json$|dcp\.schema\.json$)/.test(path))
  assert.deepEqual(
    built.filter((path) => registry.test(readFileSync(join(unpacked, path), "utf8"))),
    [],
  )
  assert.doesNotMatch(read("package-lock.json"), registry)
  assert.deepEqual(
    Object.keys(lock.packages).filter((path) => lock.packages[path]?.resolved !== undefined),
    [],
  )
})

test("the lock repeats the manifest's engines, so that an install leaves it as it is", () => {
  assert.deepEqual(lock.packages[""]?.engines, manifest.engines)
})

test("the lock names every optional package of another platform, as `npm ci` demands", () => {
  const missing = Object.entries(lock.packages).flatMap(([path, locked]) =>
    Object.keys(locked.optionalDependencies ?? {})
      .filter((name) => !isLocked(path, name))
      .map((name) => `${path}: ${name}`),
  )
  assert.deepEqual(missing, [])
})

test("the changelog's newest version is the package's", () => {
  const newest = /^## \[?v?(\d+\.\d+\.\d+[^\]\s]*)/m.exec(read("CHANGELOG.md"))?.[1]
  assert.equal(newest, manifest.version)
  assert.equal(lock.packages[""]?.version, manifest.version)
})

/** The checkout as a packer sees it, built beside it so that no other test meets a half-written `dist`. */
function stagePackage(staged: string): void {
  const left = new Set(["node_modules", ".git", "dist", "coverage"])
  mkdirSync(staged)
  for (const name of readdirSync(root).filter((entry) => !left.has(entry))) {
    cpSync(join(root, name), join(staged, name), { recursive: true })
  }
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (locked.inBundle) cpSync(join(root, path), join(staged, path), { recursive: true })
  }
  const compiler = join(root, "node_modules/typescript/bin/tsc")
  for (const project of ["tsconfig.build.json", "lib/cli/page"]) {
    const args = [compiler, "-p", project, "--outDir", join(staged, "dist")]
    const build = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" })
    assert.equal(build.status, 0, build.stdout)
  }
}

/** Packs the staged folder, unpacks the tarball to `<into>/package` and returns the paths in it. */
function packInto(into: string, staged: string): string[] {
  const output = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", into], {
    cwd: staged,
    env: plainEnvironment(),
    encoding: "utf8",
  })
  const [packed]: { filename: string; files: { path: string }[] }[] = JSON.parse(output)
  assert.ok(packed, "npm pack reported no tarball")
  execFileSync("tar", ["-xzf", packed.filename], { cwd: into })
  return packed.files.map((file) => file.path)
}

interface Probe {
  server: { exports: string[]; id: string; server: string }
  sameServer: boolean
  projectMessages: string
  dependencies: Record<string, string>
}

/** Loads the unpacked package in a fresh process the way the host does, and says where its dependencies came from. */
function probeUnpacked(): Probe {
  const source = `
    import { createRequire } from "node:module"
    const { name, dependencies, main } = createRequire(import.meta.url)("./package.json")
    const server = await import(name + "/server")
    const byMain = await import(new URL(main, import.meta.url))
    const engine = await import("./dist/lib/dtc/engine.js")
    const resolve = createRequire(new URL("./dist/index.js", import.meta.url)).resolve
    const paths = {}
    for (const dependency of Object.keys(dependencies)) {
      await import(dependency)
      paths[dependency] = resolve(dependency)
    }
    console.log(JSON.stringify({
      server: { exports: Object.keys(server), id: typeof server.default.id, server: typeof server.default.server },
      sameServer: byMain.default === server.default,
      projectMessages: typeof engine.projectMessages,
      dependencies: paths,
    }))
  `
  const probe: Probe = JSON.parse(runOutside(unpacked, source))
  return probe
}

function runOutside(folder: string, source: string): string {
  const script = join(folder, "probe.mjs")
  writeFileSync(script, source)
  const result = spawnSync(process.execPath, [script], { cwd: folder, env: plainEnvironment(), encoding: "utf8" })
  rmSync(script)
  assert.equal(result.status, 0, result.stderr)
  return result.stdout
}

function runProgram(program: string, ...args: string[]): string {
  const env = { ...plainEnvironment(), HOME: scratch, XDG_CONFIG_HOME: scratch }
  return execFileSync(process.execPath, [program, ...args], { cwd: scratch, env, encoding: "utf8" })
}

/** The environment without what npm or a loader adds to it: a child must find its modules by its own place alone. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const added = /^(npm_|NODE_PATH$|NODE_OPTIONS$|NODE_V8_COVERAGE$|NODE_TEST_CONTEXT$)/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !added.test(name)))
}

function bundledPackageOf(path: string): string[] {
  const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
  return name === undefined ? [] : [name]
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesUnder(path) : [path]
  })
}

/** Node's search for `name` from the locked package at `from`: its own folder first, then each one above it. */
function isLocked(from: string, name: string): boolean {
  const path = from === "" ? `node_modules/${name}` : `${from}/node_modules/${name}`
  if (path in lock.packages) return true
  return from !== "" && isLocked(parentPackageOf(from), name)
}

function parentPackageOf(path: string): string {
  const at = path.lastIndexOf("/node_modules/")
  return at === -1 ? "" : path.slice(0, at)
}
