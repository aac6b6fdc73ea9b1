import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Artifact } from "./binary-check-identity.ts"
import { writeJson } from "./binary-check-report.ts"
import { playExplicitCancel, playSlowToolDuringCompaction, type Check, type Play } from "./continuity-checks.ts"
import { findRuntimes, nativeMode, NATIVE_PROVIDERS } from "./continuity-setup.ts"
import { parseJson } from "./json.ts"
import { pluginByFile, withOptions } from "./plugin.ts"
import { playScenario, type Scenario } from "./scenario.ts"

export interface Mode {
  name: "AI SDK" | "Native LLM"
  /** As the host's log calls it. */
  runtime: "ai-sdk" | "native"
  flags: Record<string, string>
}

export const MODES: readonly Mode[] = [
  { name: "AI SDK", runtime: "ai-sdk", flags: {} },
  { name: "Native LLM", runtime: "native", flags: nativeMode },
]

const CHECKS: Record<string, (play: Play) => Promise<Check[]>> = {
  "slow tool during automatic compaction": playSlowToolDuringCompaction,
  "explicit cancel": playExplicitCancel,
}

export interface CaseResult {
  check: string
  mode: Mode
  plugin: boolean
  passed: boolean
  checks: Check[]
  /** What kept the checks from being made. */
  error: string | undefined
  durationMs: number
  /** In the output folder: configuration, history and model requests. */
  evidence: string
}

export const describeMode = ({ name }: Mode, plugin: boolean): string => `${name}, plugin ${plugin ? "on" : "off"}`

/** Both checks, one after the other, each with a configuration and a database of its own; a failure ends neither. */
export async function runWorker(
  artifact: Artifact,
  mode: Mode,
  plugin: boolean,
  output: string,
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for (const [check, play] of Object.entries(CHECKS)) {
    const evidence = `${[check, describeMode(mode, plugin)]
      .join(" ")
      .toLowerCase()
      .replace(/[^a-z]+/g, "-")}.json`
    const started = Date.now()
    const { checks, error, ...recorded } = await runCase(artifact, mode, plugin, play)
    const passed = error === undefined && checks.length > 0 && checks.every(({ holds }) => holds)
    const result = { check, mode, plugin, passed, checks, error, durationMs: Date.now() - started, evidence }
    writeJson(output, evidence, { ...result, artifact, ...recorded })
    results.push(result)
  }
  return results
}

interface CaseRecord {
  checks: Check[]
  error: string | undefined
  config?: unknown
  history?: unknown
  modelRequests?: unknown
  events?: unknown
  log?: readonly string[]
}

async function runCase(
  { file, version }: Artifact,
  mode: Mode,
  plugin: boolean,
  play: (play: Play) => Promise<Check[]>,
): Promise<CaseRecord> {
  const setup = {
    binary: { file, supported: { from: version, before: "9999.0.0" } },
    providers: NATIVE_PROVIDERS,
    plugins: plugin ? [withOptions(pluginByFile(), { debug: true })] : [],
    config: { compaction: { tail_turns: 0 } },
    env: mode.flags,
  }
  const record: CaseRecord = { checks: [], error: undefined }
  try {
    await playScenario(setup, async (scenario) => {
      const caught = await play(scenario).then(
        (checks) => void (record.checks = checks),
        (error: unknown) => error,
      )
      record.checks.push(checkRuntime(scenario, mode))
      Object.assign(record, await collectEvidence(scenario))
      if (caught !== undefined) throw caught
    })
  } catch (error) {
    record.error = error instanceof Error ? error.message : String(error)
  }
  return record
}

function checkRuntime({ host }: Scenario, { runtime }: Mode): Check {
  const found = findRuntimes(host)
  return { claim: `the host spoke to the model through ${runtime}`, holds: found.join() === runtime, found }
}

async function collectEvidence({ host, model, home }: Scenario): Promise<Partial<CaseRecord>> {
  const sessions = [...new Set(model.requests.map(({ sessionID }) => sessionID))]
  return {
    config: parseJson(readFileSync(join(home.project, "opencode.json"), "utf8")),
    history: await Promise.all(
      sessions.map(async (sessionID) => ({ sessionID, messages: await host.readMessages(sessionID).catch(String) })),
    ),
    modelRequests: model.requests,
    events: host.events.all.filter(({ type }) => type.startsWith("session.")),
    log: host.log
      .split("\n")
      .filter((line) => !/ level=DEBUG /.test(line) || /dcp|request (projected|left)/.test(line)),
  }
}
