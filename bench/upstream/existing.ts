import { cpSync, rmSync, writeFileSync } from "node:fs"
import { run } from "../../tests/host/executables.ts"
import type { HostBinary } from "../../tests/host/host-binary.ts"
import { Home } from "../../tests/host/home.ts"
import { describeBudget, makeHistory, SESSION_ID } from "../history.ts"
import { CONTESTANTS, readHookTimes, type Contestant, type Installed } from "./contestants.ts"
import { sumByTransform } from "./hook-times.ts"
import { withMeasuredHost } from "./measured-host.ts"

const OUTPUT_TOKENS = 8_000
const CREATED = 1_700_000_000_000

/** What a plugin costs that meets a session for the first time, after a start of the host, and then knows it. */
export interface FirstCalls {
  /** From the prompt to the request, of the first and of the second prompt. */
  promptMs: number[]
  /** In all hooks, up to the request. */
  hooksMs: number[]
}

/** By contestant, of `rounds` starts of the host each, on the same stored session. */
export async function measureExisting(
  messages: number,
  rounds: number,
  { binary, installed }: Omit<Setup, "contestant">,
): Promise<Record<Contestant, FirstCalls[]>> {
  const home = await Home.create()
  const calls: Record<Contestant, FirstCalls[]> = { none: [], ours: [], upstream: [] }
  try {
    await importHistory(home, binary, messages)
    cpSync(home.path("data"), home.path("stored"), { recursive: true })
    for (let round = 0; round < rounds; round++)
      for (const contestant of CONTESTANTS) {
        rmSync(home.path("data"), { recursive: true })
        cpSync(home.path("stored"), home.path("data"), { recursive: true })
        const measured = await measureFirstCalls(home, messages, { binary, contestant, installed })
        calls[contestant].push(measured)
        const [prompts, hooks] = [measured.promptMs, measured.hooksMs].map((times) => times.map(Math.round).join(", "))
        console.log(`${messages} messages, ${contestant}: ${prompts} ms from prompt to request, ${hooks} ms in hooks`)
      }
    return calls
  } finally {
    home.remove()
  }
}

interface Setup {
  binary: HostBinary
  contestant: Contestant
  installed: Installed
}

function measureFirstCalls(home: Home, messages: number, setup: Setup): Promise<FirstCalls> {
  const limit = { context: describeBudget(messages) + OUTPUT_TOKENS, output: OUTPUT_TOKENS }
  return withMeasuredHost({ ...setup, home, limit }, async ({ host, tap }) => {
    const calls: FirstCalls = { promptMs: [], hooksMs: [] }
    for (const [index, text] of ["Go on.", "Go on again."].entries()) {
      const start = performance.now()
      await host.prompt(SESSION_ID, text)
      await host.waitUntilIdle(SESSION_ID)
      const arrivedMs = tap.passages[index]?.arrivedMs
      if (arrivedMs === undefined || tap.passages.length !== index + 1) throw new Error("not one request for a prompt")
      calls.promptMs.push(arrivedMs - start)
    }
    calls.hooksMs = sumByTransform(readHookTimes(home))
    return calls
  })
}

/** As `opencode import` reads what `opencode export` wrote. */
async function importHistory(home: Home, binary: HostBinary, messages: number): Promise<void> {
  const file = home.path("tmp", "session.json")
  const info = {
    id: SESSION_ID,
    slug: "bench",
    projectID: "global",
    directory: home.project,
    title: "bench",
    version: binary.version,
    time: { created: CREATED, updated: CREATED },
  }
  writeFileSync(file, JSON.stringify({ info, messages: makeHistory(messages) }))
  const result = await run(binary.file, ["import", file, "--pure"], { cwd: home.project, env: home.env })
  if (result.code !== 0) throw new Error(`the session could not be imported: ${result.stdout} ${result.stderr}`)
}
