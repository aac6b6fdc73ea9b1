import type { SchemaNode } from "./expected.ts"

/** The known key that a mistyped or misplaced one probably meant, and how it is written there. */
export function suggestKey(typed: string, siblings: SchemaNode, root: SchemaNode): string | undefined {
  const [section = "", ...inner] = typed.split(".")
  if (siblings === root && Object.hasOwn(root.properties?.[section]?.properties ?? {}, inner.join(".")))
    return `"${inner.join(".")}" inside "${section}"`
  const known = Object.keys(siblings.properties ?? {})
  // About one slip in three letters; more would turn any short word into any other.
  const slips = Math.min(2, Math.floor(typed.length / 3))
  const close = known
    .map((key) => ({ key, distance: editDistance(typed.toLowerCase(), key.toLowerCase(), slips) }))
    .filter(({ distance }) => distance <= slips)
    .toSorted((a, b) => a.distance - b.distance)
  return close[0]?.key ?? (siblings === root ? findElsewhere(typed, root) : undefined)
}

function findElsewhere(typed: string, root: SchemaNode): string | undefined {
  const sections = Object.entries(root.properties ?? {})
  const found = sections.find(([, section]) => section.properties && Object.hasOwn(section.properties, typed))
  return found && `${found[0]}.${typed}`
}

/** Letters to insert, delete or replace; any number above `limit` when the lengths alone need more. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
