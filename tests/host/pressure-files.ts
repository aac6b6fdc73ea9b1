/** About `tokens` tokens of lines that say where they stand, so that no two files or pages are alike. */
export function linesOfTokens(tokens: number, name: string): string {
  const line = (number: number): string => `${name} line ${number}: ${"abcdefgh ".repeat(6)}\n`
  const count = Math.ceil((tokens * 4) / line(100).length)
  return Array.from({ length: count }, (_, index) => line(index + 1)).join("")
}
