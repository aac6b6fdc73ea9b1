import assert from "node:assert/strict"
import test from "node:test"
import { findFamily } from "../../lib/dtc/media-families.ts"
import type { Model } from "../../lib/dtc/types.ts"

const model = (npm?: string, apiID?: string): Model => ({
  providerID: "p",
  modelID: "m",
  ...(npm !== undefined && { npm }),
  ...(apiID !== undefined && { apiID }),
})
const image = (apiID: string, width: number, height: number): number =>
  findFamily(model("any", apiID)).imageTokens({ width, height })

/** Computed by hand from the rules that stand above the table. */
const formulas: [apiID: string, width: number, height: number, tokens: number][] = [
  ["claude-sonnet-4-5", 200, 200, 40_000 / 750],
  ["claude-sonnet-4-5", 1_000, 1_000, 1_000_000 / 750],
  ["claude-sonnet-4-5", 1_568, 300, (1_568 * 300) / 750],
  ["claude-sonnet-4-5", 3_136, 600, (1_568 * 300) / 750],
  ["claude-sonnet-4-5", 600, 3_136, (1_568 * 300) / 750],
  ["claude-sonnet-4-5", 2_000, 300, (1_568 * 235) / 750],
  ["claude-sonnet-4-5", 1_920, 1_080, 1_600],
  ["claude-opus-4-7", 1_920, 1_080, (1_920 * 1_080) / 750],
  ["claude-opus-4-7", 5_152, 1_000, (2_576 * 500) / 750],
  ["claude-opus-4-7", 2_576, 2_576, 4_784],

  ["gpt-4o", 512, 512, 85 + 170],
  ["gpt-4o", 513, 512, 85 + 2 * 170],
  ["gpt-4o", 1_024, 1_024, 85 + 4 * 170],
  ["gpt-4o", 2_048, 4_096, 85 + 6 * 170],
  ["gpt-4o", 1_920, 1_080, 85 + 6 * 170],
  ["gpt-4o", 65_535, 1, 85 + 4 * 170],
  ["gpt-4o-mini", 1_024, 1_024, 2_833 + 4 * 5_667],
  ["gpt-5", 1_024, 1_024, 70 + 4 * 140],
  ["o3", 1_024, 1_024, 75 + 4 * 150],
  ["gpt-4.1-mini", 1_024, 1_024, 1_024 * 1.62],
  ["gpt-4.1-mini", 33, 32, 2 * 1.62],
  ["gpt-4.1-mini", 1_800, 2_400, 1_536 * 1.62],
  ["o4-mini", 1_024, 1_024, 1_024 * 1.72],
  ["gpt-5-nano", 1_024, 1_024, 1_024 * 2.46],
  ["gpt-5.4", 1_024, 1_024, 1_024],
  ["gpt-5.4", 4_000, 4_000, 2_500],
  ["gpt-5.4", 100, 100, 85 + 170],

  ["gemini-2.5-pro", 384, 384, 258],
  ["gemini-2.5-pro", 385, 256, 258 * 2],
  ["gemini-2.5-pro", 960, 540, 258 * 6],
  ["gemini-2.5-pro", 768, 768, 258 * 4],
  ["gemini-2.5-pro", 2_000, 2_000, 258 * 9],
  ["gemini-2.5-pro", 9_216, 9_216, 258 * 16],
  ["gemini-2.5-pro", 65_535, 100, 258 * 12],
  ["gemini-3-pro", 65_535, 65_535, 1_120],
  ["gemini-4-pro", 100, 100, 1_120],
  ["gemini-4-pro", 2_000, 2_000, 258 * 9],

  ["unheard-of", 50, 50, 1_120],
  ["unheard-of", 1_024, 1_024, 1_024 * 2.46],
  ["unheard-of", 1_920, 1_080, 1_536 * 2.46],
  ["unheard-of", 3_000, 3_000, 4_784],
  ["unheard-of", 3_072, 384, 258 * 24],
]
for (const [apiID, width, height, tokens] of formulas) {
  test(`${apiID}: ${width} × ${height} costs ${Math.ceil(tokens)}`, () => {
    assert.equal(image(apiID, width, height), tokens)
  })
}

/** Tokens of a page: what its text costs, and its picture of 1,700 × 2,200 pixels. */
const pageTokens: Record<string, number> = {
  "claude-sonnet-4-5": 3_000 + 1_600,
  "claude-opus-4-7": 3_000 + 4_784,
  "gpt-4o": 3_000 + 85 + 4 * 170,
  "gpt-5-mini": 3_000 + 1_536 * 1.62,
  "gpt-5.4": 3_000 + 2_500,
  "gemini-2.5-pro": 258,
  "gemini-3-pro": 560,
  "unheard-of": 3_000 + 4_784,
}
for (const [apiID, tokens] of Object.entries(pageTokens)) {
  test(`${apiID}: a page costs ${Math.ceil(tokens)}`, () => {
    assert.equal(findFamily(model("any", apiID)).pageTokens, tokens)
  })
}

