/**
 * `npm run bench`: how long one projection takes beside cloning the same history, and how it grows. Ratios within one run
 * count; the times themselves depend on the machine.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { Bench } from "tinybench"
import type * as Engine from "../lib/dtc/engine.ts"
import type { Message, Policy } from "../lib/dtc/types.ts"
import { defaultTree } from "../lib/config/schema.ts"
import { makeHistory } from "./history.ts"
import type { ProjectFigures } from "./readme.ts"

const MESSAGES = 530
const GROWTH = 40
const RESULT_FILE = new URL("results/project.json", import.meta.url)

// The build, not the source: a transpiling loader slows small functions down several times.
const engine = (await import(new URL("../dist/lib/dtc/engine.js", import.meta.url).href)) as typeof Engine
const { projectMessages } = engine
const { dtc } = defaultTree() as { dtc: Policy }

const small = await measure(MESSAGES, 40)
const large = await measure(MESSAGES * GROWTH, 5)
const result: ProjectFigures = {
  messages: MESSAGES,
  megabytes: small.megabytes,
  projectToClone: round(small.projectMs / small.cloneMs),
  projectToStringify: round(small.projectMs / small.stringifyMs),
  stableToSelectingAnew: round(small.projectMs / small.selectingAnewMs),
  growth: GROWTH,
  growthOfTime: round(large.projectMs / small.projectMs),
}
mkdirSync(new URL(".", RESULT_FILE), { recursive: true })
writeFileSync(RESULT_FILE, `${JSON.stringify(result, undefined, 2)}\n`)
console.log(`${MESSAGES} messages, ${small.megabytes} MB: projection ${round(small.projectMs)} ms`)
console.log(`  ${result.projectToClone} of structuredClone, ${result.projectToStringify} of JSON.stringify`)
console.log(`${GROWTH} times the history takes ${result.growthOfTime} times as long`)

interface Figures {
  megabytes: number
  projectMs: number
  /** Without the stable prefix. */
  selectingAnewMs: number
  cloneMs: number
  stringifyMs: number
}

async function measure(messageCount: number, iterations: number): Promise<Figures> {
  const history = makeHistory(messageCount)
  const options = { inputBudget: messageCount * 400, policy: dtc, now: 1_800_000_000_000 }
  const bench = new Bench({ iterations, time: 0, warmupIterations: Math.ceil(iterations / 4), warmupTime: 0 })
  bench.add("project", () => void projectMessages(history, options))
  bench.add(
    "selecting anew",
    () => void projectMessages(history, { ...options, policy: { ...dtc, stablePrefix: false } }),
  )
  bench.add("clone", () => void structuredClone(history))
  bench.add("stringify", () => void JSON.stringify(history))
  await bench.run()
  return {
    megabytes: round(sizeOf(history) / 1e6),
    projectMs: medianOf(bench, "project"),
    selectingAnewMs: medianOf(bench, "selecting anew"),
    cloneMs: medianOf(bench, "clone"),
    stringifyMs: medianOf(bench, "stringify"),
  }
}

function medianOf(bench: Bench, name: string): number {
  const outcome = bench.getTask(name)?.result
  if (outcome?.state !== "completed") throw new Error(`no result for ${name}`)
  return outcome.latency.p50
}

function sizeOf(history: Message[]): number {
  return Buffer.byteLength(JSON.stringify(history))
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
