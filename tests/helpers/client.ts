import assert from "node:assert/strict"
import type { HostClient, LogBody, MessageRequest, ToastBody } from "../../lib/host.ts"

export type Endpoint = (options: { signal: AbortSignal }) => unknown

/** What the host's used endpoints do; those left out answer at once. */
export interface ClientScript {
  providers?: Endpoint
  log?: () => unknown
  showToast?: () => unknown
  message?: (options: MessageRequest) => unknown
}

export interface HostCall {
  /** Dotted: `config.providers`. */
  endpoint: string
  argument: unknown
}

export interface FakeClient {
  client: HostClient
  calls: readonly HostCall[]
  countOf: (endpoint: string) => number
  logged: () => LogBody[]
  toasted: () => ToastBody[]
  /** The plugin asks, reads single messages, logs and shows toasts. Everything else that a client offers could write or stop something. */
  assertNothingWritten: () => void
}

const USED_ENDPOINTS: ReadonlySet<string> = new Set(["app.log", "config.providers", "session.message", "tui.showToast"])

/** A host client that has every endpoint one may call, and keeps the name of each that was called. */
export function createClient({ providers, log, showToast, message }: ClientScript = {}): FakeClient {
  const calls: HostCall[] = []
  const scripted: Record<string, ((argument: never) => unknown) | undefined> = {
    "config.providers": providers,
    "app.log": log,
    "tui.showToast": showToast,
    "session.message": message,
  }
  const endpointAt = (endpoint: string): object =>
    new Proxy(() => undefined, {
      get: (_target, key) =>
        typeof key === "symbol" || key === "then" ? undefined : endpointAt(endpoint ? `${endpoint}.${key}` : key),
      apply: (_target, _this, [argument]: unknown[]) => {
        calls.push({ endpoint, argument })
        const answer = scripted[endpoint] ?? (() => Promise.resolve({ data: true }))
        return answer(argument as never)
      },
    })
  const bodiesOf = (endpoint: string): unknown[] =>
    calls.filter((call) => call.endpoint === endpoint).map(({ argument }) => (argument as { body: unknown }).body)
  return {
    client: endpointAt("") as HostClient,
    calls,
    countOf: (endpoint) => calls.filter((call) => call.endpoint === endpoint).length,
    logged: () => bodiesOf("app.log") as LogBody[],
    toasted: () => bodiesOf("tui.showToast") as ToastBody[],
    assertNothingWritten() {
      const others = calls.filter(({ endpoint }) => !USED_ENDPOINTS.has(endpoint))
      assert.deepEqual(others, [], "the plugin called an endpoint that it must not touch")
    },
  }
}

export const answers =
  (value: unknown): Endpoint =>
  () =>
    Promise.resolve(value)
export const rejects: Endpoint = () => Promise.reject(new Error("the host refused"))
export const throws: Endpoint = () => {
  throw new Error("the client is broken")
}
export const neverAnswers: Endpoint = () => new Promise(() => undefined)

export interface LateEndpoint {
  endpoint: Endpoint
  /** Settles the oldest call that still waits. */
  answer: (value: unknown) => void
  refuse: () => void
}

/** Answers when the test says so. */
export function answersLate(): LateEndpoint {
  const waiting: PromiseWithResolver[] = []
  const next = (): PromiseWithResolver => {
    const oldest = waiting.shift()
    assert.ok(oldest, "no call is waiting for an answer")
    return oldest
  }
  return {
    endpoint: () => new Promise((resolve, reject) => waiting.push({ resolve, reject })),
    answer: (value) => next().resolve(value),
    refuse: () => next().reject(new Error("the host refused, late")),
  }
}

interface PromiseWithResolver {
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

type Fields = Record<string, unknown>

/** A model of the catalog, under the name that `helpers/history.ts` uses. */
export const entry = (limit: unknown, fields: Fields = {}): Fields => ({
  id: "lab-1",
  providerID: "lab",
  limit,
  ...fields,
})
export const provider = (models: Fields, fields: Fields = {}): Fields => ({ id: "lab", models, ...fields })
export const catalog = (...providers: unknown[]): Fields => ({ data: { providers, default: {} } })

/** The whole answer for a host that knows one model. */
export const catalogWith = (limit: unknown): Fields => catalog(provider({ "lab-1": entry(limit) }))
