import { spawn } from "node:child_process"
import { accessSync, closeSync, constants, openSync, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import type { Readable } from "node:stream"
import { disownProcess, ownProcess } from "./leftovers.ts"
import { within } from "./wait.ts"

export interface RunResult {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  cwd: string
  env: Record<string, string>
  /** Takes the output in place of a pipe, for programs that end before a slow reader has emptied the pipe. */
  stdoutFile?: string
  timeoutMs?: number
}

/** Runs a program to its end; a program that does not end is killed and reported. */
export async function run(file: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const sink = options.stdoutFile === undefined ? undefined : openSync(options.stdoutFile, "w")
  const child = spawn(file, args, { cwd: options.cwd, env: options.env, stdio: ["ignore", sink ?? "pipe", "pipe"] })
  if (sink !== undefined) closeSync(sink)
  if (child.pid !== undefined) ownProcess(child.pid)
  const stdout = collectText(child.stdout)
  const stderr = collectText(child.stderr)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", resolve)
  })
  try {
    const code = await within(`${file} ${args.join(" ")}`, options.timeoutMs ?? 60_000, ended)
    const written = options.stdoutFile === undefined ? stdout() : readFileSync(options.stdoutFile, "utf8")
    return { code, stdout: written, stderr: stderr() }
  } finally {
    child.kill("SIGKILL")
    if (child.pid !== undefined) disownProcess(child.pid)
  }
}

function collectText(stream: Readable | null): () => string {
  const chunks: Buffer[] = []
  stream?.on("data", (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString("utf8")
}

/** Where `name` stands on PATH. */
export function findExecutable(name: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The host's grep and glob need it; without it the host would try to download it. */
export const hasRipgrep = (): boolean => findExecutable("rg") !== undefined
