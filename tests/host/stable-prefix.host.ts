import assert from "node:assert/strict"
import { test } from "node:test"
import { isRecord } from "./json.ts"
import type { Api, ModelRequest } from "./model-request.ts"
import { oneByOne, read, silentUsage } from "./model-script.ts"
import { readPluginLog } from "./plugin-log.ts"
import { pluginByFile, withOptions } from "./plugin.ts"
import { playScenario } from "./scenario.ts"
import { linesOfTokens } from "./small-window.ts"
import { assertPaired, assertWire } from "./wire-assertions.ts"

/*
 * 60 reads of 900 tokens each against a target of 20,000, which 23 steps reach. A batch frees 9,000 and a little more, used
 * up after eleven steps: 37 steps are left, so there are four batches.
 */
const STEPS = 60
const EXPECTED_BREAKS = 4
const LIMIT = { context: 44_000, output: 4_000 }
const OPTIONS = { debug: true, dtc: { targetRatio: 0.5, protectRecentTokens: 2_000 } }
const FILES = Object.fromEntries(
  Array.from({ length: STEPS }, (_, index) => [`file-${index}.txt`, linesOfTokens(850, `file-${index}`)]),
)

for (const api of ["openai", "anthropic"] as const)
  test(
    `stable prefix: each request begins with the one before it, but for the batches: ${api}`,
    { timeout: 180_000 },
    async () => {
      const providers = { scripted: { api, models: { standard: { limit: LIMIT } } } }
      const plugins = [withOptions(pluginByFile(), OPTIONS)]
      await playScenario(
        { files: FILES, providers, plugins, model: { usage: silentUsage }, config: { compaction: { auto: false } } },
        async ({ host, model, runTurn }) => {
          const { id } = await host.createSession()
          model.script("main", oneByOne(Object.keys(FILES).map((file, index) => read(file, `call_${index}`))))
          const requests = await runTurn(id, "Read every file, one after the other.")
          const main = requests.filter(({ lane }) => lane === "main")
          assert.equal(main.length, STEPS + 1)
          assertPaired(main)

          const log = readPluginLog(host.log)
          const sizes = log.filter(({ sessionID }) => sessionID === id).map(({ cleared }) => cleared.length)
          const batches = sizes.filter((size, index) => size > (sizes[index - 1] ?? 0)).length
          const broken = main.filter((request, index) => index > 0 && !startsWith(request, main[index - 1], api))
          assert.equal(broken.length, batches, "a break that is no batch, or a batch that the wire does not show")
          assert.equal(broken.length, EXPECTED_BREAKS)
          const last = main.at(-1)
          assert.ok(last)
          assertWire(last, sizes.at(-1) !== 0, "it was over target")
        },
      )
    },
  )

/** Byte for byte; `cache_control` aside, which the host moves along with the newest messages. */
function startsWith(request: ModelRequest, previous: ModelRequest | undefined, api: Api): boolean {
  const [messages, earlier] = [request, previous].map((one) => serialize(one?.body["messages"], api))
  return earlier?.every((message, index) => message === messages?.[index]) === true
}

function serialize(messages: unknown, api: Api): string[] {
  if (!Array.isArray(messages)) return []
  return messages.map((message) =>
    JSON.stringify(message, (key, value: unknown) =>
      api === "anthropic" && key === "cache_control" ? undefined : unwrap(key, value),
    ),
  )
}

/** A text that carries no `cache_control` any more may stand alone again where it stood in a list of one. */
function unwrap(key: string, value: unknown): unknown {
  if (key !== "content" || !Array.isArray(value) || value.length !== 1) return value
  const [only] = value as unknown[]
  return isRecord(only) && only["type"] === "text" ? only["text"] : value
}
