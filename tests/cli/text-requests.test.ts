import assert from "node:assert/strict"
import test from "node:test"
import { describeRequests } from "../../lib/cli/text-requests.ts"
import type { Report, RequestRow } from "../../lib/cli/types.ts"

const BATCH: RequestRow["batch"] = [{ callID: "c", tool: "read", target: "a.ts", reason: "aged", savedTokens: 20 }]

const UNKNOWN = { beforeTokens: undefined, afterTokens: undefined } as unknown as Partial<RequestRow>

/** Twelve requests of one window within a budget of 100 tokens, each differing from the usual as the case says. */
function numbersShown(changes: Readonly<Record<number, Partial<RequestRow>>>, all = false): (number | string)[] {
  const requests = Array.from({ length: 12 }, (_, index): RequestRow => {
    const usual = { window: 1, messageID: "m", messageIndex: 0, step: 0, requestedAt: 1, targetTokens: 70, batch: [] }
    const sizes = { beforeTokens: 50, afterTokens: 50, clearedOutputs: 0, cachedTokens: 0, writtenTokens: 0 }
    return { ...usual, ...sizes, breaksPrefix: false, request: index + 1, ...changes[index + 1] }
  })
  const windows = [...new Set(requests.map(({ window }) => window))].map((window) => ({ window, messages: 1 }))
  const report = { requests, windows, inputBudget: 100, targetTokens: 70, totals: { peakBeforeTokens: 0 } }
  const [, ...lines] = describeRequests(report as unknown as Report, { all, paint: (_style, line) => line })
  return lines
    .slice(0, -2)
    .map((line) => /^… (?:a compaction: )?(.+?)(?: without a change)?$/.exec(line)?.[1] ?? readNumber(line))
}

const readNumber = (line: string): number => Number(/^ *#(\d+) /.exec(line)?.[1])
const from = (first: number, change: Partial<RequestRow>): Record<number, Partial<RequestRow>> =>
  Object.fromEntries(Array.from({ length: 13 - first }, (_, index) => [first + index, change]))

const cases: [what: string, changes: Record<number, Partial<RequestRow>>, shown: (number | string)[]][] = [
  ["nothing happens", {}, [1, "10 requests", 12]],
  ["a batch", { 5: { batch: BATCH } }, [1, "3 requests", 5, "6 requests", 12]],
  ["a prefix break without a batch", { 6: { breaksPrefix: true } }, [1, "4 requests", 6, "5 requests", 12]],
  ["over budget from one on", from(7, { beforeTokens: 101 }), [1, "5 requests", 7, "4 requests", 12]],
  ["the budget is reached, not exceeded", from(7, { beforeTokens: 100 }), [1, "10 requests", 12]],
  [
    "over budget for a while, with the plugin too",
    { 5: { afterTokens: 101 }, 6: { afterTokens: 101 }, 7: { afterTokens: 101 } },
    [1, "3 requests", 5, "2 requests", 8, "3 requests", 12],
  ],
  ["of unknown size for a while", { 4: UNKNOWN, 5: UNKNOWN }, [1, "2 requests", 4, 5, 6, "5 requests", 12]],
  ["a compaction", from(6, { window: 2 }), [1, "3 requests", 5, "window 2 of 2", 6, "5 requests", 12]],
  [
    "one request between two events stands for itself",
    { 5: { batch: BATCH }, 7: { batch: BATCH } },
    [1, "3 requests", 5, 6, 7, "4 requests", 12],
  ],
  ["one request behind the first stands for itself", { 3: { batch: BATCH } }, [1, 2, 3, "8 requests", 12]],
]
for (const [what, changes, shown] of cases)
  test(`requests where something happens are shown, the others counted: ${what}`, () => {
    assert.deepEqual(numbersShown(changes), shown)
    assert.deepEqual(
      numbersShown(changes, true).filter((shownOne) => typeof shownOne === "number"),
      Array.from({ length: 12 }, (_, index) => index + 1),
    )
  })

test("a session without requests has no rows", () => {
  const report = { windows: [], requests: [], inputBudget: 100, targetTokens: 70, totals: { peakBeforeTokens: 0 } }
  assert.deepEqual(describeRequests(report as unknown as Report, { all: false, paint: (_style, line) => line }), [])
})

test("a legend says why the first request of a window is small", () => {
  const row = { window: 1, request: 1, batch: [] }
  const report = { requests: [row], windows: [{}], inputBudget: 100, targetTokens: 70, totals: { peakBeforeTokens: 0 } }
  const lines = describeRequests(report as unknown as Report, { all: false, paint: (_style, line) => line })
  assert.match(lines.at(-1) ?? "", /^the first request of a window is the history alone/)
})