/** Ids as packages state them, beside one plain id of the same family. */
const families: Record<string, readonly string[]> = {
  "claude-sonnet-4-5": [
    "claude-3-5-sonnet-20241022",
    "claude-3.7-sonnet",
    "claude-sonnet-4-20250514",
    "claude-opus-4-1-20250805",
    "claude-opus-41",
    "claude-haiku-4.5",
    "claude-sonnet-4-6",
    "claude-sonnet-4-5@20250929",
    "anthropic/claude-sonnet-4.5",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "Claude-Opus-4",
  ],
  "claude-opus-4-7": [
    "claude-opus-4.7",
    "claude-opus-47",
    "claude-opus-4-7-20260416",
    "claude-sonnet-5",
    "anthropic.claude-next-v1",
  ],
  "gpt-4o": ["gpt-4.1", "gpt-4-turbo", "openai/gpt-4o-2024-08-06", "chatgpt-4o-latest"],
  "gpt-4o-mini": ["gpt-4o-mini-2024-07-18"],
  "gpt-4.1-mini": ["gpt-5-mini", "gpt-5.4-mini", "gpt-5.1-codex-mini", "codex-mini-latest"],
  "gpt-5-nano": ["gpt-4.1-nano", "openai.gpt-5-nano"],
  "gpt-5": ["gpt-5-codex", "gpt-5-2025-08-07", "GPT-5-chat-latest"],
  "gpt-5.4": ["gpt-5.1", "gpt-5.3-codex", "gpt-6", "o5", "codex-next", "gpt-50"],
  o3: ["o1", "o3-pro"],
  "gemini-2.5-pro": ["gemini-1.5-flash", "google/gemini-2.0-flash", "models/gemini-2.5-flash"],
  "gemini-3-pro": ["gemini-3-flash-preview", "gemini-3.1-pro"],
  "gemini-4-pro": ["gemini-20", "gemini-flash-latest"],
  "unheard-of": ["", "kimi-k2", "grok-4", "meta.llama4", "amazon.nova-pro", "my-deployment", "foo3", "constructor"],
}
for (const [apiID, others] of Object.entries(families)) {
  test(`the family of ${apiID}`, () => {
    const family = findFamily(model("any", apiID))
    for (const other of others) assert.equal(findFamily(model("any", other)), family, other)
  })
}

test("every row of the table is another family", () => {
  const found = Object.keys(families).map((apiID) => findFamily(model("any", apiID)))
  assert.equal(new Set(found).size, found.length)
})

test("the name of the model decides, not the package that serves it", () => {
  const packages = [
    "@ai-sdk/anthropic",
    "@ai-sdk/amazon-bedrock",
    "@ai-sdk/openai-compatible",
    "@ai-sdk/github-copilot",
  ]
  for (const apiID of ["claude-opus-4-7", "gemini-2.5-pro", "gpt-5", "kimi-k2"])
    assert.equal(new Set(packages.map((npm) => findFamily(model(npm, apiID)))).size, 1)
})

test("without an id the package decides, without a package the largest counts", () => {
  const largest = findFamily(undefined)
  assert.equal(largest, findFamily(model("any", "unheard-of")))
  assert.equal(findFamily(model(undefined, "claude-sonnet-4-5")), largest)
  assert.equal(findFamily(model("@ai-sdk/anthropic")), findFamily(model("any", "claude-opus-4-7")))
  assert.equal(findFamily(model("@ai-sdk/google-vertex/anthropic")), findFamily(model("any", "claude-opus-4-7")))
  assert.equal(findFamily(model("@ai-sdk/google")), findFamily(model("any", "gemini-4-pro")))
  assert.equal(findFamily(model("@ai-sdk/openai")), findFamily(model("any", "gpt-5.4")))
  for (const npm of ["@ai-sdk/azure", "@ai-sdk/xai", "", "constructor"])
    assert.equal(findFamily(model(npm)), largest, npm)
})

test("no family that is known costs more than an unknown one, but for the one with a price of its own", () => {
  const largest = findFamily(undefined)
  for (const apiID of Object.keys(families).filter((id) => id !== "gpt-4o-mini"))
    for (const [width, height] of [
      [1, 1],
      [400, 300],
      [1_920, 1_080],
      [2_000, 2_000],
      [60_000, 90],
    ] as const)
      assert.ok(image(apiID, width, height) <= largest.imageTokens({ width, height }), `${apiID} ${width} × ${height}`)
})
