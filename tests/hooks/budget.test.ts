import assert from "node:assert/strict"
import test from "node:test"
import type { Limit, ModelEntry } from "../../lib/config/types.ts"
import type { Message } from "../../lib/dtc/types.ts"
import { findInputBudget, findOutputTokenMax } from "../../lib/request.ts"
import { answers, catalog, catalogWith, entry, neverAnswers, provider, rejects, throws } from "../helpers/client.ts"
import { clearedTargets } from "../helpers/history.ts"
import { longHistory, NARROW, ROOMY, startInstance } from "./instance.ts"

const limitTable: [limit: unknown, budget: number | undefined, why: string][] = [
  [{ context: 400_000, input: 272_000, output: 128_000 }, 272_000, "the input limit is the smaller one"],
  [{ context: 200_000, output: 131_072 }, 168_000, "the host reserves 32,000 at most for the answer"],
  [{ context: 200_000, output: 8_000 }, 192_000, "a small answer reserves only itself"],
  [{ context: 200_000, input: 190_000, output: 131_072 }, 168_000, "the context leaves less than the input limit"],
  [{ context: 200_000, input: 300_000, output: 8_000 }, 192_000, "an input limit above the context gives nothing"],
  [{ context: 100.9, output: 0.5 }, 100, "tokens are whole"],
  [{ context: 32_001, output: 64_000 }, 1, "one token is a budget"],
  [{ context: 0, output: 0 }, undefined, "the catalog's word for unknown"],
  [{ context: 200_000, output: 0 }, undefined, "no output"],
  [{ context: 0, output: 8_000 }, undefined, "no context"],
  [{ context: 200_000, input: 0, output: 8_000 }, undefined, "no input"],
  [{ context: -1, output: 8_000 }, undefined, "negative context"],
  [{ context: 200_000, output: -8_000 }, undefined, "negative output"],
  [{ context: 200_000, input: -1, output: 8_000 }, undefined, "negative input"],
  [{ context: 8_000, output: 8_000 }, undefined, "nothing is left beside the answer"],
  [{ context: 4_000, output: 8_000 }, undefined, "the answer alone is larger than the context"],
  [{ context: 8_000.5, output: 8_000 }, undefined, "less than one token is left"],
  [{ context: Number.NaN, output: 8_000 }, undefined, "NaN context"],
  [{ context: 200_000, output: Number.NaN }, undefined, "NaN output"],
  [{ context: 200_000, input: Number.NaN, output: 8_000 }, undefined, "NaN input"],
  [{ context: Number.POSITIVE_INFINITY, output: 8_000 }, undefined, "infinite context"],
  [{ context: 200_000, output: Number.POSITIVE_INFINITY }, undefined, "infinite output"],
  [{ context: "200000", output: 8_000 }, undefined, "context as text"],
  [{ context: 200_000, output: "8000" }, undefined, "output as text"],
  [{ context: 200_000, input: "190000", output: 8_000 }, undefined, "input as text"],
  [{ context: 200_000 }, undefined, "output missing"],
  [{ output: 8_000 }, undefined, "context missing"],
  [{}, undefined, "both missing"],
]
for (const [limit, budget, why] of limitTable) {
  test(`limits ${describe(limit)} give ${budget ?? "no budget"}: ${why}`, () => {
    assert.equal(findInputBudget(limit as Limit, 32_000), budget)
  })
  test(`a catalog that states ${describe(limit)} ${budget ? "is used" : "leaves the request alone"}: ${why}`, async () => {
    const instance = startInstance({ providers: answers(catalogWith(limit)) })
    const messages = longHistory()
    const before = structuredClone(messages)
    await instance.transform(messages)
    assert.deepEqual(instance.budgets(), budget === undefined ? [] : [budget])
    if (budget !== undefined) return
    assert.deepEqual(instance.outcomes(), ["unavailable-budget"])
    assert.deepEqual(messages, before)
  })
}

function describe(limit: unknown): string {
  return JSON.stringify(limit, (_key, value: unknown) => (Number.isFinite(value) ? value : readable(value)))
}

function readable(value: unknown): unknown {
  return typeof value === "number" ? `(${value})` : value
}

