/**
 * `node --import tsx bench/estimate/texts.ts [tuning]`: what the base estimate and plain bytes / 4 make of each kind of text,
 * beside real tokenizers.
 */
import { measureTexts, type TextKindResult } from "./measure.ts"

const results = await measureTexts(process.argv[2] === "tuning" ? "tuning" : "judging")

console.log(`References: ${results[0]?.tokenizers.map(({ name }) => name).join(", ")}`)
for (const { method } of results.filter(({ kind }) => kind === results[0]?.kind)) {
  const rows = results.filter((row) => row.method === method)
  console.log(`\n${method}: ${"kind".padEnd(16)} of mean   worst   bytes per token, and by reference`)
  for (const row of rows) console.log(describeRow(row))
  const beyond = rows.filter(({ errorOfMean }) => Math.abs(errorOfMean) > 0.35).map(({ kind }) => kind)
  console.log(`beyond 35 % of the mean: ${beyond.join(", ") || "none"}`)
}

function describeRow({ kind, bytesPerToken, tokenizers, errorOfMean, worstError }: TextKindResult): string {
  const references = tokenizers.map((reference) => reference.bytesPerToken.toFixed(2)).join("  ")
  return `  ${kind.padEnd(16)} ${percent(errorOfMean)} ${percent(worstError)} ${bytesPerToken.toFixed(2).padStart(8)}  ${references}`
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(0)} %`.padStart(8)
}
