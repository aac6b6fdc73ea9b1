import { AsyncLocalStorage } from "node:async_hooks"
import { describeDiagnostic } from "./config/problems.ts"
import type { Diagnostic } from "./config/types.ts"
import type { HostClient, LogBody, ToastBody } from "./host.ts"
import { printable, printableCopy } from "./printable.ts"

const SERVICE = "opencode-dcp"
const REMEMBERED_MESSAGES = 256

/** The host's log and toasts. Nothing here is awaited, and no failure of either has an effect. Metadata only, no texts. */
export class Log {
  private readonly client: HostClient
  private readonly debugging: boolean
  private readonly said = new Set<string>()

  private unshown: readonly Diagnostic[]

  /** Writes one line per diagnostic at once; the toasts wait for `showDiagnostics`. */
  constructor(client: HostClient, debugging: boolean, diagnostics: readonly Diagnostic[]) {
    this.client = client
    this.debugging = debugging
    this.unshown = diagnostics
    for (const diagnostic of diagnostics) this.warn(describeDiagnostic(diagnostic))
  }

  debug(message: string, extra: Record<string, unknown>): void {
    if (this.debugging) this.write({ level: "debug", message, extra })
  }

  /** Names the plugin, since the host's log does not. */
  warn(message: string, extra?: Record<string, unknown>): void {
    this.write({ level: "warn", message: `${SERVICE}: ${message}`, ...(extra && { extra }) })
  }

  /** One line, and one toast when that is wanted: for what the user did not ask for but may want to know. */
  announce(message: string, extra: Record<string, unknown>, toast: boolean): void {
    this.write({ level: "info", message: `${SERVICE}: ${message}`, extra })
    if (toast) this.toast(message, "info")
  }

  /** Says each message once per plugin instance, as long as it is among the latest ones: some name a model. */
  warnOnce(message: string, extra?: Record<string, unknown>): void {
    if (this.said.has(message)) return
    const [oldest] = this.said
    if (oldest !== undefined && this.said.size >= REMEMBERED_MESSAGES) this.said.delete(oldest)
    this.said.add(message)
    this.warn(message, extra)
  }

  /** One toast per file that has a problem, once. For the first request: before it, no user interface may be listening. */
  showDiagnostics(): void {
    const diagnostics = this.unshown
    this.unshown = []
    for (const file of new Set(diagnostics.map((diagnostic) => diagnostic.file))) {
      const [first, ...others] = diagnostics.filter((diagnostic) => diagnostic.file === file).map(describeDiagnostic)
      this.toast(others.length > 0 ? `${first} (and ${others.length} more, see the log)` : `${first}`, "warning")
    }
  }

  private toast(message: string, variant: ToastBody["variant"]): void {
    attempt(() => this.client.tui.showToast({ body: { title: SERVICE, message: printable(message), variant } }))
  }

  private write(body: Omit<LogBody, "service">): void {
    attempt(() => this.client.app.log({ body: { service: SERVICE, ...body, ...describePrintable(body) } }))
  }
}

/** Names come from files and sessions, and a log may be read in a terminal. */
function describePrintable({ message, extra }: Pick<LogBody, "message" | "extra">): Pick<LogBody, "message" | "extra"> {
  return { message: printable(message), ...(extra && { extra: printableCopy(extra) }) }
}

/** True inside everything that a call to the host sets off, so that a host whose log runs a hook gets no endless chain of lines. */
const calling = new AsyncLocalStorage<true>()

function attempt(call: () => Promise<unknown>): void {
  if (calling.getStore()) return
  try {
    calling.run(true, () => Promise.resolve(call())).catch(() => undefined)
  } catch {
    // The client itself failed; there is nowhere left to say so.
  }
}