const ceilings: [value: string | undefined, ceiling: number][] = [
  [undefined, 32_000],
  ["64000", 64_000],
  ["1", 1],
  ["", 32_000],
  ["0", 32_000],
  ["-1", 32_000],
  ["1.5", 32_000],
  ["many", 32_000],
  ["NaN", 32_000],
  ["Infinity", 32_000],
  ["9007199254740993", 32_000],
  ["64000 tokens", 32_000],
]
for (const [value, ceiling] of ceilings)
  test(`the output ceiling ${JSON.stringify(value)} in the environment counts as ${ceiling}`, () => {
    assert.equal(findOutputTokenMax({ OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX: value }), ceiling)
  })

test("the ceiling reaches the budget of catalog and configuration", async () => {
  const limit = { context: 200_000, output: 131_072 }
  for (const [providers, models] of [
    [answers(catalogWith(limit)), {}],
    [rejects, { "lab/lab-1": { limit } }],
  ] as const) {
    const instance = startInstance({ providers }, { outputTokenMax: 64_000, models })
    await instance.transform(longHistory())
    assert.deepEqual(instance.budgets(), [136_000])
  }
})

const wide = entry(ROOMY)
const unusable: [why: string, answer: unknown][] = [
  ["two providers have the id", catalog(provider({ "lab-1": wide }), provider({ "lab-1": wide }))],
  ["two providers have the id and one knows the model", catalog(provider({}), provider({ "lab-1": wide }))],
  ["no provider has the id", catalog(provider({ "lab-1": wide }, { id: "LAB" }))],
  ["there is no provider", catalog()],
  ["the model is unknown", catalog(provider({ "lab-2": wide }))],
  ["the entry is of another model", catalog(provider({ "lab-1": entry(ROOMY, { id: "lab-2" }) }))],
  ["the entry is of another provider", catalog(provider({ "lab-1": entry(ROOMY, { providerID: "other" }) }))],
  ["the entry names no provider", catalog(provider({ "lab-1": { id: "lab-1", limit: ROOMY } }))],
  ["the entry names no model", catalog(provider({ "lab-1": { providerID: "lab", limit: ROOMY } }))],
  ["the entry states no limit", catalog(provider({ "lab-1": entry(undefined) }))],
  ["the limit is a list", catalog(provider({ "lab-1": entry([200_000, 8_000]) }))],
  ["the input limit is null", catalog(provider({ "lab-1": entry({ ...ROOMY, input: null }) }))],
  ["the model is inherited", catalog(provider(Object.create({ "lab-1": wide }) as Record<string, unknown>))],
  ["the providers are no list", { data: { providers: { lab: provider({ "lab-1": wide }) } } }],
  ["the models are a list", catalog(provider([] as unknown as Record<string, unknown>))],
  ["the answer is an error", { error: { name: "BadRequest" } }],
  ["the answer has no data", {}],
  ["the answer is nothing", undefined],
  ["the answer is null", null],
  ["the answer is text", "<html>"],
  [
    "the answer throws when it is read",
    {
      get data() {
        throw new Error("no")
      },
    },
  ],
]
for (const [why, answer] of unusable) {
  test(`without a usable entry the request stays as it is: ${why}`, async () => {
    const instance = startInstance({ providers: answers(answer) })
    const messages = longHistory()
    const before = structuredClone(messages)
    await instance.transform(messages)
    assert.deepEqual(instance.outcomes(), ["unavailable-budget"])
    assert.deepEqual(messages, before)
    instance.fake.assertNothingWritten()
  })
  test(`the configuration's limits work when ${why}`, async () => {
    const instance = startInstance({ providers: answers(answer) }, { models: { "lab/lab-1": { limit: NARROW } } })
    const messages = longHistory()
    await instance.transform(messages)
    assert.deepEqual(instance.budgets(), [2_500])
    assert.deepEqual(clearedTargets(messages), ["old.ts"])
  })
}

