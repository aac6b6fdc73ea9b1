import type { PluginCost, UpstreamFigures } from "./figures.ts"

/** What each row shows of one plugin, in milliseconds. */
type Row = [name: string, show: (cost: PluginCost) => string | number]

/** For the terminal and the README. */
export function describeUpstream({ aimMs, host, versions, steps, stepMedianMs, cost }: UpstreamFigures): string[] {
  return [
    `On OpenCode ${host}, in milliseconds, beside \`@tarquinen/opencode-dcp\`, each with its defaults. Between a reply and the next request`,
    `lie ${stepMedianMs} ms without a plugin. Aim for one step: at most ${aimMs}, ${cost.ours.stepHooksMedianMs <= aimMs ? "met" : "missed"} by the median. "From outside" is the difference of two runs:`,
    "it is as unsure as the machine is uneven, and a figure below 0 is that noise.",
    "",
    `| what it adds | opencode-dcp ${versions.ours} | @tarquinen/opencode-dcp ${versions.upstream} |`,
    "| --- | --- | --- |",
    ...rowsFor(steps, Object.keys(cost.ours.existing)).map(
      ([name, show]) => `| ${name} | ${show(cost.ours)} | ${show(cost.upstream)} |`,
    ),
  ]
}

function rowsFor(steps: number, existing: readonly string[]): Row[] {
  return [
    [
      `a step of a session of ${steps}: in its hooks, median / most`,
      ({ stepHooksMedianMs, stepHooksMaxMs }) => `${stepHooksMedianMs} / ${stepHooksMaxMs}`,
    ],
    ["the same step from outside, median", ({ stepAddedMedianMs }) => stepAddedMedianMs],
    ...existing.map((messages): Row => [
      `first / second request of an existing session of ${Number(messages).toLocaleString("en")} messages: in its hooks`,
      (cost) => `${cost.existing[messages]?.firstHooksMs} / ${cost.existing[messages]?.secondHooksMs}`,
    ]),
    ...existing.map((messages): Row => [
      `the same from outside, ${Number(messages).toLocaleString("en")} messages`,
      (cost) => `${cost.existing[messages]?.firstAddedMs} / ${cost.existing[messages]?.secondAddedMs}`,
    ]),
  ]
}
