import assert from "node:assert/strict"
import { test } from "node:test"
import type { Home } from "./home.ts"
import type { Api } from "./model-request.ts"
import { bash, oneByOne, read, silentUsage } from "./model-script.ts"
import { pluginByFile, pluginByFolder, pluginByTarball, withOptions, type PluginEntry } from "./plugin.ts"
import { playScenario } from "./scenario.ts"
import { ONE_CLEAR_FILES, ONE_CLEAR_LIMIT, providerWith, TARGET_RATIO } from "./small-window.ts"
import {
  assertClearedExactly,
  assertPaired,
  assertSentInFull,
  assertStoredUnchanged,
  assertWire,
} from "./wire-assertions.ts"

/*
 * Sizes in tokens: unique 2.5k, each of three repeated reads 5k, then small steps, then a step of 4k. The history is
 * 18.4k before that step and 22.4k after it, and one repeated read frees 5k. A target of 19.9k is crossed by the last
 * step only and met by one clear, also when an estimate is a tenth off.
 */
const OPTIONS = { debug: true, dtc: { targetRatio: TARGET_RATIO, protectRecentTokens: 2_000 } }

const ways: { name: string; api: Api; load: (home: Home) => Promise<string> }[] = [
  { name: "loaded by its file, OpenAI's API", api: "openai", load: async () => pluginByFile() },
  { name: "loaded as a packed tarball, Anthropic's API", api: "anthropic", load: pluginByTarball },
  { name: "loaded as a folder, OpenAI's API", api: "openai", load: async () => pluginByFolder() },
]

for (const { name, api, load } of ways)
  test(`the old duplicate goes, the unique and the newest outputs stay: ${name}`, { timeout: 180_000 }, async () => {
    const plugins = async (home: Home): Promise<PluginEntry[]> => [withOptions(await load(home), OPTIONS)]
    const providers = { scripted: providerWith(api, { standard: ONE_CLEAR_LIMIT }) }
    const setup = { files: ONE_CLEAR_FILES, providers, plugins, model: { usage: silentUsage } }
    await playScenario(setup, async ({ host, model, runTurn }) => {
      const { id } = await host.createSession()
      const looking = [
        read("unique.txt", "unique"),
        ...["first", "second", "third"].map((call) => read("repeated.txt", call)),
      ]
      model.script("main", oneByOne([...looking, ...["a", "b", "c"].map((call) => bash(`echo ${call}`, call))]))
      const calm = await runTurn(id, "Read what is there.")
      for (const request of calm) assertClearedExactly(request, [])
      const before = await host.exportSession(id)

      model.script("main", oneByOne([read("newest.txt", "newest")]))
      const [fits, projected] = await runTurn(id, "Read one more.")
      assert.ok(fits !== undefined && projected !== undefined)
      const stored = await host.readMessages(id)
      assertClearedExactly(fits, [])
      assertClearedExactly(projected, ["first"])
      for (const call of ["unique", "second", "third", "a", "b", "c", "newest"])
        assertSentInFull(projected, call, stored)
      assertPaired(model.requests)
      assertWire(projected, projected.api === api, `it speaks ${api}`)
      assert.deepEqual(model.strayRequests, [])

      const after = await host.exportSession(id)
      assert.ok(before.messages.length > 0)
      assertStoredUnchanged(before.messages, after.messages)
      assertStoredUnchanged(after.messages, stored)
    })
  })
