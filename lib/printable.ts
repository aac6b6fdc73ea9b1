/**
 * Text that was not written for a terminal: control characters could move the cursor or rewrite the title, and direction
 * marks could show a path that is not the one.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, describeCharacter)
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

function describeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")
  return SHORT_ESCAPES[character] ?? `\\u{${code}}`
}

/** A copy as JSON would give it, in which every text is printable. */
export function printableCopy(value: object): Record<string, unknown> {
  const copy: Record<string, unknown> = JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === "string" ? printable(inner) : inner,
  )
  return copy
}

/** The same JSON, safe to show: what steers a terminal stands in it as an escape, so that a reader finds every text as it was. */
export function printableJson(json: string): string {
  return json.replaceAll(/[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(""),
  )
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`
}
