/** Every text of a value, keys aside, in its order. */
export function collectTexts(value: unknown, texts: string[] = []): string[] {
  if (typeof value === "string") texts.push(value)
  else if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) collectTexts(inner, texts)
  return texts
}

/** Half of the floor: the size of every text, with nothing looked for. */
export function sumBytes(texts: readonly string[]): number {
  let bytes = 0
  for (const text of texts) bytes += Buffer.byteLength(text)
  return bytes
}

/** The other half: the structure copied with no check at all, texts shared. */
export function copyStructure(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return copyItems(value)
  const copy: Record<string, unknown> = {}
  // oxlint-disable-next-line guard-for-in -- what JSON made inherits nothing, and a floor checks nothing
  for (const key in value) copy[key] = copyStructure((value as Record<string, unknown>)[key])
  return copy
}

function copyItems(items: readonly unknown[]): unknown[] {
  const copy: unknown[] = []
  for (const item of items) copy.push(copyStructure(item))
  return copy
}
