import { policyFor } from "./config/policy.ts"
import type { Config, Limit } from "./config/types.ts"
import type { Catalog, CatalogEntry } from "./catalog.ts"
import type { BudgetSource, Dispatches, RequestKey } from "./dispatches.ts"
import { planProjection } from "./dtc/engine.ts"
import { fieldOf } from "./dtc/plain.ts"
import type { Controls } from "./dtc/state.ts"
import type { Message, Model, ProjectionPlan } from "./dtc/types.ts"
import type { Hooks } from "./host.ts"
import type { Log } from "./log.ts"
import { explainBatch, type Notices } from "./notices.ts"
import { describeRecord } from "./records.ts"
import { findInputBudget, identifyRequest, type RequestIdentity, type SkipReason } from "./request.ts"

/** Part of every session's life; said only when debugging. */
const ORDINARY_REASONS: ReadonlySet<SkipReason> = new Set(["empty-history", "native-compaction"])

export interface HookRooms {
  config: Config
  catalog: Catalog
  controls: Controls
  dispatches: Dispatches
  log: Log
  notices: Notices
  outputTokenMax: number
  /** Milliseconds since the epoch. */
  now: () => number
}

interface Skipped {
  reason: SkipReason
  sessionID?: string
  model?: Model
  budgetFrom?: BudgetSource
  projection?: ProjectionPlan
}

interface Projected {
  projection: ProjectionPlan
  sessionID: string
  model: Model
  budgetFrom: BudgetSource
  forced: boolean
}

/**
 * The hooks around one request. Contract: none of them throws or rejects, since the host fails the user's request on it,
 * and a request is either projected completely or left as it was.
 */
export function createHooks(rooms: HookRooms): Hooks {
  return {
    "experimental.chat.messages.transform": quietly(async (_input: unknown, output: { messages: Message[] }) => {
      rooms.log.showDiagnostics()
      const outcome = await projectOrSkip(rooms, output)
      report(rooms.log, outcome)
      prepareRecord(rooms, output.messages, outcome)
      if (!("reason" in outcome)) announce(rooms, outcome)
    }),
    "experimental.session.compacting": quietly((input: unknown) => {
      if (!rooms.controls.armGuard(readSessionID(input))) rooms.log.warnOnce(GUARD_LOST)
    }),
    "chat.message": quietly((input: unknown) => {
      const sessionID = readSessionID(input)
      if (sessionID !== undefined) rooms.dispatches.acceptPrompt(sessionID)
    }),
    "chat.params": quietly((input: unknown) => {
      const sessionID = readSessionID(input)
      if (sessionID === undefined) return
      // The compaction's own request follows its transform: a guard that is still there has missed it.
      if (fieldOf(input, "agent") === "compaction") rooms.controls.takeGuard(sessionID)
      else if (fieldOf(input, "agent") !== "title") recordDispatch(rooms, readKey(sessionID, input))
    }),
    event: quietly((input: unknown) => {
      const event = fieldOf(input, "event")
      const sessionID = fieldOf(fieldOf(fieldOf(event, "properties"), "info"), "id")
      if (fieldOf(event, "type") !== "session.deleted" || typeof sessionID !== "string") return
      rooms.controls.forget(sessionID)
      rooms.dispatches.forget(sessionID)
      rooms.notices.forget(sessionID)
    }),
    dispose: quietly(() => {
      rooms.controls.forgetAll()
      rooms.dispatches.forgetAll()
      rooms.notices.forgetAll()
    }),
  }
}

const GUARD_LOST = "a compaction could not be guarded: clearing stops until the host's instance is reloaded"

async function projectOrSkip(rooms: HookRooms, output: { messages: Message[] }): Promise<Projected | Skipped> {
  try {
    return await projectRequest(rooms, output)
  } catch {
    return { reason: "failed" }
  }
}

/** Who asks, under which budget; then one segment without an await: look again, project, commit. */
async function projectRequest(rooms: HookRooms, output: { messages: Message[] }): Promise<Projected | Skipped> {
  const { messages } = output
  const identity = admit(rooms.controls, messages)
  if ("reason" in identity) return identity

  const known = rooms.catalog.recall(identity.model)
  const entry = known ?? (await rooms.catalog.ask(identity.model))
  const change = known ? undefined : findChange(output, messages, identity)
  if (change) return { reason: change, sessionID: identity.sessionID }
  return projectAndCommit(rooms, messages, identity, entry)
}

interface Admitted extends RequestIdentity {
  model: Model
}

function admit(controls: Controls, messages: unknown): Admitted | Skipped {
  const identity = identifyRequest(messages)
  if (typeof identity === "string") return { reason: identity }
  const { sessionID, model } = identity
  if (controls.takeGuard(sessionID)) return { reason: "native-compaction", sessionID }
  return model ? { sessionID, model } : { reason: "unknown-model", sessionID }
}

function projectAndCommit(
  { config, controls, now, outputTokenMax }: HookRooms,
  messages: Message[],
  { sessionID, model }: Admitted,
  entry: CatalogEntry | undefined,
): Projected | Skipped {
  if (controls.halted) return { reason: "guard-capacity", sessionID }
  const { policy, limit } = policyFor(config, model)
  const requested = entry?.model ?? model
  const budget = findBudget(entry, limit, outputTokenMax)
  if (!budget) return { reason: "unavailable-budget", sessionID, model: requested }

  const { inputBudget, budgetFrom } = budget
  const forced = controls.hasPendingClear(sessionID)
  const options = { model: requested, inputBudget, policy, force: forced, now: now() }
  const projection = planProjection(messages, options)
  commit(messages, projection)
  const { skipped } = projection.stats
  const outcome = { projection, sessionID, model: requested, budgetFrom }
  if (skipped && projection.cleared.length === 0) return { reason: "unknown-content", ...outcome }
  if (forced && !skipped) controls.consumeClear(sessionID)
  return { ...outcome, forced }
}

