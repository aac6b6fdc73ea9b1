/** `1 output`, `2 outputs`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}

/** At most so many UTF-16 code units and an ellipsis. No character is cut in two: providers refuse half a one. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")}…`
}
