import assert from "node:assert/strict"
import { test } from "node:test"
import { findRuntimes, nativeMode, NATIVE_PROVIDERS } from "./continuity-setup.ts"
import type { ProviderSetup } from "./host-config.ts"
import { findClearedCallIDs, type ModelRequest } from "./model-request.ts"
import { bash, fixedUsage, oneByOne, read } from "./model-script.ts"
import { readPluginLog } from "./plugin-log.ts"
import { playScenario } from "./scenario.ts"
import { accountFor, protecting } from "./session-account.ts"
import { linesOfTokens } from "./small-window.ts"
import { assertWire } from "./wire-assertions.ts"

/*
 * A budget of 20k tokens, a target of 14k. The five pages are 18k with the second copy of "a", of which the newest two
 * steps stay.
 */
const FILES = Object.fromEntries("abcde".split("").map((name) => [`${name}.txt`, linesOfTokens(3_000, name)]))
const PROTECTION = { steps: 2, tokens: 4_000 }
const READING = [
  ...oneByOne("abc".split("").map((name) => read(`${name}.txt`, name))),
  { tools: [read("a.txt", "a-again"), bash("echo look", "look")] },
  ...oneByOne("de".split("").map((name) => read(`${name}.txt`, name))),
]

/** Every switch of the host that could change how it builds or sends a request, all at once. */
const EXPERIMENTS = Object.fromEntries(
  [
    "",
    "_BACKGROUND_SUBAGENTS",
    "_CODE_MODE",
    "_EVENT_SYSTEM",
    "_PARALLEL",
    "_PLAN_MODE",
    "_REFERENCES",
    "_WORKSPACES",
  ].map((name) => [`OPENCODE_EXPERIMENTAL${name}`, "1"]),
)

interface Variant {
  env: Record<string, string>
  /** What the model says it may answer; the host's switch can lower that. */
  outputLimit: number
  runtime: string
  /** A tool that is offered only when the variant is in force. */
  offers?: string
}

const PLAIN: Variant = { env: {}, outputLimit: 4_000, runtime: "ai-sdk" }
const NATIVE: Variant = { env: nativeMode, outputLimit: 4_000, runtime: "native" }
const FLAGGED: Variant = {
  env: { ...EXPERIMENTS, OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX: "4000" },
  outputLimit: 8_000,
  runtime: "ai-sdk",
  offers: "websearch",
}

test("Native LLM and experimental flags: the same clearing on the wire", { timeout: 480_000 }, async () => {
  const [plain, native] = await Promise.all([PLAIN, NATIVE].map(playReading))
  const flagged = await playReading(FLAGGED)
  assert.deepEqual(native, plain, "Native LLM mode against the AI SDK")
  assert.deepEqual(flagged, plain, "experimental flags against none")
})

/** By provider and request, the calls that were cleared; the log, the wire and the store agree about them. */
async function playReading({ env, outputLimit, runtime, offers }: Variant): Promise<Record<string, string[][]>> {
  const limit = { context: 24_000, output: outputLimit }
  const providers = Object.fromEntries(
    Object.entries(NATIVE_PROVIDERS).map(([id, { api }]): [string, ProviderSetup] => [
      id,
      { api, models: { standard: { limit } } },
    ]),
  )
  const setup = {
    files: FILES,
    providers,
    env,
    timeoutMs: 220_000,
    model: { usage: fixedUsage(2_000) },
    pluginOptions: { debug: true, dtc: protecting(PROTECTION) },
  }
  return playScenario(setup, async (scenario) => {
    const { host, model, runTurn } = scenario
    const cleared: Record<string, string[][]> = {}
    for (const [provider, { api }] of Object.entries(providers)) {
      const { id } = await host.createSession()
      model.script("main", READING, id)
      const requests = await runTurn(id, "Read all pages.", { model: `${provider}/standard` })
      const last = requests.at(-1)
      assert.ok(last !== undefined)
      for (const request of requests) assertAnswerLimit(request, 4_000)
      const tools = JSON.stringify(last.body["tools"])
      if (offers !== undefined) assertWire(last, tools.includes(`"${offers}"`), `the host offers ${offers}`)
      assertWire(last, last.api === api, `it speaks ${api}`)
      assertWire(last, findClearedCallIDs(last).includes("a"), "the older copy is cleared")
      await accountFor(scenario, id, PROTECTION)
      cleared[provider] = requests.map(findClearedCallIDs)
    }
    assert.deepEqual(findRuntimes(host), [runtime])
    assert.deepEqual([...new Set(readPluginLog(host.log).map(({ stats }) => stats["inputBudget"]))], ["20000"])
    return cleared
  })
}

/** Native LLM mode does not always name a limit; where one is named, it must be the one that the budget is made from. */
function assertAnswerLimit(request: ModelRequest, tokens: number): void {
  const asked = request.body["max_tokens"] ?? request.body["max_completion_tokens"] ?? tokens
  assertWire(request, asked === tokens, `it asks for at most ${tokens} tokens, not ${JSON.stringify(asked)}`)
}
