/** A JSON schema of one argument. */
export interface ArgumentSchema {
  type: "integer" | "string"
  description: string
  minimum?: number
}

/**
 * Arguments as JSON schemas, so that the plugin needs no schema library. The host announces every one as required and checks
 * none, which is why each names a value for "not given", and why a tool must read what it gets with care.
 */
export function describeArguments(schemas: Record<string, ArgumentSchema>): Record<string, never> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the host's types know only its own schema library
  return schemas as Record<string, never>
}

/** Empty for anything but a text. */
export function readText(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** 0 for anything but a positive number; models write numbers as texts at times. */
export function readCount(value: unknown): number {
  const count = typeof value === "string" && value.trim() !== "" ? Number(value) : value
  return typeof count === "number" && Number.isFinite(count) && count >= 1 ? Math.floor(count) : 0
}
