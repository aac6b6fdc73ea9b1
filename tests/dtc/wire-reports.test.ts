import assert from "node:assert/strict"
import test from "node:test"
import type { MessageInfo, Part, UsageReport } from "../../lib/dtc/types.ts"
import { readReport } from "../../lib/dtc/wire-reports.ts"

const finish = (tokens: unknown): Part => ({ type: "step-finish", tokens }) as unknown as Part
const infoWith = (tokens: unknown): MessageInfo => ({ role: "assistant", tokens }) as unknown as MessageInfo

/** What a step's texts and calls cost by the estimate; none: it is not sent again. */
type Said = number | undefined

const rows: [name: string, tokens: unknown, said: Said, report: UsageReport | undefined][] = [
  ["input and output", { input: 100, output: 20 }, 10, { promptTokens: 100, writtenTokens: 20 }],
  ["input alone", { input: 5 }, 0, { promptTokens: 5 }],
  ["what the cache took", { input: 100, cache: { write: 10 } }, 0, { promptTokens: 110 }],
  [
    "what the cache served",
    { input: 100, cache: { read: 40, write: 10 } },
    0,
    { promptTokens: 150, promptTokensCachedInside: 100 },
  ],
  ["as much served as read", { input: 40, cache: { read: 40 } }, 0, { promptTokens: 80, promptTokensCachedInside: 40 }],
  ["more served than read", { input: 39, cache: { read: 40 } }, 0, { promptTokens: 79 }],
  ["an odd cache", { input: 100, cache: [1] }, 0, { promptTokens: 100 }],
  ["only a total", { total: 100, output: 30, reasoning: 10 }, 0, { promptTokens: 60, writtenTokens: 40 }],
  ["a total that is all output", { total: 40, output: 30, reasoning: 10 }, 0, undefined],

  ["reasoning beside output", { input: 100, output: 50, reasoning: 20 }, 0, { promptTokens: 100, writtenTokens: 70 }],
  [
    "reasoning inside output, by the total",
    { input: 100, output: 50, reasoning: 20, total: 150 },
    0,
    { promptTokens: 100, writtenTokens: 50 },
  ],
  [
    "reasoning inside output in part",
    { input: 100, output: 50, reasoning: 20, total: 151 },
    0,
    { promptTokens: 100, writtenTokens: 51 },
  ],
  [
    "reasoning beside output, by the total",
    { input: 100, output: 50, reasoning: 20, total: 170 },
    0,
    { promptTokens: 100, writtenTokens: 70 },
  ],
  [
    "a total below both",
    { input: 100, output: 50, reasoning: 20, total: 149 },
    0,
    { promptTokens: 100, writtenTokens: 70 },
  ],
  [
    "a total above both",
    { input: 100, output: 50, reasoning: 20, total: 171 },
    0,
    { promptTokens: 100, writtenTokens: 70 },
  ],

  ["half of what was said", { input: 100, output: 50 }, 100, { promptTokens: 100, writtenTokens: 50 }],
  ["less than half: unfinished", { input: 100, output: 49 }, 100, { promptTokens: 100 }],
  ["no output", { input: 100, output: 0 }, 0, { promptTokens: 100 }],
  ["not sent again", { input: 100, output: 50 }, undefined, { promptTokens: 100 }],

  ["nothing sent", { input: 0, output: 0 }, 0, undefined],
  ["the most", { input: 1e9 }, 0, { promptTokens: 1e9 }],
  ["more than the most", { input: 1e9 + 1 }, 0, undefined],
  ["below nothing", { input: 100, output: -1 }, 0, undefined],
  ["a count of an odd type", { input: 100, cache: { read: "40" } }, 0, undefined],
  ["no count at all", [100], 0, undefined],
  ["nothing", undefined, 0, undefined],
]
for (const [name, tokens, said, report] of rows) {
  test(`a report of ${name}`, () => {
    assert.deepEqual(readReport([finish(tokens)], undefined, said), report)
    assert.deepEqual(readReport([], infoWith(tokens), said), report, "the message's own")
  })
}

test("the last step's own report counts before the message's, if it can be read", () => {
  const other = { type: "text", tokens: { input: 9 } } as unknown as Part
  const first = readReport([finish({ input: 1 }), finish({ input: 2 }), other], infoWith({ input: 3 }), 0)
  assert.deepEqual(first, { promptTokens: 2 })
  assert.deepEqual(readReport([finish({ input: "2" })], infoWith({ input: 3 }), 0), { promptTokens: 3 })
  assert.equal(readReport([other], undefined, 0), undefined)
})
