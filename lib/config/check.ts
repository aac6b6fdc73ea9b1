import { type Field, fieldPath, fieldsOf, withoutPaths } from "./fields.ts"
import type { Duplicate } from "./keys.ts"
import type { ParsedLayer } from "./parse.ts"
import { describePath, pathKey } from "./path.ts"
import { type Problem, problemOf } from "./problems.ts"
import { RETIRED_OPTIONS } from "./retired.ts"
import type { Validate, Violation } from "./schema.ts"

export interface CheckedLayer {
  fields: Field[]
  problems: Problem[]
}

/** A file can hold a hundred thousand wrong keys; nobody reads more than a page of them. */
const MOST_PROBLEMS = 100

/** Separates what a layer validly sets from what is wrong with it. An invalid field is left out, its siblings stay. */
export function checkLayer(layer: ParsedLayer, validate: Validate): CheckedLayer {
  const violations = distinctViolations(validate(layer.value))
  const rejected = new Set(violations.map(rejectedKey))
  // Editors read `$schema`; it is no setting.
  rejected.add(pathKey(["$schema"]))
  return { fields: fieldsOf(withoutPaths(layer.value, rejected)), problems: problemsOf(violations, layer) }
}

/** An invalid item spoils its field; an unknown key is left out alone. */
function rejectedKey({ kind, path }: Violation): string {
  return pathKey(kind === "unknown-key" ? path : fieldPath(path))
}

/** A value can break several rules of its schema; the words for it name them all. */
function distinctViolations(violations: readonly Violation[]): Violation[] {
  return [...new Map(violations.map((violation) => [pathKey(violation.path), violation])).values()]
}

function problemsOf(violations: readonly Violation[], layer: ParsedLayer): Problem[] {
  const wrong = violations.slice(0, MOST_PROBLEMS).map((violation) => ({
    ...describeViolation(violation),
    key: describePath(violation.path),
    ...layer.locate(violation.path),
  }))
  const shown = [...wrong, ...layer.duplicates.slice(0, MOST_PROBLEMS - wrong.length).map(describeDuplicate)].toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  )
  const hidden = violations.length + layer.duplicates.length - shown.length
  return hidden > 0 ? [...shown, { kind: "too-many-problems", message: `${hidden} further problems` }] : shown
}

function describeViolation({ kind, path, expected, suggestion }: Violation): Problem {
  const dotted = path.join(".")
  const replacement = Object.hasOwn(RETIRED_OPTIONS, dotted) ? RETIRED_OPTIONS[dotted] : undefined
  if (kind === "invalid-value") return problemOf(kind, "", expected)
  if (replacement !== undefined)
    return { kind: "retired-option", message: `this option does nothing here: ${replacement}` }
  if (suggestion !== undefined)
    return { kind, message: `unknown key, did you mean ${suggestion}?`, expected: suggestion }
  return problemOf(kind, "unknown key", expected)
}

function describeDuplicate({ path, lineBefore, line, column }: Duplicate): Problem {
  const message = `duplicate key, it replaces the one in line ${lineBefore}`
  return { kind: "duplicate-key", key: describePath(path), message, line, column }
}
