/** What this package's schema uses of JSON Schema. A keyword that is not here has no words yet: add both. */
export interface SchemaNode {
  readonly [keyword: string]: unknown
  readonly title?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly exclusiveMaximum?: number
  readonly items?: SchemaNode
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly definitions?: Readonly<Record<string, SchemaNode>>
}

/** What a value must be, in words taken from its schema: `an integer from 1`. */
export function describeExpected(node: SchemaNode): string {
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(" or ")
  switch (node.type) {
    case "boolean":
      return "true or false"
    case "string":
      return "a text"
    case "integer":
      return ["an integer", ...describeRange(node)].join(" ")
    case "number":
      return ["a number", ...describeRange(node)].join(" ")
    case "array":
      return node.items?.type === "string" ? "a list of texts" : "a list"
    case "object":
      return node.required ? `an object with ${node.required.join(" and ")}` : "an object"
    case undefined:
    default:
      return "another value"
  }
}

/** What a key of this object must be: the known ones, or the form that any key has. */
export function describeExpectedKeys(node: SchemaNode): string {
  const known = Object.keys(node.properties ?? {})
  const forms = Object.values(node.patternProperties ?? {}).map((form) => form.title)
  return forms.length > 0 ? forms.join(" or ") : `one of ${known.join(", ")}`
}

function describeRange({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: SchemaNode): string[] {
  return [
    minimum === undefined ? [] : `from ${minimum}`,
    exclusiveMinimum === undefined ? [] : `above ${exclusiveMinimum}`,
    // The largest exact integer is a bound of the number format and would not help anyone.
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : `up to ${maximum}`,
    exclusiveMaximum === undefined ? [] : `below ${exclusiveMaximum}`,
  ].flat()
}
