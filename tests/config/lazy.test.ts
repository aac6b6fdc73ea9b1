import assert from "node:assert/strict"
import { createRequire } from "node:module"
import path from "node:path"
import { test } from "node:test"
import { createSandbox } from "./sandbox.ts"

/** Alone in its file, so that nothing else in the process has loaded the validator. */
test("the validator is loaded only when there is a layer", async (t) => {
  const { cache } = createRequire(import.meta.url)
  const isLoaded = () => Object.keys(cache).some((file) => file.includes(path.join("node_modules", "ajv")))
  const sandbox = createSandbox(t)
  await sandbox.load()
  assert.equal(isLoaded(), false)
  await sandbox.load({ options: {} })
  assert.equal(isLoaded(), true)
})
