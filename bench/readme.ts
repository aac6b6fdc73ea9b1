import { readFileSync, writeFileSync } from "node:fs"

const README = new URL("../README.md", import.meta.url)

/** Figures of `npm run bench`, as `bench/results/project.json` holds them. */
export interface ProjectFigures {
  messages: number
  megabytes: number
  projectToClone: number
  projectToStringify: number
  growth: number
  growthOfTime: number
}

export function readFigures(): ProjectFigures {
  return JSON.parse(readFileSync(new URL("results/project.json", import.meta.url), "utf8")) as ProjectFigures
}

/** The README's section of numbers, from the files that the benchmarks wrote. */
export function describeFigures(figures: ProjectFigures): string {
  const { messages, megabytes, projectToClone, projectToStringify, growth, growthOfTime } = figures
  return [
    "| what | figure |",
    "| --- | --- |",
    `| one projection of ${messages} messages (${megabytes} MB), beside \`structuredClone\` of the same history | ${projectToClone} times as long |`,
    `| the same beside \`JSON.stringify\` | ${projectToStringify} times as long |`,
    `| ${growth} times the history | ${growthOfTime} times as long |`,
    "",
    "Ratios within one run of `npm run bench`, which writes them here.",
  ].join("\n")
}

/** What stands between `<!-- name:start -->` and `<!-- name:end -->`. */
export function readSection(name: string): string {
  const [, section] = readFileSync(README, "utf8").split(new RegExp(`<!-- ${name}:(?:start|end) -->`))
  if (section === undefined) throw new Error(`README has no section ${name}`)
  return section.trim()
}

export function writeSection(name: string, text: string): void {
  const [before, , after] = readFileSync(README, "utf8").split(new RegExp(`<!-- ${name}:(?:start|end) -->`))
  writeFileSync(README, `${before}<!-- ${name}:start -->\n\n${text}\n\n<!-- ${name}:end -->${after}`)
}
