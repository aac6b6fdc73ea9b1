import { chooseHostBinary, type BinaryChoice } from "./host-binary.ts"
import { describeConfig, type ProviderSetup } from "./host-config.ts"
import { Host, type PromptOptions } from "./host.ts"
import { Home, type ProjectFiles } from "./home.ts"
import type { ModelRequest } from "./model-request.ts"
import { ModelServer, type ModelServerOptions } from "./model-server.ts"
import { pluginByFile, withOptions, type PluginEntry } from "./plugin.ts"
import { describeRequest } from "./request-summary.ts"
import { findToolParts } from "./stored.ts"
import { within } from "./wait.ts"
import { WireFault } from "./wire-assertions.ts"

export interface ScenarioSetup {
  files?: ProjectFiles
  model?: ModelServerOptions
  /** By provider id. Absent: `scripted`, OpenAI's API, with the one model `standard` of 200,000 tokens. */
  providers?: Record<string, ProviderSetup>
  /** `provider/model`; absent: the first of `providers`. */
  defaultModel?: string
  /** Options of the plugin that is built here, loaded by its file. */
  pluginOptions?: Record<string, unknown>
  /** In place of that plugin: a list, or what makes one from the home (a packed tarball). */
  plugins?: readonly PluginEntry[] | ((home: Home) => Promise<readonly PluginEntry[]>)
  config?: Record<string, unknown>
  env?: Record<string, string>
  binary?: BinaryChoice
  /** For `play`; absent: three minutes. */
  timeoutMs?: number
}

export interface Scenario {
  host: Host
  model: ModelServer
  home: Home
  /** Runs one turn to its end and gives back the requests that it made, of every lane. */
  runTurn: (sessionID: string, text: string, options?: PromptOptions) => Promise<ModelRequest[]>
}

const DEFAULT_PROVIDERS: Record<string, ProviderSetup> = {
  scripted: { api: "openai", models: { standard: { limit: { context: 200_000, output: 8_000 } } } },
}

/**
 * A host, a model endpoint and a project for the time of `play`. When it fails, the error says what the request at fault
 * sent and which tools did not complete. Whatever happens, nothing stays behind.
 */
export async function playScenario<T>(setup: ScenarioSetup, play: (scenario: Scenario) => Promise<T>): Promise<T> {
  const home = await Home.create(setup.files)
  const model = await ModelServer.start(setup.model)
  let host: Host | undefined
  try {
    host = await startHost(setup, home, model)
    const started = host
    const scenario: Scenario = {
      host,
      model,
      home,
      runTurn: (sessionID, text, options) => runTurn(started, model, sessionID, text, options),
    }
    return await within("the scenario", setup.timeoutMs ?? 180_000, play(scenario))
  } catch (error) {
    const report = await describeFailure(error, model, host)
    throw new Error(report, { cause: error })
  } finally {
    await host?.stop()
    await model.close()
    home.remove()
  }
}

async function startHost(setup: ScenarioSetup, home: Home, model: ModelServer): Promise<Host> {
  const binary = await chooseHostBinary(home, setup.binary)
  const providers = setup.providers ?? DEFAULT_PROVIDERS
  const config = describeConfig({
    baseURL: model.baseURL,
    providers,
    model: setup.defaultModel ?? firstModel(providers),
    plugins: await choosePlugins(setup, home),
    ...(setup.config === undefined ? {} : { extra: setup.config }),
  })
  return Host.start({ home, binary, config, ...(setup.env === undefined ? {} : { env: setup.env }) })
}

async function choosePlugins(setup: ScenarioSetup, home: Home): Promise<readonly PluginEntry[]> {
  if (typeof setup.plugins === "function") return setup.plugins(home)
  return setup.plugins ?? [withOptions(pluginByFile(), setup.pluginOptions)]
}

function firstModel(providers: Record<string, ProviderSetup>): string {
  const [id, provider] = Object.entries(providers)[0] ?? []
  return `${id}/${Object.keys(provider?.models ?? {})[0]}`
}

async function runTurn(
  host: Host,
  model: ModelServer,
  sessionID: string,
  text: string,
  options?: PromptOptions,
): Promise<ModelRequest[]> {
  const before = model.requests.length
  await host.prompt(sessionID, text, options)
  await host.waitUntilIdle(sessionID)
  return model.requests.slice(before)
}

async function describeFailure(error: unknown, model: ModelServer, host: Host | undefined): Promise<string> {
  const message = describeError(error)
  const suspect = error instanceof WireFault ? error.request : model.requests.at(-1)
  const sections = [message]
  if (suspect !== undefined) sections.push(describeRequest(suspect, findPrevious(model, suspect)))
  if (host !== undefined) {
    sections.push(await describeUnfinishedTools(host, model))
    sections.push(
      `the host's log, warnings and what plugins wrote:\n${findNotableLines(host.log).slice(-20).join("\n")}`,
    )
  }
  return sections.join("\n\n")
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}\n  because: ${describeError(error.cause)}`
}

const findPrevious = (model: ModelServer, request: ModelRequest): ModelRequest | undefined =>
  model.requestsOf(request.lane, request.sessionID).findLast((one) => one.number < request.number)

async function describeUnfinishedTools(host: Host, model: ModelServer): Promise<string> {
  const lines: string[] = []
  for (const sessionID of new Set(model.requests.map((request) => request.sessionID)))
    for (const part of findToolParts(await host.readMessages(sessionID).catch(() => []))) {
      if (part.state.status === "completed") continue
      const reason = part.state.status === "error" ? `: ${part.state.error}` : ""
      lines.push(`  ${part.callID} ${part.tool} ${JSON.stringify(part.state.input)} is ${part.state.status}${reason}`)
    }
  return lines.length === 0 ? "every tool completed" : `tools that did not complete:\n${lines.join("\n")}`
}

/** A source map is a line of many thousand characters. */
const LONGEST_SHOWN_LINE = 1_500

/** Without the host's own lines of level INFO. */
const findNotableLines = (log: string): string[] =>
  log
    .split("\n")
    .filter((line) => line !== "" && (!/^timestamp=\S+ level=INFO/.test(line) || /dcp/i.test(line)))
    .map((line) => line.slice(0, LONGEST_SHOWN_LINE))
