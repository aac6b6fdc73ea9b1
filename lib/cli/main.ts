#!/usr/bin/env node
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { runCommand } from "./command.ts"
import type { Stream } from "./console.ts"

/** Whoever reads the output may stop before its end, as `head` does. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error
})

process.exitCode = await runCommand(process.argv.slice(2), {
  cwd: process.cwd(),
  home: homedir(),
  env: process.env,
  out: streamOf(process.stdout),
  err: streamOf(process.stderr),
  readInput: () => process.stdin,
  readPageScript: () => readFile(new URL("page/browser.js", import.meta.url), "utf8"),
  clock: () => performance.now(),
})

function streamOf(stream: NodeJS.WriteStream): Stream {
  return { write: (text) => void stream.write(text), isTTY: stream.isTTY }
}
