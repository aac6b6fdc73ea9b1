import assert from "node:assert/strict"
import { createRequire } from "node:module"
import path from "node:path"
import test from "node:test"
import { registerContextHook } from "../../lib/host2/setup.ts"
import { createHost } from "./host.ts"
import { longRows } from "./stories.ts"

/** Alone in its file, so that nothing else in the process has loaded the validator. */
test("the empty options of a host that was given none are no layer, so that nothing is loaded to validate them", async () => {
  const { cache } = createRequire(import.meta.url)
  const isLoaded = (): boolean => Object.keys(cache).some((file) => file.includes(path.join("node_modules", "ajv")))
  const surroundings = { env: { XDG_CONFIG_HOME: "/nowhere" }, home: "/nowhere", workingDirectory: () => "/nowhere" }
  for (const [options, loaded] of [
    [{}, false],
    [{ debug: false }, true],
  ] as const) {
    const host = createHost({ options })
    await registerContextHook(host.context, surroundings)
    await host.dispatch({ rows: longRows() })
    assert.equal(isLoaded(), loaded)
  }
})
