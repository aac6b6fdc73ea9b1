import assert from "node:assert/strict"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import test from "node:test"
import { describeNumbers, readSection } from "../bench/readme.ts"
import { loadConfig } from "../lib/config/load.ts"
import { defaultTree } from "../lib/config/schema.ts"
import { DEFAULT_POLICY } from "./helpers/history.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
const defaults: Record<string, unknown> = defaultTree()

const codeBlocks = (language: string): string[] =>
  [...readme.matchAll(/```(\w+)\n([\s\S]*?)```/g)]
    .filter(([, name]) => name === language)
    .map(([, , code]) => code ?? "")

async function loadLayer(text: string) {
  const directory = mkdtempSync(join(tmpdir(), "dcp-docs-"))
  try {
    writeFileSync(join(directory, "dcp.jsonc"), text)
    return await loadConfig({ directory, env: { OPENCODE_CONFIG_DIR: directory }, home: directory })
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test("the README's table of settings is the schema's keys and defaults", () => {
  const rows = readSection("config").split("\n").slice(2)
  const documented = rows.map((row) => row.split("|").map((cell) => cell.trim().replaceAll("`", "")))
  const actual = Object.entries(defaults).flatMap(([key, value]) =>
    key === "dtc" || key === "tool"
      ? Object.entries(value as object).map(([inner, field]): [string, unknown] => [`${key}.${inner}`, field])
      : [[key, value]],
  )
  assert.deepEqual(
    new Map(documented.map(([, key, , value]) => [key, value])),
    new Map(actual.map(([key, value]) => [key, JSON.stringify(value)])),
  )
})

test("the README's policy for the engine is the default policy, and so is the tests' one", () => {
  const { enabled: _enabled, ...policy } = defaults["dtc"] as Record<string, unknown>
  assert.deepEqual(policy, {
    ...DEFAULT_POLICY,
    stablePrefix: true,
    clearAtLeastRatio: 0.3,
    estimateMedia: true,
    calibrate: true,
  })
  const [snippet = ""] = codeBlocks("ts")
  for (const [field, value] of Object.entries(policy)) {
    const written = new RegExp(`${field}: ([^,]+),`).exec(snippet)?.[1]?.replaceAll("_", "")
    assert.equal(written, JSON.stringify(value), field)
  }
})

test("the README's defaults in prose are the default policy's", () => {
  assert.match(
    readme,
    new RegExp(`the newest ${DEFAULT_POLICY.protectRecentSteps} steps with tools, and at least 16,000 tokens`),
  )
  assert.equal(DEFAULT_POLICY.protectRecentTokens, 16_000)
})

test("the README's status obeys the rules that the README states", () => {
  const [example = ""] = codeBlocks("text").filter((block) => block.includes("Last request of this session"))
  const numberIn = (pattern: RegExp): number => Number(pattern.exec(example)?.[1]?.replaceAll(",", ""))
  const [budget, target] = [numberIn(/Budget: ([\d,]+)/), numberIn(/target of ([\d,]+)/)]
  const [before, after] = [numberIn(/Estimate: ([\d,]+)/), numberIn(/clearing, ([\d,]+) tokens after/)]
  const outputs = [...example.matchAll(/^ +\w+ call_\d+: .*?([\d,]+) tokens/gm)]
  const saved = outputs.reduce((sum, [, tokens = ""]) => sum + Number(tokens.replaceAll(",", "")), 0)
  const { targetRatio } = DEFAULT_POLICY
  const overhead = (target - targetRatio * budget) / (1 - targetRatio)
  const least = 0.3 * (target - overhead)
  assert.ok(overhead > 0 && before > target && after < target)
  assert.deepEqual(
    [saved, numberIn(/saved ([\d,]+)/), outputs.length],
    [before - after, saved, numberIn(/Cleared: (\d+)/)],
  )
  assert.ok(saved >= least && saved <= before - target + 1.5 * least)
  const stated = /overhead is ([\d,]+) tokens here, .* is ([\d,]+), and a\s+batch frees at least ([\d,]+)/s.exec(readme)
  const numbers = stated?.slice(1).map((text) => Number(text.replaceAll(",", "")))
  assert.deepEqual(numbers, [overhead, target - overhead, least].map(Math.round))
})

test("the README's configuration example loads without a diagnostic", async () => {
  const [example = ""] = codeBlocks("jsonc")
  const { config, diagnostics, layers } = await loadLayer(example)
  assert.deepEqual(diagnostics, [])
  assert.equal(layers.length, 1)
  assert.equal(config.dtc.targetRatio, 0.6)
})

test("the README's diagnostic is what a typo gives", async () => {
  const { diagnostics } = await loadLayer('{\n  "dtc": {\n  "targetRatoi": 0.6,\n} }')
  assert.ok(readme.includes(`3:5 dtc.targetRatoi: ${diagnostics[0]?.message}`))
})

test("the README's options tuple is accepted", async () => {
  const tuple = /\[\["opencode-dcp", (\{.*?\})\]\]/.exec(readme)?.[1] ?? "null"
  const { diagnostics } = await loadConfig({
    directory: tmpdir(),
    options: JSON.parse(tuple),
    env: { XDG_CONFIG_HOME: "/nowhere" },
    home: "/nowhere",
  })
  assert.deepEqual(diagnostics, [])
})

test("the README's numbers are the ones that the benchmark wrote", () => {
  const plain = (table: string): string => table.replaceAll(/[ -]+/g, " ")
  assert.equal(plain(readSection("numbers")), plain(describeNumbers()))
})

test("every file that the README links to exists", () => {
  for (const [, target = ""] of readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g))
    assert.ok(existsSync(new URL(`../${target}`, import.meta.url)), target)
})
