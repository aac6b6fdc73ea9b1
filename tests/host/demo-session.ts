import { createDemoProject, scriptDemo } from "./demo-project.ts"
import { hasRipgrep } from "./executables.ts"
import type { ModelRequest } from "./model-request.ts"
import { readPluginLog, type LoggedClear, type LoggedRequest } from "./plugin-log.ts"
import { playScenario, type ScenarioSetup } from "./scenario.ts"
import type { StoredMessage } from "./stored.ts"

const LIMIT = { context: 64_000, output: 8_000 }

/** What the model accepts as input. */
export const BUDGET_TOKENS = LIMIT.context - LIMIT.output

export interface DemoSession {
  hostVersion: string
  /** The throw-away home that it ran in. */
  folder: string
  requests: ModelRequest[]
  /** The plugin's own account, one entry per request. */
  logged: LoggedRequest[]
  /** How many requests had been sent when `before` was read. */
  requestsBefore: number
  /** What the database held before anything was cleared, and at the end. */
  before: StoredMessage[]
  after: StoredMessage[]
  summaries: number
}

export interface FirstClear extends LoggedClear {
  /** Index of the first request that left the output out. */
  requestIndex: number
}

export async function runDemoSession(): Promise<DemoSession> {
  const setup: ScenarioSetup = {
    files: createDemoProject(),
    providers: { demo: { api: "openai", models: { scripted: { limit: LIMIT } } } },
    pluginOptions: { debug: true },
  }
  return playScenario(setup, async ({ host, model, home, runTurn }) => {
    const { explore, fix } = scriptDemo(hasRipgrep())
    const { id } = await host.createSession("demo")
    model.script("main", explore)
    await runTurn(id, "Totals are sometimes one cent off. Look around first.")
    const requestsBefore = model.requestsOf("main", id).length
    const before = (await host.exportSession(id)).messages
    model.script("main", fix)
    await runTurn(id, "Now find the place and check each module.")
    const after = (await host.exportSession(id)).messages
    return {
      hostVersion: host.binary.version,
      folder: home.root,
      requests: model.requestsOf("main", id),
      logged: readPluginLog(host.log),
      requestsBefore,
      before,
      after,
      summaries: model.requestsOf("compaction", id).length,
    }
  })
}

/** Each cleared output once, at the request that cleared it first. */
export function findFirstClears({ logged }: DemoSession): FirstClear[] {
  const known = new Set<string>()
  return logged.flatMap(({ cleared }, requestIndex) => {
    const fresh = cleared.filter(({ callID }) => !known.has(callID))
    for (const { callID } of fresh) known.add(callID)
    return fresh.map((one) => ({ ...one, requestIndex }))
  })
}
