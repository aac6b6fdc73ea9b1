/** The 2.x host as far as a plugin of the context hook can tell: it loads `setup`, lowers rows, calls hooks, sends. */
import type { CatalogDraft, ContextEvent, SetupContext, SetupModule } from "../../lib/host2/types.ts"
import { HostMessage, lowerRows, type Dialect } from "./lowering.ts"
import type { ModelRef, Row } from "./rows.ts"

export interface HostSetup {
  options?: Record<string, unknown>
  directory?: string
  /** By provider, then model: the entry as the catalog states it, or only its limit. `none`: the host has no catalog. */
  catalog?: Record<string, Record<string, unknown>> | "none"
  dialect?: Dialect
}

export interface Dispatch {
  rows: readonly Row[]
  model?: ModelRef
  sessionID?: string
  /** The host ends the request with its own text when the agent's steps are used up. */
  lastStep?: boolean
}

export interface TwoHost {
  context: SetupContext
  load: (plugin: SetupModule) => Promise<void>
  /** Lowers the rows, calls the hooks one after the other, and gives back what it sends: the event's messages. */
  dispatch: (request: Dispatch) => Promise<HostMessage[]>
  /** Calls the hooks with any event. */
  callHooks: (event: unknown) => Promise<void>
  /** Shows the catalog again, as after a change. */
  reloadCatalog: (catalog: Record<string, Record<string, unknown>>) => void
}

export const MODEL: ModelRef = { providerID: "lab", id: "lab-1" }
export const NARROW = { context: 3_000, output: 500 }

export function createHost({
  options = {},
  directory,
  catalog = { lab: { "lab-1": NARROW } },
  dialect,
}: HostSetup = {}): TwoHost {
  const hooks: ((event: ContextEvent) => Promise<void>)[] = []
  const readers: ((draft: CatalogDraft) => void)[] = []
  let known = catalog === "none" ? {} : catalog
  const context: SetupContext = {
    options,
    session: {
      hook: async (_name, callback) => {
        hooks.push(callback)
        return { dispose: async () => undefined }
      },
    },
    ...(directory !== undefined && { location: { directory } }),
    ...(catalog !== "none" && {
      catalog: {
        transform: async (callback: (draft: CatalogDraft) => void) => {
          readers.push(callback)
          callback(draftOf(known))
          return { dispose: async () => undefined }
        },
      },
    }),
  }
  const callHooks = async (event: unknown): Promise<void> => {
    for (const hook of hooks) await hook(event as ContextEvent)
  }
  return {
    context,
    load: (plugin) => plugin.setup(context),
    callHooks,
    async dispatch(request) {
      const event = createEvent(request, dialect)
      await callHooks(event)
      return event.messages as HostMessage[]
    },
    reloadCatalog(changed) {
      known = changed
      for (const read of readers) read(draftOf(known))
    },
  }
}

/** The event that a request's rows become. */
export function createEvent(
  { rows, model = MODEL, sessionID = "ses_1", lastStep = false }: Dispatch,
  dialect: Dialect = "2.x",
): ContextEvent & Record<string, unknown> {
  const ending = lastStep ? [new HostMessage({ role: "assistant", content: [{ type: "text", text: LAST_STEP }] })] : []
  return {
    sessionID,
    agent: "build",
    model: { ...model },
    system: [{ type: "text", text: "You are an agent." }],
    messages: [...lowerRows(structuredClone(rows as Row[]), model, dialect), ...ending],
    tools: {},
    options: {},
  }
}

const LAST_STEP = "CRITICAL - MAXIMUM STEPS REACHED"

function draftOf(catalog: Record<string, Record<string, unknown>>): CatalogDraft {
  return {
    provider: {
      list: () =>
        Object.entries(catalog).map(([providerID, models]) => ({
          provider: { id: providerID },
          models: new Map(Object.entries(models).map(([id, entry]) => [id, describeEntry(providerID, id, entry)])),
        })),
    },
  }
}

function describeEntry(providerID: string, id: string, entry: unknown): unknown {
  const isLimit = typeof entry === "object" && entry !== null && "context" in entry
  return isLimit ? { id, providerID, name: id, enabled: true, limit: entry } : entry
}
