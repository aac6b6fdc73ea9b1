import assert from "node:assert/strict"
import test from "node:test"
import { describeProjection, estimateMessages, planProjection, projectMessages } from "../../lib/dtc/engine.ts"
import type { Message, ProjectOptions } from "../../lib/dtc/types.ts"
import { DEFAULT_POLICY } from "../helpers/history.ts"

const OPTIONS: ProjectOptions = { inputBudget: 1_000, policy: DEFAULT_POLICY, force: true }

/** What is said where nothing can be said. */
const NOTHING = {
  stats: {
    foldedTools: 0,
    redundantTools: 0,
    estimatedBefore: undefined,
    estimatedAfter: undefined,
    targetTokens: 700,
    inputBudget: 1_000,
    protectedSteps: 0,
    overBudget: true,
    skipped: "unknown-content",
    estimateMethod: "base",
  },
  cleared: [],
  requestIndex: 0,
  sources: undefined,
  historyMessageCount: undefined,
  kept: {},
}

const unreadable: [name: string, messages: unknown][] = [
  ["malformed", [{ info: {} }]],
  ["no list", { length: 0 }],
  ["not plain", [new Date(0)]],
]
for (const [name, messages] of unreadable as [string, Message[]][])
  test(`messages that are ${name}: what there is to say is said, and no more`, () => {
    assert.deepStrictEqual(projectMessages(messages, OPTIONS), { messages, ...NOTHING })
    assert.deepStrictEqual(planProjection(messages, OPTIONS), { marked: [], ...NOTHING })
    assert.equal(estimateMessages(messages), undefined)
    assert.equal(describeProjection(messages), undefined)
  })
