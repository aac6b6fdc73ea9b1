import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { Ajv } from "ajv"
import fc from "fast-check"
import { OPTIONS_FILE } from "../../lib/config/load.ts"
import { policyFor } from "../../lib/config/policy.ts"
import { describeDiagnostic } from "../../lib/config/problems.ts"
import { SCHEMA, defaultTree, loadValidate } from "../../lib/config/schema.ts"
import type { SchemaNode } from "../../lib/config/expected.ts"
import type { Config, Limit, ModelEntry } from "../../lib/config/types.ts"
import type { Policy } from "../../lib/dtc/types.ts"
import { createSandbox } from "./sandbox.ts"

/** Complete by their types: a key that the types gain or lose is a compile error here. */
const policyKeys: Record<keyof Policy, true> = {
  protectRecentSteps: true,
  protectRecentTokens: true,
  targetRatio: true,
  minimumSavingsTokens: true,
  protectedTools: true,
  stablePrefix: true,
  clearAtLeastRatio: true,
  estimateMedia: true,
  calibrate: true,
}
const rootKeys: Record<keyof Config, true> = {
  enabled: true,
  debug: true,
  dtc: true,
  tool: true,
  notify: true,
  models: true,
}
const toolKeys: Record<keyof Config["tool"], true> = { enabled: true, recall: true }
const entryKeys: Record<keyof ModelEntry, true> = { ...policyKeys, limit: true }
const limitKeys: Record<keyof Limit, true> = { context: true, input: true, output: true }

const definitions = SCHEMA.definitions ?? {}

const sections: [title: string, node: SchemaNode | undefined, keys: object][] = [
  ["the root", SCHEMA, { $schema: true, ...rootKeys }],
  ["dtc", SCHEMA.properties?.["dtc"], { enabled: true, ...policyKeys }],
  ["tool", SCHEMA.properties?.["tool"], toolKeys],
  ["a models entry", definitions["modelEntry"], entryKeys],
  ["a limit", definitions["limit"], limitKeys],
]
for (const [title, node, keys] of sections)
  test(`schema and types have the same keys in ${title}`, () => {
    assert.deepEqual(Object.keys(node?.properties ?? {}).toSorted(), Object.keys(keys).toSorted())
    assert.equal(node?.["additionalProperties"], false)
  })

test("the schema is a valid draft-07 schema and compiles in strict mode", () => {
  const ajv = new Ajv({ strict: true, strictRequired: true, strictTypes: true })
  assert.equal(SCHEMA["$schema"], "http://json-schema.org/draft-07/schema#")
  assert.equal(ajv.validateSchema(SCHEMA), true)
  assert.doesNotThrow(() => ajv.compile(SCHEMA))
})

test("the schema that the runtime finds is the file of the package", () => {
  assert.deepEqual(SCHEMA, JSON.parse(readFileSync(new URL("../../dcp.schema.json", import.meta.url), "utf8")))
})

test("the defaults are complete, valid and fresh", async () => {
  const validate = await loadValidate()
  const defaults = defaultTree()
  assert.deepEqual(Object.keys(defaults), Object.keys(rootKeys))
  assert.deepEqual(Object.keys(defaults["dtc"] ?? {}), ["enabled", ...Object.keys(policyKeys)])
  assert.deepEqual(validate(defaults), [])
  assert.notEqual(defaultTree()["models"], defaults["models"])
})

test("a models entry has no defaults of its own", () => {
  assert.doesNotMatch(JSON.stringify(definitions), /"default"/)
})

test("every key says what it is", () => {
  const described = [
    ...Object.values(SCHEMA.properties ?? {}),
    ...Object.values(definitions["limit"]?.properties ?? {}),
  ]
  const shared = Object.entries(definitions).filter(([name]) => name !== "modelEntry")
  for (const node of [...described, ...shared.map(([, definition]) => definition)]) {
    assert.equal(typeof node.title, "string")
    assert.equal(typeof node["description"], "string")
  }
})

const knownKey = fc.constantFrom(
  ...Object.keys({ $schema: true, ...rootKeys, ...entryKeys, ...limitKeys }),
  "compress",
  "a/b",
  "a/*",
  "*/*",
  "*/b",
  "__proto__",
  "constructor",
)
const leaf = fc.oneof(fc.boolean(), fc.integer(), fc.double(), fc.constantFrom(1, 0.5, 4, null), fc.string())
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.array(fc.oneof(fc.string(), tie("tree")), { maxLength: 3 }),
    fc.dictionary(fc.oneof({ arbitrary: knownKey, weight: 5 }, { arbitrary: fc.string(), weight: 1 }), tie("tree"), {
      maxKeys: 5,
    }),
  ),
}))
/** Keys where they belong, with any values: most layers are partly valid. */
const plausible = fc.record(
  {
    enabled: tree,
    debug: leaf,
    dtc: fc.oneof(
      fc.record({ targetRatio: leaf, protectRecentSteps: leaf, protectedTools: tree }, { requiredKeys: [] }),
      tree,
    ),
    tool: tree,
    notify: leaf,
    models: fc.dictionary(
      knownKey,
      fc.record(
        { targetRatio: leaf, limit: fc.record({ context: leaf, output: leaf, input: tree }, { requiredKeys: [] }) },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
)
const layer = fc.oneof(
  fc.oneof(plausible, tree).map((value) => JSON.stringify(value)),
  fc.string({ unit: "binary" }),
  fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
  fc
    .array(fc.constantFrom("{", "}", "[", "]", '"a"', ":", ",", "1", "//", "/*", "\n", "\\"), { maxLength: 12 })
    .map((tokens) => tokens.join("")),
)

test("whatever the layers hold, the result validates and every diagnostic is one line with its layer", async (t) => {
  const sandbox = createSandbox(t)
  const validate = await loadValidate()
  const property = fc.asyncProperty(layer, layer, fc.anything(), async (global, project, options) => {
    const files = [
      sandbox.write("home/.config/opencode/dcp.jsonc", global),
      sandbox.write("home/project/.opencode/dcp.jsonc", project),
      OPTIONS_FILE,
    ]
    const { config, diagnostics, layers, origins } = await sandbox.load({ options })
    assert.deepEqual(validate(config), [])
    assert.deepEqual(Object.keys(config), Object.keys(rootKeys))
    for (const diagnostic of diagnostics) {
      assert.ok(files.includes(diagnostic.file))
      assert.doesNotMatch(describeDiagnostic(diagnostic), /[\r\n]/)
    }
    const ignored = layers.filter((each) => !each.used).map((each) => each.file)
    assert.deepEqual(
      origins.filter((origin) => origin.file && ignored.includes(origin.file)),
      [],
    )
    assert.ok(ignored.every((file) => diagnostics.some((diagnostic) => diagnostic.file === file)))

    const { policy } = policyFor(config, { providerID: "a", modelID: "b" })
    assert.deepEqual(Object.keys(policy).toSorted(), Object.keys(policyKeys).toSorted())
    assert.deepEqual(validate({ dtc: policy }), [])
  })
  await fc.assert(property, { numRuns: 300 })
})