for (const [how, providers] of [
  ["rejects", rejects],
  ["throws", throws],
] as const)
  test(`a catalog that ${how} leaves the request alone, or to the configuration's limits`, async () => {
    const instance = startInstance({ providers })
    await instance.transform(longHistory())
    assert.deepEqual(instance.outcomes(), ["unavailable-budget"])
    const configured = startInstance({ providers }, { models: { "lab/*": { limit: NARROW } } })
    await configured.transform(longHistory())
    assert.deepEqual(configured.budgets(), [2_500])
  })

test("a catalog that never answers leaves the request to the configuration's limits after two seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  const instance = startInstance({ providers: neverAnswers }, { models: { "*/*": { limit: NARROW } } })
  const request = instance.transform(longHistory())
  t.mock.timers.tick(2_000)
  await request
  assert.deepEqual(instance.budgets(), [2_500])
})

test("the configuration's limits never override a valid entry, neither smaller nor larger", async () => {
  for (const limit of [
    { context: 1_000, output: 10 },
    { context: 1_000_000, output: 10 },
  ]) {
    const models: Record<string, ModelEntry> = { "lab/lab-1": { limit }, "*/*": { limit } }
    const instance = startInstance({ providers: answers(catalogWith(ROOMY)) }, { models })
    await instance.transform(longHistory())
    assert.deepEqual(instance.budgets(), [168_000])
  }
})

test("limits that leave no input are no limits, in the configuration too", async () => {
  const models = { "lab/lab-1": { limit: { context: 100, output: 100 } } }
  const instance = startInstance({ providers: rejects }, { models })
  await instance.transform(longHistory())
  assert.deepEqual(instance.outcomes(), ["unavailable-budget"])
})

type Asked = { created?: unknown; id?: string; model?: unknown; parts?: object[] }

/** A history with these user messages behind it, in this order. */
function askedBy(...users: Asked[]): Message[] {
  const history = longHistory()
  for (const message of history) if (message.info.role === "user") message.info["time"] = { created: 1 }
  const asked = users.map(({ created, id = "msg_user", model, parts }): unknown => ({
    info: { id, sessionID: "ses_1", role: "user", time: { created }, model },
    parts: parts ?? [{ id: "prt", type: "text", text: "go on" }],
  }))
  return [...history, ...(asked as Message[])]
}
const ONE = { providerID: "lab", modelID: "lab-1" }
const TWO = { providerID: "lab", modelID: "lab-2" }
const bothModels = answers(
  catalog(provider({ "lab-1": entry(NARROW), "lab-2": entry(ROOMY, { id: "lab-2", providerID: "lab" }) })),
)
const switches: [why: string, users: Asked[], budgetOrReason: number | string][] = [
  [
    "later in time, later in the array",
    [
      { created: 10, model: ONE },
      { created: 20, model: TWO },
    ],
    168_000,
  ],
  [
    "later in time, earlier in the array",
    [
      { created: 20, model: TWO },
      { created: 10, model: ONE },
    ],
    168_000,
  ],
  [
    "the first model again",
    [
      { created: 20, model: ONE },
      { created: 10, model: TWO },
    ],
    2_500,
  ],
  [
    "at the same time the greater id",
    [
      { created: 20, id: "msg_b", model: TWO },
      { created: 20, id: "msg_a", model: ONE },
    ],
    168_000,
  ],
  [
    "a user message that only asks for compaction does not count",
    [
      { created: 10, model: TWO },
      { created: 20, model: ONE, parts: [{ id: "prt", type: "compaction", auto: true }] },
    ],
    168_000,
  ],
  ["one without a time is the oldest", [{ created: 10, model: TWO }, { model: ONE }], 168_000],
  ["the latest names no model: not an earlier one's", [{ created: 20 }, { created: 10, model: ONE }], "unknown-model"],
  ["the latest names half a model", [{ created: 20, model: { providerID: "lab" } }], "unknown-model"],
  ["the latest names empty ids", [{ created: 20, model: { providerID: "", modelID: "" } }], "unknown-model"],
  ["the latest names a model as text", [{ created: 20, model: "lab/lab-1" }], "unknown-model"],
]
for (const [why, users, expected] of switches)
  test(`which user message decides the model: ${why}`, async () => {
    const instance = startInstance({ providers: bothModels })
    await instance.transform(askedBy(...users))
    assert.deepEqual([...instance.budgets(), ...instance.outcomes()][0], expected)
  })
