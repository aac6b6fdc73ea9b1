import { types } from "node:util"
import { Catalog } from "../../lib/catalog.ts"
import type { Config } from "../../lib/config/types.ts"
import { Dispatches } from "../../lib/dispatches.ts"
import { Controls } from "../../lib/dtc/state.ts"
import type { Message } from "../../lib/dtc/types.ts"
import { createHooks } from "../../lib/hooks.ts"
import type { Hooks } from "../../lib/host.ts"
import { Log } from "../../lib/log.ts"
import { Notices } from "../../lib/notices.ts"
import { createPruneTool } from "../../lib/tools/prune.ts"
import { answers, catalogWith, createClient, type ClientScript, type FakeClient } from "../helpers/client.ts"
import { bash, DEFAULT_POLICY, read, session, step, tokens, user } from "../helpers/history.ts"

/** Budgets of 2,500 and 168,000 tokens: the first is too small for `longHistory`, the second far too large to press. */
export const NARROW = { context: 3_000, output: 500 }
export const ROOMY = { context: 200_000, output: 131_072 }

export interface Instance {
  fake: FakeClient
  controls: Controls
  dispatches: Dispatches
  transform: (messages: unknown) => Promise<void>
  /** The hook as the host calls it, with whatever arguments. */
  call: (hook: HookName, ...args: unknown[]) => Promise<void>
  compacting: (sessionID: string) => Promise<void>
  params: (sessionID: string, agent: string) => Promise<void>
  deleted: (sessionID: string) => Promise<void>
  prune: (sessionID: string) => Promise<string>
  /** What became of each request, in order: `projected`, `forced`, or the reason why it was left alone. */
  outcomes: () => string[]
  /** Budgets of the projected requests, in order. */
  budgets: () => unknown[]
  advance: (milliseconds: number) => void
}

export type HookName = Exclude<keyof Hooks, "tool">
export const HOOK_NAMES: readonly HookName[] = [
  "experimental.chat.messages.transform",
  "experimental.session.compacting",
  "chat.message",
  "chat.params",
  "event",
  "dispose",
]

/** A plugin instance without files: a scripted client, a clock that the test moves, debug lines as the witness. */
export function startInstance(
  script: ClientScript = {},
  {
    models = {},
    outputTokenMax = 32_000,
    debug = true,
    notify = "off",
    dtc = {},
  }: Partial<Omit<Config, "dtc">> & { outputTokenMax?: number; dtc?: Partial<Config["dtc"]> } = {},
): Instance {
  const fake = createClient({ providers: answers(catalogWith(NARROW)), ...script })
  const stable = { stablePrefix: true, clearAtLeastRatio: 0, estimateMedia: true, calibrate: true }
  const settings = {
    ...DEFAULT_POLICY,
    ...stable,
    protectRecentSteps: 1,
    protectRecentTokens: 0,
    enabled: true,
    ...dtc,
  }
  const config: Config = { enabled: true, debug, dtc: settings, tool: { enabled: true, recall: true }, notify, models }
  const controls = new Controls()
  const dispatches = new Dispatches()
  const log = new Log(fake.client, debug, [])
  const notices = new Notices()
  let elapsedMs = 0
  const lookup = new Catalog({ client: fake.client, outputTokenMax, clock: () => elapsedMs })
  const hooks = createHooks({
    config,
    catalog: lookup,
    controls,
    dispatches,
    log,
    notices,
    outputTokenMax,
    now: () => 1_800_000_000_000,
  })
  const call: Instance["call"] = (name, ...args) => (hooks[name] as (...given: unknown[]) => Promise<void>)(...args)
  return {
    fake,
    controls,
    dispatches,
    call,
    transform: (messages) => call("experimental.chat.messages.transform", {}, { messages }),
    compacting: (sessionID) => call("experimental.session.compacting", { sessionID }, { context: [] }),
    params: (sessionID, agent) => call("chat.params", { sessionID, agent }, {}),
    deleted: (sessionID) =>
      call("event", { event: { type: "session.deleted", properties: { info: { id: sessionID } } } }),
    prune: (sessionID) => createPruneTool({ controls, log }).execute({}, { sessionID }),
    outcomes: () => requestLines(fake).map(({ message, extra }) => describeOutcome(message, extra)),
    budgets: () => requestLines(fake).flatMap(({ extra }) => (extra["stats"] ? [extra["stats"].inputBudget] : [])),
    advance: (milliseconds) => (elapsedMs += milliseconds),
  }
}

interface RequestLine {
  message: string
  extra: { reason?: string; forced?: boolean; stats?: { inputBudget: number } }
}

function requestLines(fake: FakeClient): RequestLine[] {
  const lines = fake.logged().filter(({ level, message }) => level === "debug" && message !== "request dispatched")
  return lines as unknown as RequestLine[]
}

function describeOutcome(message: string, { reason, forced }: RequestLine["extra"]): string {
  if (message === "request projected") return forced ? "forced" : "projected"
  return reason ?? `no reason given: ${message}`
}

/** One old read of 3,000 tokens that may be cleared, and a recent step that may not. */
export function longHistory(sessionID = "ses_1"): Message[] {
  const messages = session(user("go"), step(read("old.ts", tokens(3_000))), user("next"), step(bash("ls", "a")))
  for (const message of messages) message.info.sessionID = sessionID
  return messages
}

/** Own properties all the way down with the identity of every object, read without calling an accessor or a trap. */
export function createSnapshots(): (value: unknown) => unknown {
  const identities = new Map<object, number>()
  const identify = (object: object): number => {
    const known = identities.get(object) ?? identities.size
    identities.set(object, known)
    return known
  }
  const visit = (value: unknown, path: readonly object[]): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (types.isProxy(value) || path.includes(value)) return ["opaque", identify(value)]
    const fields = Reflect.ownKeys(value).map((key) => {
      const { value: field, ...flags } = Object.getOwnPropertyDescriptor(value, key) ?? {}
      return [key, flags, visit(field, [...path, value])]
    })
    return [identify(value), Object.isExtensible(value), fields]
  }
  return (value) => visit(value, [])
}