/** What the catalog says comes first: a configured limit is for models that it has none for. */
function findBudget(
  entry: CatalogEntry | undefined,
  limit: Limit | undefined,
  outputTokenMax: number,
): { inputBudget: number; budgetFrom: BudgetSource } | undefined {
  if (entry?.inputBudget !== undefined) return { inputBudget: entry.inputBudget, budgetFrom: "catalog" }
  const inputBudget = limit && findInputBudget(limit, outputTokenMax)
  return inputBudget === undefined ? undefined : { inputBudget, budgetFrom: "configuration" }
}

/** The host went on while the catalog was asked: the array, its owner and the model must still be what they were. */
function findChange(output: { messages: Message[] }, messages: Message[], before: Admitted): SkipReason | undefined {
  const after = identifyRequest(messages)
  if (output.messages !== messages || typeof after === "string" || after.sessionID !== before.sessionID)
    return "request-changed"
  const sameModel = after.model?.providerID === before.model.providerID && after.model.modelID === before.model.modelID
  return sameModel ? undefined : "model-changed"
}

/** Puts the changed messages into the host's own array: it keeps that one, a new array would never reach the wire. */
function commit(messages: Message[], { marked }: ProjectionPlan): void {
  for (const { messageIndex, message } of marked) messages[messageIndex] = message
}

function report(log: Log, outcome: Projected | Skipped): void {
  if ("reason" in outcome) {
    const { projection: _projection, ...request } = outcome
    log.debug("request left as it was", request)
    if (!ORDINARY_REASONS.has(outcome.reason)) log.warnOnce(explainSkip(outcome))
    return
  }
  const { projection, ...request } = outcome
  log.debug("request projected", { ...request, stats: projection.stats, cleared: projection.cleared })
}

/** After the commit, so that what is said has happened as far as this plugin can make it happen. */
function announce({ config, log, notices }: HookRooms, { projection, sessionID }: Projected): void {
  const batch = notices.findBatch(sessionID, projection)
  if (batch) log.announce(explainBatch(batch), { sessionID, ...batch }, config.notify === "toast")
}

/** For the tools; a native compaction is no request of the conversation. What cannot be described must not leave an older map. */
function prepareRecord(rooms: HookRooms, messages: Message[], outcome: Projected | Skipped): void {
  try {
    describeOutcome(rooms, messages, outcome)
  } catch {
    rooms.dispatches.prepareUnattributed("failed")
  }
}

function describeOutcome({ dispatches, log }: HookRooms, messages: Message[], outcome: Projected | Skipped): void {
  const { sessionID } = outcome
  const reason = "reason" in outcome ? outcome.reason : undefined
  if (reason === "native-compaction") return
  if (sessionID === undefined) return dispatches.prepareUnattributed(reason ?? "failed")
  const record = describeRecord(messages, { ...outcome, sessionID })
  if (!record.map && reason === undefined) log.warnOnce(UNTOLD_SOURCES)
  dispatches.prepare(record)
}

const UNTOLD_SOURCES = "where the messages of a request come from cannot be told, so there is no source map of it"

function recordDispatch({ dispatches, log }: HookRooms, key: RequestKey): void {
  const record = dispatches.dispatch(key)
  if (record) log.debug("request dispatched", { sessionID: key.sessionID, ...record.map })
}

/** For users: what a reason means and what would help, where something would. */
const EXPLANATIONS: Readonly<Partial<Record<SkipReason, (model: string) => string>>> = {
  "unavailable-budget": (model) =>
    `no token limits for ${model} in the host's catalog, so nothing is cleared; models["${model}"].limit in dcp.jsonc can state them`,
  "unknown-content": () =>
    "a request holds content of unknown size, such as an image, so nothing is cleared while it is there",
}

function explainSkip({ reason, model }: Skipped): string {
  const explanation = EXPLANATIONS[reason]?.(`${model?.providerID}/${model?.modelID}`)
  return explanation ?? `requests are left as they were: ${reason}`
}

function quietly<Args extends unknown[]>(
  hook: (...args: Args) => void | Promise<void>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    try {
      await hook(...args)
    } catch {
      // Whatever went wrong here is no reason to fail the user's request.
    }
  }
}

/** `undefined` also when the input cannot be read: a compaction that cannot be guarded must not go unnoticed. */
function readSessionID(input: unknown): string | undefined {
  try {
    const sessionID = fieldOf(input, "sessionID")
    return typeof sessionID === "string" ? sessionID : undefined
  } catch {
    return undefined
  }
}

function readKey(sessionID: string, input: unknown): RequestKey {
  const model = fieldOf(input, "model")
  return {
    sessionID,
    promptID: readText(fieldOf(fieldOf(input, "message"), "id")),
    agent: readText(fieldOf(input, "agent")),
    providerID: readText(fieldOf(model, "providerID")),
    modelID: readText(fieldOf(model, "id")),
  }
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}
