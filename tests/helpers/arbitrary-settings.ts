import fc from "fast-check"
import { SCHEMA } from "../../lib/config/schema.ts"
import { catalogWith } from "./client.ts"
import { oddNumbers, oddValues } from "./arbitrary-values.ts"

/** Names with a meaning in JavaScript, near misses, retired options, and keys of `models` in every form. */
const ODD_KEYS =
  "__proto__ constructor prototype toString hasOwnProperty 0 length enabeld dtc.enabled compress tailTurns lab/lab-1 lab/* */* */lab-1 lab/a/b __proto__/constructor / lab"
    .split(" ")
    .concat("")

const KNOWN_KEYS = "limit context input output"
  .split(" ")
  .concat(Object.keys(SCHEMA.properties ?? {}), Object.keys(SCHEMA.properties?.["dtc"]?.properties ?? {}))

/** JSON text, since only a text can say `__proto__` or one key twice. */
const scalars: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("true", "false", "null", "4", "0.5", "0", "-1", "1e400", "[]", '["grep"]', '[1, "x"]', '"off"', "{}"),
  oddValues.map((value) => JSON.stringify(value) ?? "null"),
)

const keys = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...KNOWN_KEYS) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_KEYS) },
)

function objects(depth: number): fc.Arbitrary<string> {
  const value =
    depth > 0 ? fc.oneof({ weight: 2, arbitrary: scalars }, { weight: 1, arbitrary: objects(depth - 1) }) : scalars
  return fc
    .array(fc.tuple(keys, value), { maxLength: 5 })
    .map((entries) => `{${entries.map(([key, text]) => `${JSON.stringify(key)}: ${text}`).join(", // x\n")}}`)
}

const sections = fc
  .record(
    {
      dtc: objects(1),
      models: modelsText(),
      tool: objects(0),
      enabled: scalars,
      debug: scalars,
      ["__proto__"]: scalars,
    },
    { requiredKeys: [] },
  )
  .map(
    (layer) =>
      `{${Object.entries(layer)
        .map(([key, text]) => `"${key}": ${text},`)
        .join("\r\n")}}`,
  )

function modelsText(): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(fc.constantFrom(...ODD_KEYS), objects(1)), { maxLength: 4 })
    .map((entries) => `{${entries.map(([key, text]) => `${JSON.stringify(key)}: ${text}`).join(",")}}`)
}

/** The texts of configuration layers, lowest first: likely ones, hostile ones, and some that do not parse. */
export const layerTexts: fc.Arbitrary<string[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: sections },
    { weight: 3, arbitrary: objects(3) },
    { weight: 1, arbitrary: fc.oneof(scalars, fc.string({ unit: "binary" })) },
  ),
  { maxLength: 4 },
)

export const modelNames = fc.constantFrom(
  { providerID: "lab", modelID: "lab-1" },
  { providerID: "lab", modelID: "a/b" },
  { providerID: "__proto__", modelID: "constructor" },
  { providerID: "constructor", modelID: "" },
)

const limits = fc.oneof(
  fc.record({ context: oddNumbers, input: oddNumbers, output: oddNumbers }, { requiredKeys: [] }),
  fc.record({ context: fc.nat(), output: fc.nat() }),
  oddValues,
)

/** What a catalog may answer: an entry with any limits, one place of it replaced by anything, or anything. */
export const catalogAnswers: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: limits.map((limit) => catalogWith(limit)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(limits, fc.array(fc.nat(), { maxLength: 7 }), oddValues)
      .map(([limit, path, value]) => replaceAt(structuredClone(catalogWith(limit)), path, value)),
  },
  { weight: 1, arbitrary: oddValues },
)

function replaceAt(container: unknown, [step, ...rest]: readonly number[], value: unknown): unknown {
  if (typeof container !== "object" || container === null || step === undefined) return value
  const known = Object.keys(container)
  const key = known[step % known.length]
  if (key === undefined) return value
  Reflect.set(container, key, replaceAt(Reflect.get(container, key), rest, value))
  return container
}
