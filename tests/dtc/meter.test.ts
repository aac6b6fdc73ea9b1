import assert from "node:assert/strict"
import test from "node:test"
import { Meter, type MeterOptions } from "../../lib/dtc/meter.ts"
import type { Segment, UsageReport } from "../../lib/dtc/types.ts"

/** One request and what came of it. */
interface Turn {
  /** Of the response, by the base estimate. */
  tokens: number
  report?: UsageReport
  /** Without them this engine sent the request. */
  carried?: number
}

const segment = (fields: Partial<Segment>): Segment => ({
  kind: "step",
  tokens: 0,
  unknownSize: false,
  sendsTool: false,
  writtenTokens: 0,
  reminderTokens: 0,
  asksToClear: false,
  ...fields,
})

/** A meter that has seen the turns, the first of them before any request. */
function meterAfter(turns: readonly Turn[], options: Partial<MeterOptions> = {}): Meter {
  const meter = new Meter({ calibrate: true, ...options })
  for (const [index, { tokens, report, carried = 0 }] of turns.entries()) {
    if (index > 0) meter.passRequest(carried, 0)
    meter.append(segment({ tokens, ...(report && { report }) }), tokens)
  }
  return meter
}

const reported = (promptTokens: number): UsageReport => ({ promptTokens })

/** Each at the figure where the answer turns. */
const plausible: [name: string, turns: Turn[], budgetTokens: number | undefined, isCalibrated: boolean][] = [
  ["a quarter of the estimate", [{ tokens: 1_000 }, { tokens: 0, report: reported(250) }], undefined, true],
  ["less than a quarter", [{ tokens: 1_000 }, { tokens: 0, report: reported(249) }], undefined, false],
  ["two budgets", [{ tokens: 1_000 }, { tokens: 0, report: reported(2_000) }], 1_000, true],
  ["more than two budgets", [{ tokens: 1_000 }, { tokens: 0, report: reported(2_001) }], 1_000, false],
]
for (const [name, turns, budgetTokens, isCalibrated] of plausible)
  test(`${isCalibrated ? "believed" : "not believed"}: a report of ${name}`, () => {
    assert.equal(meterAfter(turns, { budgetTokens }).isCalibrated, isCalibrated)
  })

const doubted: [name: string, first: number, second: number, tokens: number][] = [
  ["10,000 tokens from what was expected", 15_000, 25_000, 25_000],
  ["more than that", 15_000, 25_001, 15_000],
  ["so much less", 15_000, 4_999, 15_000],
  ["half of a large expectation", 30_000, 45_000, 45_000],
  ["more than half of it", 30_000, 45_001, 30_000],
]
for (const [name, first, second, tokens] of doubted)
  test(`${tokens === second ? "believed" : "doubted"}: a report that is off by ${name}`, () => {
    const turns = [{ tokens: 5_000 }, { tokens: 0, report: reported(first) }, { tokens: 0, report: reported(second) }]
    assert.equal(meterAfter(turns).tokens, tokens)
  })

/** On top of 2,000 tokens of growth at 1.1 that every session begins with. */
const learned: [name: string, base: number, growth: number, slope: number][] = [
  ["200 tokens are growth enough", 200, 400, 2_600 / 2_200],
  ["199 are not", 199, 398, 1.1],
  ["half a token for each is a slope", 400, 200, 2_400 / 2_400],
  ["less is none", 400, 199, 1.1],
  ["three for each are a slope", 400, 1_200, 3_400 / 2_400],
  ["more are none", 400, 1_201, 1.1],
]
for (const [name, base, growth, slope] of learned)
  test(`what growth teaches: ${name}`, () => {
    const turns = [
      { tokens: 10_000 },
      { tokens: base, report: reported(12_000) },
      { tokens: 0, report: reported(12_000 + growth) },
    ]
    const meter = meterAfter(turns)
    assert.ok(Math.abs(meter.slope - slope) < 1e-9, `${meter.slope}`)
  })

/** Sent without 1,000 of 2,000 tokens: at 1.1 the figures turn at 1,650. */
const described: [promptTokens: number, what: string, tokens: number][] = [
  [1_650, "as this engine sends it", 1_650],
  [1_651, "with every output", 1_651 - 1_100],
]
for (const [promptTokens, what, tokens] of described)
  test(`a first report of ${promptTokens} tokens describes the request ${what}`, () => {
    const meter = meterAfter([{ tokens: 1_000 }, { tokens: 0, report: reported(promptTokens), carried: 1_000 }])
    assert.ok(Math.abs((meter.tokens ?? 0) - tokens) < 1e-9, `${meter.tokens}`)
  })

test("content of unknown size that came since the last report makes the next one incomparable: it is believed", () => {
  const meter = meterAfter([{ tokens: 5_000 }, { tokens: 0, report: reported(15_000) }])
  meter.append(segment({ kind: "user", unknownSize: true }), 0)
  assert.equal(meter.tokens, undefined)
  meter.passRequest(0, 0)
  meter.append(segment({ report: reported(60_000) }), 0)
  assert.equal(meter.tokens, 60_000)
  assert.equal(meter.slope, 1.1)
})

test("reminders count once, in the tokens of reports, and those that a report covers not again", () => {
  const meter = new Meter({ calibrate: true })
  const remind = (): void => meter.append(segment({ kind: "user", reminderTokens: 400 }), 1_000)
  remind()
  assert.deepEqual([meter.tokens, meter.reminderTokens], [600, 400])
  meter.passRequest(0, 0)
  meter.append(segment({ report: reported(2_000) }), 0)
  assert.deepEqual([meter.tokens, meter.reminderTokens], [2_000, 0])
  remind()
  assert.deepEqual([meter.tokens, meter.reminderTokens], [2_000 + 1.1 * 600, 1.1 * 400])
})
