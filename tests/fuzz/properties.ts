import assert from "node:assert/strict"
import fc from "fast-check"
import { Catalog } from "../../lib/catalog.ts"
import { checkLayer } from "../../lib/config/check.ts"
import { configOf, mergeFields } from "../../lib/config/merge.ts"
import { parseLayer } from "../../lib/config/parse.ts"
import { policyFor } from "../../lib/config/policy.ts"
import { loadValidate } from "../../lib/config/schema.ts"
import { estimateMessages, planProjection, projectMessages } from "../../lib/dtc/engine.ts"
import type { Message } from "../../lib/dtc/types.ts"
import { hostileHistories, type Hostile } from "../helpers/arbitrary-hostile.ts"
import {
  FULL,
  SMALL,
  storedHistories,
  wholeHistories,
  wholeOptions,
  type HistorySize,
} from "../helpers/arbitrary-histories.ts"
import { catalogAnswers, layerTexts, modelNames } from "../helpers/arbitrary-settings.ts"
import { answers, createClient } from "../helpers/client.ts"
import { DEFAULT_POLICY } from "../helpers/history.ts"
import { checkGrowth } from "../helpers/laws-growth.ts"
import { checkProjection } from "../helpers/laws.ts"

/** What was generated and what it came to, so that a generator which reaches nothing does not go unnoticed. */
export interface Seen {
  messages: number
  parts: number
  cleared: number
  unknown: number
}

export interface FuzzProperty {
  name: string
  /** Counted towards the histories. */
  isHistory: boolean
  /** Generated at full size. */
  isFull: boolean
  /** Of all cases; the shares add up to 1. */
  share: number
  /** Cases between two looks at the clock. */
  casesPerRound: number
  create: (seen: Seen) => fc.IAsyncProperty<unknown>
}

/** Whatever is true of everything that can be generated. */
export const PROPERTIES: readonly FuzzProperty[] = [
  {
    name: "histories",
    isHistory: true,
    isFull: false,
    share: 0.7,
    casesPerRound: 500,
    create: (seen) => projectionProperty(SMALL, seen),
  },
  {
    name: "full-histories",
    isHistory: true,
    isFull: true,
    share: 0.11,
    casesPerRound: 50,
    create: (seen) => projectionProperty(FULL, seen),
  },
  {
    name: "growing-histories",
    isHistory: true,
    isFull: false,
    share: 0.06,
    casesPerRound: 100,
    create: (seen) =>
      asyncProperty(storedHistories(SMALL), wholeOptions(SMALL), (messages, options) => {
        count(seen, messages)
        seen.cleared += Math.min(1, checkGrowth(messages, options).carried)
      }),
  },
  {
    name: "hostile-histories",
    isHistory: true,
    isFull: false,
    share: 0.06,
    casesPerRound: 200,
    create: (seen) =>
      asyncProperty(hostileHistories, fc.boolean(), (hostile, force) => checkHostile(hostile, force, seen)),
  },
  {
    name: "configurations",
    isHistory: false,
    isFull: false,
    share: 0.04,
    casesPerRound: 200,
    create: () => asyncProperty(layerTexts, modelNames, checkConfiguration),
  },
  {
    name: "catalogs",
    isHistory: false,
    isFull: false,
    share: 0.03,
    casesPerRound: 200,
    create: () => asyncProperty(catalogAnswers, modelNames, checkCatalog),
  },
]

function asyncProperty<A, B>(
  first: fc.Arbitrary<A>,
  second: fc.Arbitrary<B>,
  check: (a: A, b: B) => void | Promise<void>,
): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(first, second, async (a, b) => check(a, b)) as fc.IAsyncProperty<unknown>
}

function projectionProperty(size: HistorySize, seen: Seen): fc.IAsyncProperty<unknown> {
  return asyncProperty(wholeHistories(size), wholeOptions(size), (messages, options) => {
    count(seen, messages)
    const { stats } = checkProjection(messages, options)
    seen.cleared += Math.min(1, stats.foldedTools)
    seen.unknown += stats.skipped === "unknown-content" ? 1 : 0
  })
}

function count(seen: Seen, messages: readonly Message[]): void {
  seen.messages += messages.length
  seen.parts += messages.reduce((sum, { parts }) => sum + parts.length, 0)
}

/** What is no plain data comes back as the input itself, and none of its code runs. */
function checkHostile({ messages, runs }: Hostile, force: boolean, seen: Seen): void {
  seen.messages += messages.length
  const projection = projectMessages(messages, { inputBudget: 1, policy: DEFAULT_POLICY, force })
  const { marked } = planProjection(messages, { inputBudget: 1, policy: DEFAULT_POLICY, force })
  assert.deepEqual(marked, [])
  assert.equal(projection.messages, messages, "a copy of what cannot be copied")
  assert.equal(projection.stats.skipped, "unknown-content")
  assert.deepEqual(projection.cleared, [])
  assert.equal(estimateMessages(messages), undefined)
  assert.equal(runs(), 0, "code of the history ran")
  seen.unknown++
}

/** Whatever the layers say, the policy is one that the engine accepts, and nothing reaches a prototype. */
async function checkConfiguration(
  texts: readonly string[],
  model: { providerID: string; modelID: string },
): Promise<void> {
  const validate = await loadValidate()
  const layers = texts.flatMap((text) => {
    const parsed = parseLayer(text)
    return "kind" in parsed ? [] : [checkLayer(parsed, validate).fields]
  })
  const config = configOf(mergeFields(layers))
  const { policy, limit } = policyFor(config, model)
  projectMessages([], { inputBudget: 1, policy })
  assert.ok(limit === undefined || (limit.context > 0 && limit.output > 0))
  assert.equal(typeof config.enabled, "boolean")
  for (const prototype of [Object.prototype, Array.prototype, Function.prototype])
    assert.deepEqual(Object.keys(prototype), [], "a prototype was written")
  for (const holder of [config, config.dtc, config.models, policy])
    assert.equal(Object.getPrototypeOf(holder), Object.prototype, "a prototype was replaced")
}

/** Whatever the catalog says, the answer is none, or the model that was asked for, with a budget that is one. */
async function checkCatalog(answer: unknown, model: { providerID: string; modelID: string }): Promise<void> {
  const { client } = createClient({ providers: answers(answer) })
  const entry = await new Catalog({ client, outputTokenMax: 32_000, clock: () => 0 }).ask(model)
  if (!entry) return
  assert.deepEqual([entry.model.providerID, entry.model.modelID], [model.providerID, model.modelID])
  assert.ok(entry.inputBudget === undefined || (Number.isInteger(entry.inputBudget) && entry.inputBudget > 0))
}
