import assert from "node:assert/strict"
import { test } from "node:test"
import { findClearedCallIDs } from "./model-request.ts"
import { oneByOne, read } from "./model-script.ts"
import { playScenario, type Scenario } from "./scenario.ts"
import { accountFor } from "./session-account.ts"
import { providerWith } from "./small-window.ts"
import { tokenizerUsage } from "./tokenizer-usage.ts"
import { assertWire } from "./wire-assertions.ts"

/*
 * A window of 64k less 4k of output, reports by a real tokenizer, and files that four bytes for a token misjudge. Nothing but
 * the default policy. Beside the history the host sends some 7k, or, with long instructions, 30k.
 */
const LIMIT = { context: 64_000, output: 4_000 }
const BUDGET = LIMIT.context - LIMIT.output
const FILES = 22
const INSTRUCTIONS_TOKENS = 23_000

const KINDS: Readonly<Record<string, (file: number, line: number) => string>> = {
  japanese: (file, line) =>
    `第${file}章の${line}行目：設定ファイルを読み込み、古い出力を整理してから、次の手順へ進みます。`,
  log: (file, line) =>
    `2026-03-${String((line % 28) + 1).padStart(2, "0")}T0${line % 10}:${(line % 50) + 10}:07.${file}${line}Z [pid 48${line}] GET /api/v2/items/${file}f${line * 7919}c?x=${line * 31} 200 ${line * 13}ms`,
}

for (const [kind, describeLine] of Object.entries(KINDS))
  for (const instructions of [false, true])
    test(
      `Estimate: clearing comes before the first native compaction: ${kind}${instructions ? ", 30k of instructions and tools" : ""}`,
      { timeout: 150_000 },
      () => {
        const setup = {
          files: {
            ...Object.fromEntries(
              Array.from({ length: FILES }, (_, file) => [
                `page-${file}.txt`,
                Array.from({ length: 60 }, (_line, line) => `${describeLine(file, line)}\n`).join(""),
              ]),
            ),
            ...(instructions && {
              "AGENTS.md": "Answer shortly and keep to the task. ".repeat(INSTRUCTIONS_TOKENS / 8),
            }),
          },
          providers: { scripted: providerWith("openai", { wide: LIMIT }) },
          model: { usage: tokenizerUsage() },
          pluginOptions: { debug: true },
          timeoutMs: 140_000,
        }
        return playScenario(setup, (scenario) => runPages(scenario, instructions))
      },
    )

async function runPages(scenario: Scenario, instructions: boolean): Promise<void> {
  const { host, model, runTurn } = scenario
  const { id } = await host.createSession()
  model.script(
    "main",
    oneByOne(Array.from({ length: FILES }, (_, file) => read(`page-${file}.txt`, `read-${file}`))),
    id,
  )
  await runTurn(id, "Read every page, one after the other.")

  const { requests, summaries, accounted } = await accountFor(scenario, id)
  const cleared = requests.find((request) => findClearedCallIDs(request).length > 0)
  assert.ok(cleared, "outputs were cleared")
  for (const summary of summaries)
    assertWire(cleared, cleared.number < summary.number, `it is before the summary, request ${summary.number}`)
  const first = requests[0]?.reply?.usage.input ?? 0
  assert.ok(instructions ? first > 28_000 : first < 12_000, `the first request has ${first} tokens`)

  const inFull = requests[cleared.index - 1]?.reply?.usage.input ?? 0
  const target = first + 0.7 * (BUDGET - first)
  assertWire(cleared, inFull > target * 0.93, `clearing began at its target of ${target}, not at ${inFull}`)
  for (const { request, logged } of accounted.slice(1)) {
    const said = Number(logged.stats["estimatedAfter"])
    const reported = request.reply?.usage.input ?? 0
    assertWire(request, Math.abs(said - reported) < reported * 0.05, `${said} was estimated, ${reported} reported`)
    assertWire(request, logged.stats["estimateMethod"] === "calibrated", "the estimate is calibrated")
  }
}
