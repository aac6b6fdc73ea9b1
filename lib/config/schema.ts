import { createRequire } from "node:module"
import type { ErrorObject } from "ajv"
import { describeExpected, describeExpectedKeys, type SchemaNode } from "./expected.ts"
import type { Path } from "./path.ts"
import { suggestKey } from "./suggest.ts"

/** The package's own schema, found by the package's name so that sources and build need no different path. */
export const SCHEMA: SchemaNode = createRequire(import.meta.url)("opencode-dcp/dcp.schema.json")

/** What the schema says against a layer. */
export interface Violation {
  kind: "unknown-key" | "invalid-value"
  path: Path
  expected: string
  /** Unknown keys only. */
  suggestion?: string
}

export type Validate = (value: object) => Violation[]

/** The value of every key when no layer sets it: fresh at each call. */
export function defaultTree(node: SchemaNode = SCHEMA): Record<string, unknown> {
  const entries = Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    if (child.default !== undefined) return [[key, structuredClone(child.default)] as const]
    return child.properties ? [[key, defaultTree(child)] as const] : []
  })
  return Object.fromEntries(entries)
}

let validate: Promise<Validate> | undefined

/** Compiles the schema, once. Takes about 190 ms the first time, so it is called only when there is something to check. */
export function loadValidate(): Promise<Validate> {
  validate ??= compileSchema()
  return validate
}

async function compileSchema(): Promise<Validate> {
  const { Ajv } = await import("ajv")
  const isValid = new Ajv({ allErrors: true, verbose: true, strict: true }).compile(SCHEMA)
  return (value) => (isValid(value) ? [] : (isValid.errors ?? []).map(violationOf))
}

function violationOf(error: ErrorObject): Violation {
  // `verbose` puts the failing part of the schema into each error.
  const node: SchemaNode = error.parentSchema ?? {}
  const path = segmentsOf(error.instancePath)
  if (error.keyword !== "additionalProperties") return { kind: "invalid-value", path, expected: describeExpected(node) }

  const key = String(error.params["additionalProperty"])
  const suggestion = suggestKey(key, node, SCHEMA)
  const violation = { kind: "unknown-key", path: [...path, key], expected: describeExpectedKeys(node) } as const
  return suggestion === undefined ? violation : { ...violation, suggestion }
}

/** Reads a JSON pointer. */
function segmentsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
}
