import type { Choices, Score } from "./choose.ts"
import { alignRows } from "./table.ts"

export function renderChoices({ targetRatios, reselect, ranking, leftOut, pooled }: Choices): string {
  const head = ["setting", ...targetRatios.flatMap((ratio) => HEADINGS.map((heading) => `${heading} ${ratio}`))]
  const row = (score: Score, prefix = ""): string[] => [prefix + score.name, ...describeScore(score)]
  const outside = leftOut.flatMap(({ session, chosen, overall, reselect: afresh }) => [
    row(chosen, `${session}: `),
    row(overall, "  all would choose "),
    row(afresh, "  "),
  ])
  const settingRow = (score: Choices["ranking"][number]): string[] => {
    const [name = "", ...cells] = row(score, score.admissible ? "+ " : "- ")
    return [score.equal > 0 ? `${name} (and ${score.equal} alike)` : name, ...cells]
  }
  const admissible = ranking.filter((score) => score.admissible)
  return [
    `${ranking.length} settings that differ, cheapest first; + evidence, budget and breaks within their limits`,
    alignRows([head, row(reselect), ...ranking.slice(0, SHOWN).map(settingRow)]),
    "\nThe admissible ones",
    alignRows([head, row(reselect), ...admissible.slice(0, SHOWN).map(settingRow)]),
    "\nChosen by the other sessions, measured on the one left out",
    alignRows([head, ...outside, row(pooled)]),
  ].join("\n")
}

const SHOWN = 25

const HEADINGS = ["cost", "of re-select", "free", "breaks", "lost", "> budget"]

function describeScore(score: Score): string[] {
  return score.costs.flatMap((cost, target) => [
    cost.toFixed(3),
    (score.reselectCosts[target] ?? 0).toFixed(3),
    (score.freeBreaksCosts[target] ?? 0).toFixed(3),
    String(score.breaks[target]),
    String(score.evidenceLost[target]),
    String(score.overBudget[target]),
  ])
}
