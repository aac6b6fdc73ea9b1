import assert from "node:assert/strict"
import test from "node:test"
import { readSection } from "../../bench/readme.ts"
import { describeKinds, describeTable, PAGE, readScores } from "./page.ts"
import { addScores, LEAST_SCORE_PERCENT, scorePercent } from "./summary.ts"

/** As the formatter leaves it: cells are padded. */
const plain = (table: string): string => table.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-")

test("the page shows the figures of the latest runs", () => {
  const scores = readScores()
  assert.ok(scores.length > 20)
  assert.equal(plain(readSection("mutants", PAGE)), plain(describeTable(scores)))
  assert.equal(plain(readSection("survivors", PAGE)), plain(describeKinds(scores)))
})

test("at least nine of ten mutants are found", () => {
  const scores = readScores()
  assert.ok(scorePercent(addScores(scores)) >= LEAST_SCORE_PERCENT)
  for (const { mutants, killed, timedOut, survived } of scores) assert.equal(killed + timedOut + survived, mutants)
})
