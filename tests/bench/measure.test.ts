import assert from "node:assert/strict"
import test from "node:test"
import { createdAtMs } from "../../lib/cli/windows.ts"
import { freeBreaksCost, inputCost } from "../../bench/replay/cost.ts"
import { addMeasures, measureTrace, NOTHING_MEASURED, replayPolicy, type Measure } from "../../bench/replay/measure.ts"
import { NONE, sentTokens } from "../../bench/replay/policy.ts"
import { generateSessions } from "../../bench/replay/synthetic.ts"
import { readWindow, readWindows, type ReplayWindow } from "../../bench/replay/window.ts"
import { findSentMessages } from "../../bench/replay/marks.ts"
import { estimateMessages } from "../../lib/dtc/engine.ts"
import { bash, DEFAULT_POLICY, read, session, step, text, tokens, user } from "../helpers/history.ts"

const WIDE = { targetTokens: 1e9, budgetTokens: 1e9 }

/** Requests of this window: 0 sends the user, 1 also output 0, 2 also outputs 1 and 2, 3 also output 3. */
function openWindow(): ReplayWindow {
  const messages = session(
    user("go"),
    step(read("/a", tokens(1_000, "a"))),
    step(read("/b", tokens(2_000, "b")), read("/c", tokens(3_000, "c"))),
    step(read("/d", tokens(4_000, "d"))),
    step(text("done")),
  )
  return readWindow("s", 0, messages, DEFAULT_POLICY)
}

const measure = (window: ReplayWindow, ...trace: number[][]): Measure =>
  measureTrace(
    window,
    trace.map((cleared) => new Set(cleared)),
    WIDE,
  )

const sizes = ({ segments }: ReplayWindow): number[] => segments.map((segment) => segment.tokens)

test("without clearing each request writes only what is new", () => {
  const window = openWindow()
  const [a = 0, b = 0, c = 0, d = 0] = sizes(window)
  const { cachedTokens, writtenTokens, unchangedTokens, prefixBreaks } = measure(window, [], [], [], [])
  assert.equal(writtenTokens, a + b + c + d)
  assert.equal(cachedTokens, a + (a + b) + (a + b + c))
  assert.equal(unchangedTokens, cachedTokens)
  assert.equal(prefixBreaks, 0)
})

test("a cleared output ends the cached prefix where it begins, and a break that is free only writes the placeholder", () => {
  const window = openWindow()
  const [a = 0, b = 0, c = 0, d = 0] = sizes(window)
  const placeholder = 33 / 4
  const measured = measure(window, [], [], [], [2])
  const callsAndB = c - 3_000
  assert.equal(measured.cachedTokens, a + (a + b) + (a + b + callsAndB))
  assert.equal(measured.writtenTokens, a + b + c + (placeholder + d))
  assert.equal(measured.unchangedTokens, measured.cachedTokens)
  assert.equal(measured.prefixBreaks, 1)
  assert.deepEqual([measured.clearedOutputs, measured.clearedTokens], [1, 3_000 - placeholder])

  const early = measure(window, [], [], [], [0])
  assert.equal(early.cachedTokens, a + (a + b) + (a + b - 1_000))
  assert.equal(early.unchangedTokens - early.cachedTokens, c)
  const price = { write: 1.25, read: 0.1 }
  assert.ok(Math.abs(inputCost(early, price) - freeBreaksCost(early, price) - c * 1.15) < 1e-6)
})

test("an output that comes back breaks the prefix and is written again", () => {
  const window = openWindow()
  const measured = measure(window, [], [], [0], [])
  const [a = 0, b = 0, c = 0] = sizes(window)
  assert.equal(measured.prefixBreaks, 2)
  assert.equal(measured.cachedTokens, a + (a + b - 1_000) + (a + b - 1_000))
  assert.equal(measured.unchangedTokens - measured.cachedTokens, c)
})

test("an output cleared before it was ever sent breaks nothing", () => {
  const measured = measure(openWindow(), [], [], [1], [1])
  assert.equal(measured.prefixBreaks, 0)
})

test("requests over target and over budget, mean and peak", () => {
  const window = openWindow()
  const trace = [[], [], [], []].map((cleared) => new Set<number>(cleared))
  const { overTarget, overBudget, peakTokens } = measureTrace(window, trace, {
    targetTokens: 1_500,
    budgetTokens: 7_000,
  })
  assert.deepEqual([overTarget, overBudget], [2, 1])
  const [a = 0, b = 0, c = 0, d = 0] = sizes(window)
  assert.equal(peakTokens, a + b + c + d)
})

test("a cache that expires reads nothing after the pause", () => {
  const pause = step(text("late"))
  const late = { ...pause, info: { time: { created: 1_000_000 } } }
  const window = readWindow("s", 0, session(user("go"), step(read("/a", tokens(1_000, "a"))), late), DEFAULT_POLICY)
  const trace = [new Set<number>(), new Set<number>()]
  const [a = 0] = sizes(window)
  assert.equal(measureTrace(window, trace, WIDE, 300_000).cachedTokens, 0)
  assert.equal(measureTrace(window, trace, WIDE, 300_000).unchangedTokens, 0)
  assert.equal(measureTrace(window, trace, WIDE).cachedTokens, a)
})

test("measures add up, peaks do not", () => {
  const one = { ...NOTHING_MEASURED, requests: 2, peakTokens: 7, writtenTokens: 5 }
  const sum = addMeasures([one, { ...one, peakTokens: 3 }])
  assert.deepEqual([sum.requests, sum.peakTokens, sum.writtenTokens], [4, 7, 10])
})

test("the window's prefix sums are the engine's own estimates, marks in force from their time on", () => {
  const [drafted] = generateSessions()
  const messages = structuredClone(drafted?.messages ?? [])
  const timeMs = createdAtMs(messages[40]!.info)
  for (const part of messages[3]?.parts ?? []) {
    if (part.type === "tool") (part["state"] as { time: Record<string, number> }).time["compacted"] = timeMs
  }
  const windows = readWindows({ name: "marked", messages }, DEFAULT_POLICY)
  for (const window of [...windows, ...generateSessions().flatMap((each) => readWindows(each, DEFAULT_POLICY))]) {
    for (const request of window.requests) {
      const view = { window, request, limits: WIDE, settings: DEFAULT_POLICY }
      const estimate = estimateMessages(findSentMessages(window, request))
      assert.equal(Math.ceil(sentTokens(view, new Set())), estimate, `${window.session} ${request.index}`)
    }
  }
  assert.equal(windows[0]?.requests.filter(({ hostCleared }) => hostCleared.size > 0).length, 110 - 39)
})

test("the host's own clearing counts as a break for every policy", () => {
  const messages = session(user("go"), step(bash("ls", tokens(900))), step(text("a")), step(text("b")))
  const state = messages[1]?.parts[1]?.["state"] as { time: Record<string, number> }
  state.time["compacted"] = 4_000
  const window = readWindow("s", 0, messages, DEFAULT_POLICY)
  const trace = replayPolicy(window, NONE, WIDE, DEFAULT_POLICY)
  assert.deepEqual(
    trace.map((cleared) => [...cleared]),
    [[], [], [0]],
  )
  assert.equal(measureTrace(window, trace, WIDE).prefixBreaks, 1)
})
