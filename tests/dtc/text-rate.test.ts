import assert from "node:assert/strict"
import test from "node:test"
import { judgeTokens } from "../../lib/dtc/text-rate.ts"

/** Hundredths of a token: a run's first unit and each further one; with it the characters at both ends of its ranges. */
const COSTS: [kind: string, first: number, next: number, characters: string][] = [
  ["small letters", 80, -12, "az"],
  ["capitals", 145, 20, "AZ"],
  ["digits", 115, 25, "09"],
  ["line breaks", 50, 35, "\n"],
  ["spaces", 35, 10, " \t\r"],
  ["marks", 90, 35, "`{@[/:\0\u007f"],
  ["other scripts", 50, 50, "\u0080\u0100\u25ff\u2c00\u2fff\ua000\uabff"],
  ["pictures", 130, 130, "\u2600\u2bff\ud800\udfff\ufe00\ufeff"],
  ["Chinese, Japanese and Korean", 85, 85, "\u3000\u9fff\uac00\ud7ff\ue000\ufdff\uff00\uffff"],
]
for (const [kind, first, next, characters] of COSTS)
  test(`what a run costs: ${kind}`, () => {
    for (const character of Array.from({ length: characters.length }, (_, index) => characters[index]!)) {
      const code = `U+${character.charCodeAt(0).toString(16)}`
      assert.equal(judgeTokens(character.repeat(64)), (first + 63 * next) / 100, code)
    }
  })

const MIXED: [text: string, hundredths: number][] = [
  ["a1", 80 + 115],
  ["1 ", 115 + 35],
  ["Aa", 145 - 12],
  ["Aaa", 145 - 12 - 12],
  ["A1a", 145 + 115 + 80],
  ["\n\n ", 50 + 35 + 35],
]
for (const [piece, hundredths] of MIXED)
  test(`runs are judged one by one, a capital with its small letters as one word: ${JSON.stringify(piece)}`, () => {
    assert.ok(Math.abs(judgeTokens(piece.repeat(64)) - (64 * hundredths) / 100) < 1e-9)
  })

test("a text of fewer than 64 units is not judged", () => {
  assert.equal(judgeTokens("0".repeat(63)), 0)
  assert.notEqual(judgeTokens("0".repeat(64)), 0)
})

/** A window of 24 units for every 256, but 12 at least and 48 at most; up to 288 units everything is looked at. */
const SAMPLED: [units: number, windows: number][] = [
  [289, 12],
  [3_072, 12],
  [3_073, 13],
  [5_000, 20],
  [12_288, 48],
  [12_289, 48],
  [400_000, 48],
]
for (const [units, windows] of SAMPLED) {
  const share = units / windows
  const judgedBy = (costs: number): number => (costs / 24) * share * 0.01

  test(`${units} units are judged by ${windows} windows, of which only the first begins a run`, () => {
    const costs = 115 + (24 * windows - 1) * 25
    assert.ok(Math.abs(judgeTokens("0".repeat(units)) - judgedBy(costs)) < 1e-6)
  })

  if (share < 48) continue
  test(`${units} units: each window lies at its own place in its share`, () => {
    const text = Array.from({ length: units }, () => " ")
    for (let window = 0; window < windows; window++) {
      const start = Math.floor(share * window + (share - 24) * ((window * 0.618) % 1))
      text.fill("0", start, start + 24)
    }
    assert.ok(Math.abs(judgeTokens(text.join("")) - judgedBy(windows * (115 + 23 * 25))) < 1e-6)
  })
}
