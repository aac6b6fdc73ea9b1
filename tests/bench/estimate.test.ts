import assert from "node:assert/strict"
import test from "node:test"
import { makeTextKinds } from "../../bench/estimate/kinds.ts"
import { compareTexts } from "../../bench/estimate/measure.ts"
import { makeRandom } from "../../bench/estimate/random.ts"

const tuning = makeTextKinds("tuning")
const judging = makeTextKinds("judging")

test("errors are signed, against each tokenizer and against their mean", () => {
  const tokenizers = [
    { name: "coarse", countTokens: () => 10 },
    { name: "fine", countTokens: () => 40 },
  ]
  const methods = { half: () => 20, exact: (text: string) => text.length }
  const [half, exact, ...others] = compareTexts("judging", [{ kind: "k", text: "é".repeat(40) }], tokenizers, methods)
  assert.deepEqual(half, {
    set: "judging",
    kind: "k",
    method: "half",
    bytes: 80,
    bytesPerToken: 4,
    tokenizers: [
      { name: "coarse", bytesPerToken: 8, error: 1 },
      { name: "fine", bytesPerToken: 2, error: -0.5 },
    ],
    errorOfMean: -0.2,
    worstError: 1,
  })
  assert.deepEqual([exact?.errorOfMean, exact?.worstError, exact?.bytesPerToken], [0.6, 3, 2])
  assert.deepEqual(others, [])
})

test("the methods compared are bytes / 4 and the base estimate", () => {
  const rows = compareTexts(
    "tuning",
    [{ kind: "hex", text: "9f86d081".repeat(20) }],
    [{ name: "t", countTokens: () => 80 }],
  )
  assert.deepEqual(
    rows.map(({ method }) => method),
    ["bytes / 4", "base estimate"],
  )
  assert.equal(rows[0]?.errorOfMean, -0.5)
  assert.ok((rows[1]?.errorOfMean ?? -1) > -0.3)
})

test("both sets hold the same kinds, each once, long enough and the same in every run", () => {
  const names = tuning.map(({ kind }) => kind)
  assert.deepEqual(
    judging.map(({ kind }) => kind),
    names,
  )
  assert.equal(new Set(names).size, names.length)
  assert.deepEqual([tuning, judging], [makeTextKinds("tuning"), makeTextKinds("judging")])
  for (const { kind, text } of [...tuning, ...judging]) assert.ok(Buffer.byteLength(text) > 900, kind)
})

test("no line of a tuning text stands in a judging text of the same kind", () => {
  for (const [index, { kind, text }] of tuning.entries()) {
    const lines = new Set(text.split("\n").filter((line) => line.trim().length > 32))
    const shared = judging[index]?.text.split("\n").filter((line) => lines.has(line))
    assert.deepEqual(shared, [], kind)
  }
})

test("a seed gives one sequence, another seed another, and every value is inside its range", () => {
  const [a, b, c] = [makeRandom(1), makeRandom(1), makeRandom(2)].map((random) => random.string(200, "abcd"))
  assert.equal(a, b)
  assert.notEqual(a, c)
  assert.deepEqual([...new Set(a)].toSorted(), ["a", "b", "c", "d"])
  const random = makeRandom(3)
  const drawn = Array.from({ length: 500 }, () => random.below(7))
  assert.deepEqual(
    [...new Set(drawn)].toSorted((left, right) => left - right),
    [0, 1, 2, 3, 4, 5, 6],
  )
})
