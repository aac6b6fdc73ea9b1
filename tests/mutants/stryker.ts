import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { availableParallelism, tmpdir } from "node:os"
import path from "node:path"

/** The last line for Node 20. No dependency of the project: npm fetches its hundred packages when somebody asks for mutants. */
export const STRYKER = "@stryker-mutator/core@9.0.1"

export interface StrykerRun {
  /** Repository root. */
  root: string
  /** From the root, with `/`. */
  file: string
  /** Where verdicts and the report are kept. */
  room: string
  concurrency: number
  /** Verdicts until then stand; no report is written. */
  limitMs: number
}

/** Runs every mutant of one file. Answers whether it came to the end. */
export async function runStryker(run: StrykerRun): Promise<boolean> {
  mkdirSync(run.room, { recursive: true })
  const config = path.join(run.room, "stryker.json")
  writeFileSync(config, JSON.stringify(describeRun(run), undefined, 2))
  const stryker = spawn("npm", ["exec", "--yes", `--package=${STRYKER}`, "--", "stryker", "run", config], {
    cwd: run.root,
    detached: true,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      // The sandbox stands outside the repository, and its link to `node_modules` comes after the bundle.
      NODE_PATH: path.join(run.root, "node_modules"),
      MUTANTS_ROOM: run.room,
      MUTANTS_FILE: path.basename(run.file, ".ts"),
      FUZZ_SEED: "1",
      LAW_RUNS: "300",
    },
  })
  const timer = setTimeout(() => stryker.pid && process.kill(-stryker.pid, "SIGINT"), run.limitMs)
  const code = await new Promise((resolve) => stryker.once("exit", resolve))
  clearTimeout(timer)
  return code === 0
}

function describeRun({ file, room, concurrency }: StrykerRun): object {
  return {
    mutate: [file],
    ignorePatterns: ["docs", "bench", "dist", "coverage", "tests/host", "tests/page"],
    tempDirName: path.join(tmpdir(), "opencode-dcp-mutants"),
    cleanTempDir: "always",
    buildCommand: describeBundling().map(escapeSpaces).join(" "),
    testRunner: "command",
    commandRunner: { command: "node --max-old-space-size=1500 trial.cjs" },
    // With every run counted, the millions of values that the tests of plain data look at take minutes.
    dryRunTimeoutMinutes: 30,
    // A test that hangs ends itself much earlier.
    timeoutMS: 120_000,
    coverageAnalysis: "off",
    concurrency: Math.min(concurrency, availableParallelism()),
    reporters: ["json"],
    jsonReporter: { fileName: path.join(room, "report.json") },
    plugins: [],
    // Stryker would rewrite it with the compiler's interface of TypeScript 5.
    tsconfigFile: "no-tsconfig.json",
    thresholds: { high: 100, low: 90, break: null },
  }
}

/** The command that makes `trial.cjs`, to be run at the root of the sandbox. */
export function describeBundling(): string[] {
  return [
    findEsbuild(),
    "tests/mutants/trial.ts",
    "--bundle",
    "--platform=node",
    "--format=cjs",
    "--outfile=trial.cjs",
    "--log-level=warning",
    "--alias:node:test=./tests/mutants/registry.ts",
  ]
}

/** The one that tsx brings. */
function findEsbuild(): string {
  const require = createRequire(import.meta.url)
  return createRequire(require.resolve("tsx/package.json")).resolve("esbuild/bin/esbuild")
}

function escapeSpaces(file: string): string {
  return file.replaceAll(" ", String.raw`\ `)
}
