import { homedir } from "node:os"
import { Catalog } from "./lib/catalog.ts"
import { loadConfig } from "./lib/config/load.ts"
import { Controls } from "./lib/dtc/state.ts"
import { Dispatches } from "./lib/dispatches.ts"
import { createHooks } from "./lib/hooks.ts"
import type { Hooks, PluginInput, PluginModule, ToolDefinition } from "./lib/host.ts"
import { registerContextHook } from "./lib/host2/setup.ts"
import type { SetupContext, SetupModule } from "./lib/host2/types.ts"
import { Log } from "./lib/log.ts"
import { Notices } from "./lib/notices.ts"
import { PRUNE_TOOL } from "./lib/dtc/wire-texts.ts"
import { findOutputTokenMax } from "./lib/request.ts"
import { createPruneTool } from "./lib/tools/prune.ts"
import { createRecallTool } from "./lib/tools/recall.ts"
import { createStatusTool } from "./lib/tools/status.ts"

/**
 * The only export of this module: the host's older loader calls every export as a plugin. OpenCode 1.x calls `server` and
 * ignores `setup`, 2.x the other way round.
 */
const plugin: PluginModule & SetupModule = { id: "opencode-dcp", server, setup }

export default plugin

/** Reads the configuration and awaits nothing of the host. */
async function server({ client, directory }: PluginInput, options?: unknown): Promise<Hooks> {
  const { env } = process
  const { config, diagnostics, layers } = await loadConfig({ directory, options, env, home: homedir() })
  const log = new Log(client, config.debug, diagnostics)
  log.debug("loaded", { enabled: config.enabled && config.dtc.enabled, layers })
  if (!config.enabled || !config.dtc.enabled) return {}

  const controls = new Controls()
  const outputTokenMax = findOutputTokenMax(env)
  const catalog = new Catalog({ client, outputTokenMax, clock: () => performance.now() })
  const notices = new Notices()
  const dispatches = new Dispatches()
  const hooks = createHooks({
    config,
    catalog,
    controls,
    dispatches,
    log,
    notices,
    outputTokenMax,
    now: () => Date.now(),
  })
  if (!config.tool.enabled) return hooks
  const { recall } = config.tool
  const tool: Record<string, ToolDefinition> = {
    [PRUNE_TOOL]: createPruneTool({ controls, log }),
    dcp_status: createStatusTool({ dispatches, recall }),
    ...(recall && { dcp_recall: createRecallTool({ client, dispatches }) }),
  }
  return { ...hooks, tool }
}

/** Registers the context hook; the configuration is read when the first request needs it. */
async function setup(context: SetupContext): Promise<void> {
  const { env } = process
  await registerContextHook(context, { env, home: homedir(), workingDirectory: () => process.cwd() })
}
