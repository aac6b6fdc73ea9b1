/** Runs a session on both hosts where everything that reaches out is a trap from before the plugin is loaded; prints what happened. */
import type { MessageRequest } from "../../lib/host.ts"
import { withTraps } from "./traps.ts"

const [directory = ""] = process.argv.slice(2)
const outcome: Record<string, unknown> = {}

outcome["called"] = await withTraps(async () => {
  await runSession()
  await runContextHook()
})
process.stdout.write(JSON.stringify(outcome))

async function runSession(): Promise<void> {
  const { default: plugin } = await import("../../index.ts")
  const { answers, catalogWith, createClient } = await import("./client.ts")
  const { clearedTargets } = await import("./history.ts")
  const { longHistory } = await import("../hooks/instance.ts")
  const { client, calls } = createClient({
    providers: answers(catalogWith({ context: 3_000, output: 500 })),
    message: async ({ path }: MessageRequest) => ({
      data: longHistory(path.id).find(({ info }) => info.id === path.messageID),
    }),
  })
  const hooks = await plugin.server({ client, directory }, { dtc: { protectRecentTokens: 0 } })
  const transform = hooks["experimental.chat.messages.transform"]
  const cleared: string[] = []
  const answersOf = async (name: string, sessionID: string) =>
    hooks.tool?.[name]?.execute({ tool: "read", input: "old" }, { sessionID })
  for (const sessionID of ["ses_1", "ses_2", "ses_1"]) {
    await hooks["chat.message"]?.({ sessionID }, {})
    const messages = longHistory(sessionID)
    await transform?.({}, { messages })
    await hooks["chat.params"]?.({ sessionID, agent: "build" }, {})
    cleared.push(...clearedTargets(messages))
    outcome["recalled"] = (await answersOf("dcp_recall", sessionID))?.includes("lorem ipsum")
    outcome["told"] = (await answersOf("dcp_status", sessionID))?.includes("Cleared: 1 output")
    await hooks["experimental.session.compacting"]?.({ sessionID }, {})
    await transform?.({}, { messages: longHistory(sessionID) })
    await hooks["chat.params"]?.({ sessionID, agent: "compaction" }, {})
    await answersOf("dcp_prune", sessionID)
  }
  await transform?.({}, { messages: [{ odd: true }] as never })
  await hooks.event?.({ event: { type: "session.deleted", properties: { info: { id: "ses_1" } } } })
  await hooks.dispose?.()
  outcome["cleared"] = cleared
  outcome["endpoints"] = [...new Set(calls.map(({ endpoint }) => endpoint))].toSorted()
}

async function runContextHook(): Promise<void> {
  const { default: plugin } = await import("../../index.ts")
  const { createHost } = await import("../host2/host.ts")
  const { longRows } = await import("../host2/stories.ts")
  const host = createHost({ directory, options: { dtc: { protectRecentTokens: 0 } } })
  await host.load(plugin)
  const sent = await host.dispatch({ rows: longRows() })
  outcome["clearedOnTwo"] = JSON.stringify(sent).includes("[Old tool result content cleared]")
}
