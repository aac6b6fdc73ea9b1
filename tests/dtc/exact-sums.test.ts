import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { estimateMessages, projectMessages } from "../../lib/dtc/engine.ts"
import { textTokens } from "../../lib/dtc/tokens.ts"
import { texts } from "../helpers/arbitrary-values.ts"
import { DEFAULT_POLICY, read, session, step, text, user } from "../helpers/history.ts"

test("sizes of texts add up to the same in any order, and what is taken away leaves the rest", () => {
  fc.assert(
    fc.property(fc.array(texts(900), { minLength: 2 }), (several) => {
      const sizes = several.map(textTokens)
      const sum = (list: readonly number[]): number => list.reduce((total, size) => total + size, 0)
      const [first = 0, ...others] = sizes
      assert.equal(sum(sizes), sum(sizes.toReversed()))
      assert.equal(sum(sizes) - first, sum(others))
    }),
    { numRuns: 300 },
  )
})

test("the estimate of a result is the estimate that was given for it", () => {
  const hash = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo".repeat(100)
  const messages = session(
    user("go"),
    ...["a", "b", "c", "d", "e"].map((name) => step(text(name.repeat(333)), read(name, `${name}${hash}`.repeat(3)))),
    step(read("z", "last")),
  )
  const policy = { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0 }
  for (let inputBudget = 500; inputBudget < 30_000; inputBudget += 500) {
    const projection = projectMessages(messages, { inputBudget, policy })
    assert.equal(estimateMessages(projection.messages), projection.stats.estimatedAfter)
  }
})
