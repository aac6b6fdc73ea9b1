import assert from "node:assert/strict"
import test from "node:test"
import { describeBudget, makeHistory } from "../../bench/history.ts"
import { AIMS, CONTESTANTS, describeRow, type Contestant } from "../../bench/project/figures.ts"
import { collectTexts, copyStructure, sumBytes } from "../../bench/project/floor.ts"
import { describeProject } from "../../bench/project/table.ts"
import type { Run, Sample } from "../../bench/project/measure.ts"
import { defaultTree } from "../../lib/config/schema.ts"
import { projectMessages } from "../../lib/dtc/engine.ts"
import type { Policy } from "../../lib/dtc/types.ts"

const MESSAGES = 530

test("530 messages of the benchmark are some 2.4 MB, and a good part of their outputs is cleared", () => {
  const history = makeHistory(MESSAGES)
  const bytes = Buffer.byteLength(JSON.stringify(history))
  assert.ok(bytes > 2.3e6 && bytes < 2.6e6, `${bytes} bytes`)
  const { dtc } = defaultTree() as { dtc: Policy }
  const { cleared, stats } = projectMessages(history, { inputBudget: describeBudget(MESSAGES), policy: dtc })
  assert.equal(stats.skipped, undefined)
  assert.ok(cleared.length > 150 && cleared.length < 450, `${cleared.length} cleared`)
})

test("one output in ten holds more than ASCII", () => {
  const outputs = makeHistory(MESSAGES).flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const { output } = (part["state"] ?? {}) as { output?: string }
      return output === undefined ? [] : [output]
    }),
  )
  const share = outputs.filter((output) => Buffer.byteLength(output) > output.length).length / outputs.length
  assert.ok(share > 0.08 && share < 0.13, `${share}`)
})

test("the floor sums every text and copies the whole structure", () => {
  const history = makeHistory(20)
  const copy = copyStructure(history) as typeof history
  assert.deepEqual(copy, history)
  assert.notEqual(copy[3]?.parts[2]?.["state"], history[3]?.parts[2]?.["state"])
  assert.deepEqual(collectTexts({ a: ["é", { b: "xy" }], c: 1, d: null }), ["é", "xy"])
  assert.equal(sumBytes(["é", "xy"]), 4)
})

const runOf = (samples: Partial<Record<Contestant, Sample[]>>): Run => ({
  megabytes: 2,
  cleared: 7,
  floorBytesMs: [1, 9, 2],
  samples: { ...(Object.fromEntries(CONTESTANTS.map((name) => [name, []])) as unknown as Run["samples"]), ...samples },
})
const takes = (...cpuMs: number[]): Sample[] => cpuMs.map((ms) => ({ value: ms * 2, cpuMs: ms }))
const bytes = (...values: number[]): Sample[] => values.map((value) => ({ value, cpuMs: 0 }))

test("a row compares medians of the processor's time, and bytes with those of the history", () => {
  const row = describeRow("Node", MESSAGES, {
    time: runOf({
      hook: takes(30, 3, 4),
      structuredClone: takes(8, 8, 80),
      "JSON.stringify": takes(16, 1, 16),
      floor: takes(2, 2, 1),
    }),
    allocated: runOf({ hook: bytes(400_000, 500_000, -3) }),
    retained: runOf({ hook: bytes(100_000, 120_000, 900_000) }),
  })
  assert.deepEqual(row.speed.hook, {
    medianMs: 8,
    fastestMs: 6,
    cpuMs: 4,
    toFloor: 2,
    toClone: 0.5,
    toStringify: 0.25,
    fastestToFloor: 3,
  })
  assert.deepEqual(row.memory.hook, { allocatedRatio: 0.25, retainedRatio: 0.06 })
  assert.deepEqual([row.cleared, row.floorBytesMs], [7, 2])

  const lines = describeProject({ aims: AIMS, rows: [row, row] }).filter((line) => line.startsWith("- at most"))
  assert.deepEqual(lines, [
    "- at most 2 × floor: met",
    "- at most 0.1 × `structuredClone`: missed in 2 rows of 2",
    "- at most 0.1 of the history's bytes allocated: missed in 2 rows of 2",
    "- at most 0.1 of the history's bytes kept: met",
  ])
})
