import { readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"

/**
 * What would stay behind if this process ended now: throw-away folders and the processes that live in them. A folder is
 * the owner of every process whose environment names it, so that shells which outlive a killed host are found too.
 */
const folders = new Set<string>()
const processes = new Set<number>()
let watching = false

export function ownFolder(folder: string): void {
  folders.add(folder)
  watchForTheEnd()
}

export function ownProcess(pid: number): void {
  processes.add(pid)
  watchForTheEnd()
}

export function disownProcess(pid: number): void {
  processes.delete(pid)
}

export function removeFolder(folder: string): void {
  for (const pid of findProcessesOf(folder)) killQuietly(pid)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  folders.delete(folder)
}

/** Processes whose environment names `folder`. Linux only; elsewhere the list is empty. */
export function findProcessesOf(folder: string): number[] {
  if (process.platform !== "linux") return []
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .filter((entry) => readQuietly(join("/proc", entry, "environ")).includes(folder))
    .map(Number)
}

/** Everything still owned, for the claim that nothing is left behind. */
export function findLeftovers(): { folders: string[]; processes: number[] } {
  return { folders: [...folders], processes: [...processes] }
}

function watchForTheEnd(): void {
  if (watching) return
  watching = true
  process.once("exit", removeEverything)
  for (const [signal, number] of [["SIGINT", 2] as const, ["SIGTERM", 15] as const, ["SIGHUP", 1] as const])
    process.once(signal, () => process.exit(128 + number))
}

function removeEverything(): void {
  for (const pid of processes) killQuietly(pid)
  for (const folder of folders) removeFolder(folder)
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended already.
  }
}

function readQuietly(file: string): string {
  try {
    return readFileSync(file, "latin1")
  } catch {
    return ""
  }
}
