import assert from "node:assert/strict"
import { test } from "node:test"
import { policyFor } from "../../lib/config/policy.ts"
import { createSandbox } from "./sandbox.ts"

const GLOBAL = "home/.config/opencode/dcp.jsonc"
const PROJECT = "home/project/.opencode/dcp.jsonc"

const models = {
  "*/*": { protectRecentSteps: 1, protectRecentTokens: 1, targetRatio: 0.1 },
  "acme/*": { protectRecentSteps: 2, protectRecentTokens: 2 },
  "acme/one": { protectRecentSteps: 3 },
  "acme/org/two:free": { protectRecentSteps: 4 },
}

/** Steps, tokens and ratio that count for a model. */
const precedence: [providerID: string, modelID: string, expected: [number, number, number]][] = [
  ["other", "one", [1, 1, 0.1]],
  ["acme", "unlisted", [2, 2, 0.1]],
  ["acme", "one", [3, 2, 0.1]],
  ["acme", "ONE", [2, 2, 0.1]],
  ["acme", "org/two:free", [4, 2, 0.1]],
  ["acme", "*", [2, 2, 0.1]],
  ["acme/org", "two:free", [1, 1, 0.1]],
  ["", "", [1, 1, 0.1]],
  ["__proto__", "constructor", [1, 1, 0.1]],
]
for (const [providerID, modelID, expected] of precedence)
  test(`the entries for ${providerID}/${modelID} merge to ${JSON.stringify(expected)}`, async (t) => {
    const { config, diagnostics } = await createSandbox(t).load({ options: { models } })
    const { policy } = policyFor(config, { providerID, modelID })
    assert.deepEqual([policy.protectRecentSteps, policy.protectRecentTokens, policy.targetRatio], expected)
    assert.deepEqual(diagnostics, [])
  })

test("without an entry the policy is dtc without its switch, and there is no limit", async (t) => {
  const { config } = await createSandbox(t).load({ options: { dtc: { targetRatio: 0.4 } } })
  assert.deepEqual(policyFor(config, { providerID: "acme", modelID: "one" }), {
    policy: {
      protectRecentSteps: 4,
      protectRecentTokens: 16000,
      targetRatio: 0.4,
      minimumSavingsTokens: 512,
      protectedTools: [],
      stablePrefix: true,
      clearAtLeastRatio: 0.3,
      estimateMedia: true,
      calibrate: true,
    },
  })
})

test("an entry of any layer wins over dtc of any layer", async (t) => {
  const sandbox = createSandbox(t)
  sandbox.write(GLOBAL, { models: { "*/*": { targetRatio: 0.2 } } })
  sandbox.write(PROJECT, { dtc: { targetRatio: 0.9 } })
  const { config } = await sandbox.load({ options: { dtc: { targetRatio: 0.8 } } })
  assert.equal(policyFor(config, { providerID: "acme", modelID: "one" }).policy.targetRatio, 0.2)
})

test("the layers' entries for one model merge field by field, a limit as a whole", async (t) => {
  const sandbox = createSandbox(t)
  const limit = { context: 1000, input: 900, output: 100 }
  sandbox.write(GLOBAL, { models: { "acme/one": { targetRatio: 0.2, protectedTools: ["read"], limit } } })
  sandbox.write(PROJECT, {
    models: { "acme/one": { protectedTools: ["grep"], limit: { context: 500, output: 50 } } },
  })
  const { policy, limit: effective } = policyFor((await sandbox.load()).config, { providerID: "acme", modelID: "one" })
  assert.equal(policy.targetRatio, 0.2)
  assert.deepEqual(policy.protectedTools, ["grep"])
  assert.deepEqual(effective, { context: 500, output: 50 })
})

test("the limit of the most exact entry that has one counts", async (t) => {
  const wide = { context: 1000, input: 900, output: 100 }
  const exact = { context: 500, output: 50 }
  const { config } = await createSandbox(t).load({
    options: { models: { "*/*": { limit: wide }, "acme/*": { targetRatio: 0.5 }, "acme/one": { limit: exact } } },
  })
  assert.deepEqual(policyFor(config, { providerID: "acme", modelID: "one" }).limit, exact)
  assert.deepEqual(policyFor(config, { providerID: "acme", modelID: "two" }).limit, wide)
})

test("an invalid limit leaves the lower layer's limit", async (t) => {
  const sandbox = createSandbox(t)
  const limit = { context: 1000, output: 100 }
  sandbox.write(GLOBAL, { models: { "acme/one": { limit } } })
  sandbox.write(PROJECT, {
    models: { "acme/one": { targetRatio: 0.3, limit: { context: 500, input: -1, output: 5 } } },
  })
  const { policy, limit: effective } = policyFor((await sandbox.load()).config, { providerID: "acme", modelID: "one" })
  assert.deepEqual(effective, limit)
  assert.equal(policy.targetRatio, 0.3)
})

test("a policy is fresh: to change it leaves the configuration as it is", async (t) => {
  const { config } = await createSandbox(t).load()
  policyFor(config, { providerID: "a", modelID: "b" }).policy.targetRatio = 0.1
  assert.equal(policyFor(config, { providerID: "a", modelID: "b" }).policy.targetRatio, 0.7)
})
