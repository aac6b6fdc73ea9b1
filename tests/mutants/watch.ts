import { Worker } from "node:worker_threads"
import type { Verdict } from "./verdicts.ts"

/** Of its own thread: a loop without end leaves no turn to a timer of the thread it runs in. */
const SOURCE = `
  const { parentPort } = require("node:worker_threads")
  const { appendFileSync } = require("node:fs")
  let timer
  parentPort.on("message", ({ limitMs, verdictsFile, verdict }) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      appendFileSync(verdictsFile, JSON.stringify(verdict) + "\\n")
      process.kill(process.pid, "SIGKILL")
    }, limitMs)
  })`

/** Ends the process when a test does not end. */
export class Watch {
  private readonly verdictsFile: string
  private readonly mutant: string
  private readonly worker = new Worker(SOURCE, { eval: true })

  constructor(verdictsFile: string, mutant: string) {
    this.verdictsFile = verdictsFile
    this.mutant = mutant
  }

  /** From now on, until the next call. */
  expect(test: string, limitMs: number): void {
    const verdict: Verdict = { mutant: this.mutant, outcome: "timeout", test }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    this.worker.postMessage({ limitMs, verdictsFile: this.verdictsFile, verdict })
  }
}
