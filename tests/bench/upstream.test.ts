import assert from "node:assert/strict"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import test from "node:test"
import { pathToFileURL } from "node:url"
import { describeCost } from "../../bench/upstream/figures.ts"
import { sumByTransform, TRANSFORM } from "../../bench/upstream/hook-times.ts"
import { Tap } from "../../bench/upstream/tap.ts"
import timedPlugin from "../../bench/upstream/timed-plugin.ts"

test("a request's hooks are all that the host waited for since the one before", () => {
  const times = [
    { hook: "chat.message", ms: 1 },
    { hook: "event", ms: 500 },
    { hook: TRANSFORM, ms: 2 },
    { hook: "chat.params", ms: 4 },
    { hook: TRANSFORM, ms: 8 },
    { hook: "chat.params", ms: 16 },
  ]
  assert.deepEqual(sumByTransform(times), [3, 12])
})

test("what a plugin adds is the difference to none, step by step", () => {
  const steps = (...betweenMs: number[]) => ({ betweenMs, transformMs: [1, 2, 3], hooksMs: [2, 4, 30] })
  const calls = (...promptMs: number[]) => ({ promptMs, hooksMs: [40, 5] })
  const cost = describeCost("ours", {
    steps: {
      none: [steps(10, 100, 20), steps(12, 90, 20), steps(11, 95, 900)],
      ours: [steps(13, 99, 22), steps(14, 98, 23), steps(99, 98, 24)],
      upstream: [],
    },
    existing: { 530: { none: [calls(100, 50)], ours: [calls(160, 52)], upstream: [] } },
  })
  assert.deepEqual(cost, {
    stepHooksMedianMs: 4,
    stepHooksMaxMs: 30,
    stepTransformMedianMs: 2,
    stepAddedMedianMs: 3,
    existing: { 530: { firstHooksMs: 40, secondHooksMs: 5, firstAddedMs: 60, secondAddedMs: 2 } },
  })
})

test("the wrapper passes arguments, results and errors through, and writes each hook's time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dcp-timed-"))
  try {
    const [module, report] = [join(folder, "plugin.mjs"), join(folder, "report.jsonl")]
    const body = `({ tool: { a: 1 }, given: () => [input, options], async slow(x) { await new Promise((r) => setTimeout(r, 20)); x.y = 1 }, throws() { throw new Error("no") } })`
    writeFileSync(module, `export default { id: "x", server: async (input, options) => ${body} }`)
    const options = { module: pathToFileURL(module).href, report, options: { b: 2 } }
    const hooks = (await timedPlugin.server("input", options)) as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >
    assert.deepEqual(hooks["tool"], { a: 1 })
    assert.deepEqual(await hooks["given"]?.(), ["input", { b: 2 }])
    const output: { y?: number } = {}
    await hooks["slow"]?.(output)
    assert.equal(output.y, 1)
    await assert.rejects(hooks["throws"]?.() ?? Promise.resolve(), /no/)
    const times = readFileSync(report, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { hook: string; ms: number })
    assert.deepEqual(
      times.map(({ hook }) => hook),
      ["given", "slow", "throws"],
    )
    assert.ok((times[1]?.ms ?? 0) >= 19)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test("the tap passes a request and its reply, and notes when they came", async () => {
  const model = createServer((incoming, response) => {
    incoming.resume().once("end", () => setTimeout(() => response.end(`${incoming.method} ${incoming.url}`), 30))
  })
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve))
  const address = model.address()
  const port = typeof address === "object" ? address?.port : undefined
  const tap = await Tap.start(`http://127.0.0.1:${port}/v1`)
  try {
    const reply = await fetch(`${tap.baseURL}/chat`, { method: "POST", body: "{}" })
    assert.equal(await reply.text(), "POST /v1/chat")
    const [passage] = tap.passages
    assert.ok(passage?.repliedMs !== undefined && passage.repliedMs - passage.arrivedMs >= 25)
  } finally {
    await tap.close()
    model.close()
  }
})
