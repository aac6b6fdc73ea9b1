import { loadConfig } from "../config/load.ts"
import type { Config } from "../config/types.ts"
import { isRecord } from "../dtc/plain.ts"
import { findOutputTokenMax } from "../request.ts"
import { ContextCatalog } from "./catalog.ts"
import { createContextHook } from "./context-hook.ts"
import type { SetupContext } from "./types.ts"

/** What the plugin takes from its surroundings. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  /** Absolute path of the user's home directory. */
  home: string
  /** Stands in for a host that names no directory. */
  workingDirectory: () => string
}

/**
 * Registers the context hook and touches nothing else of the host before that. A host that has no such hook, as OpenCode
 * 1.18's own loader of this form, is left alone. It never rejects.
 */
export async function registerContextHook(context: SetupContext, surroundings: Surroundings): Promise<void> {
  try {
    const hook = createContextHook(createRooms(context, surroundings))
    await context.session?.hook("context", async (event) => {
      await hook(event)
    })
  } catch {
    // The host offers something else under that name, or refuses: nothing is projected.
  }
}

function createRooms(
  context: SetupContext,
  { env, home, workingDirectory }: Surroundings,
): Parameters<typeof createContextHook>[0] {
  const outputTokenMax = findOutputTokenMax(env)
  let loading: Promise<Config> | undefined
  const load = async (): Promise<Config> => {
    const directory = findDirectory(context) ?? workingDirectory()
    const { config } = await loadConfig({ directory, options: findOptions(context), env, home })
    return config
  }
  return {
    catalog: new ContextCatalog({ context, outputTokenMax }),
    loadConfig: () => (loading ??= load()),
    outputTokenMax,
  }
}

function findDirectory({ location }: SetupContext): string | undefined {
  const directory = location?.directory
  return typeof directory === "string" && directory !== "" ? directory : undefined
}

/** The host hands over an empty object where its configuration gives no options. */
function findOptions({ options }: SetupContext): unknown {
  return isRecord(options) && Object.keys(options).length === 0 ? undefined : options
}
