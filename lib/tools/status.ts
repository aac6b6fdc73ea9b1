import type { Dispatches, Placeholder, RequestRecord } from "../dispatches.ts"
import type { KeptCounts, Source, SourceMap, Stats } from "../dtc/types.ts"
import type { ToolDefinition } from "../host.ts"
import { printable } from "../printable.ts"
import type { SkipReason } from "../request.ts"
import { plural, shorten } from "./wording.ts"

const LISTED_OUTPUTS = 12
const LISTED_MESSAGES = 20
const SHOWN_NAME_CHARACTERS = 60

const DESCRIPTION =
  "Says what the last model request of this session was sent with: token budget and estimate, which old tool outputs were " +
  "left out and why, what was kept and why, and how many messages went out. Names, counts and sizes only. It changes nothing."

const UNSENT = "No request of this session has been sent since the plugin started, so there is nothing to tell yet."

/** Tells about the request that the model has answered last. Never conversation text, and never more than a screen or two. */
export function createStatusTool({ dispatches, recall }: { dispatches: Dispatches; recall: boolean }): ToolDefinition {
  return {
    description: DESCRIPTION,
    args: {},
    execute: async (_args, { sessionID }) => {
      const record = dispatches.findRecord(sessionID)
      return record ? describeRecord(record, recall) : UNSENT
    },
  }
}

function describeRecord(record: RequestRecord, recall: boolean): string {
  const { key, skipped, stats, kept, placeholders } = record
  return [
    `Last request of this session, to ${shortenName(`${key.providerID ?? "?"}/${key.modelID ?? "?"}`)}:`,
    ...(skipped ? [`Nothing was done to it: ${SKIPPED[skipped]}.`] : []),
    ...(stats ? describeSizes(stats, record) : []),
    ...describeCleared(record),
    ...(kept ? [describeKept(kept, stats)] : []),
    ...describeMap(record),
    ...(recall && placeholders.length > 0 ? ["dcp_recall returns the original of an output that was left out."] : []),
  ].join("\n")
}

const SKIPPED: Readonly<Record<SkipReason, string>> = {
  "empty-history": "it held no messages",
  failed: "the plugin failed on it",
  "guard-capacity": "too many compactions wait at once, so clearing is off until the host's instance is reloaded",
  "malformed-message": "one of its messages cannot be read, perhaps another plugin's",
  "model-changed": "the model changed while its limits were looked up",
  "native-compaction": "it belongs to the host's own compaction",
  "not-plain-data": "its messages are not plain data, perhaps by another plugin",
  "request-changed": "its messages changed while the model's limits were looked up",
  "unavailable-budget": "the host's catalog gives no token limits for the model, and the configuration states none",
  "unidentified-session": "its messages do not all name the same session",
  "unknown-content": "it holds content whose size cannot be known",
  "unknown-model": "no user message in it names a model",
}

const BUDGET_SOURCES: Readonly<Record<NonNullable<RequestRecord["budgetFrom"]>, string>> = {
  catalog: "the host's catalog",
  configuration: "the plugin's configuration",
}

const METHODS: Readonly<Record<Stats["estimateMethod"], string>> = {
  base: "by the size of the content",
  calibrated: "by what the provider reported for earlier requests, and what came since",
}

function describeSizes(stats: Stats, { budgetFrom, forced }: RequestRecord): string[] {
  const { inputBudget, targetTokens, estimatedBefore, estimatedAfter, estimateMethod } = stats
  const origin = budgetFrom ? `, from ${BUDGET_SOURCES[budgetFrom]}` : ""
  const estimate =
    estimatedBefore === undefined || estimatedAfter === undefined
      ? "unknown"
      : `${tokens(estimatedBefore)} before clearing, ${tokens(estimatedAfter)} after, ${METHODS[estimateMethod]}`
  return [
    `Budget: ${tokens(inputBudget)} of input${origin}. Above the target of ${tokens(targetTokens)}, outputs are cleared.`,
    `Estimate: ${estimate}.${stats.overBudget ? " That is above the target." : ""}`,
    ...(forced ? ["dcp_prune had asked for everything that may be cleared."] : []),
  ]
}

function describeCleared({ placeholders, stats, skipped }: RequestRecord): string[] {
  if (placeholders.length === 0) return [`Cleared: nothing.${stats && !skipped ? ` ${explainNothing(stats)}` : ""}`]
  const saved = placeholders.reduce((sum, { savedTokens = 0 }) => sum + savedTokens, 0)
  const counts = describeCounts(countBy(placeholders, ({ reason }) => CLEARED[reason]))
  const listed = placeholders.slice(-LISTED_OUTPUTS)
  const left = placeholders.length - listed.length
  return [
    `Cleared: ${plural(placeholders.length, "output")}, of which this plugin saved ${tokens(saved)}: ${counts}.`,
    ...(left > 0 ? [`  The newest ${listed.length}; ${left} older ones are not listed:`] : []),
    ...listed.map(describePlaceholder),
  ]
}

function explainNothing({ overBudget }: Stats): string {
  return overBudget
    ? "No output may be cleared, or clearing would free too little to be worth a change of what was sent before."
    : "The estimate is within the target."
}

const CLEARED: Readonly<Record<Placeholder["reason"], string>> = {
  aged: "old",
  forced: "asked for by dcp_prune",
  host: "marked by the host",
  redundant: "repeated later",
}

function describePlaceholder({ tool, callID, reason, witnessCallID, savedTokens }: Placeholder): string {
  const same = witnessCallID === undefined ? "" : `, the identical output of ${shortenName(witnessCallID)} came later`
  const size = savedTokens === undefined ? "" : `, ${tokens(savedTokens)}`
  return `  ${shortenName(tool)} ${shortenName(callID)}: ${CLEARED[reason]}${size}${same}`
}

const KEPT: Readonly<Record<string, string>> = {
  "already-cleared": "cleared before by a stored mark",
  attachments: "with attachments",
  error: "with an error",
  "failed-exit": "of commands that failed",
  "instruction-file": "of instruction files",
  "loaded-instructions": "that brought instructions",
  "no-path": "of reads without a path",
  "no-text": "without text",
  "not-completed": "of calls that failed or did not end",
  "not-sent": "in messages that are not sent",
  "odd-mark": "with an odd mark",
  "other-tool": "of tools that are never cleared",
  "protected-tool": "of tools that the configuration protects",
  "provider-executed": "of tools that the provider ran",
  recent: "of the newest steps",
  small: "too small to matter",
  unmarkable: "that cannot be marked",
  "unproven-exit": "of commands without an exit code",
  waiting: "that may be cleared when there is need",
} satisfies Record<keyof KeptCounts, string>

/** The host's marks are among the cleared ones already. */
function describeKept({ "already-cleared": _marked, ...kept }: KeptCounts, stats: Stats | undefined): string {
  const counts = new Map(Object.entries(kept).map(([reason, count]) => [KEPT[reason] ?? reason, count]))
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return "Kept: no tool output."
  return `Kept: ${plural(total, "output")}: ${describeCounts(counts)}. ${describeProtection(stats?.protectedSteps ?? 0)}`
}

function describeProtection(steps: number): string {
  return steps === 1 ? "The newest tool step is protected." : `The newest ${steps} tool steps are protected.`
}

function describeMap({ map, placeholders }: RequestRecord): string[] {
  if (!map) return ["Source map: none. It was dropped for a newer prompt or model, or the origins could not be told."]
  const { historyMessageCount, sources } = map
  const counts = describeCounts(countBy(sources, ({ type, role }) => (type === "history" ? role : ROWS[type])))
  return [
    `Source map: ${plural(sources.length, "message")} sent (${counts}), from ${plural(historyMessageCount, "stored one")}.`,
    ...(placeholders.length > 0 ? [describeClearedRows(map)] : []),
  ]
}

const ROWS: Readonly<Record<Exclude<Source["type"], "history">, string>> = {
  compaction: "compaction",
  "runtime-context": "added by the host",
  "tool-repair": "results made up for calls without one",
}

function describeClearedRows({ sources }: SourceMap): string {
  const rows = sources.flatMap(({ cleared = [] }, index) =>
    cleared.length > 0 ? [`${index} (${cleared.length})`] : [],
  )
  const left = rows.length - LISTED_MESSAGES
  return `  Cleared outputs stand in messages ${rows.slice(-LISTED_MESSAGES).join(", ")}${left > 0 ? ` and ${left} older ones` : ""}, counted from 0.`
}

function countBy<T>(all: readonly T[], nameOf: (one: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1)
  return counts
}

function describeCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} ${name}`).join(", ")
}

function tokens(count: number): string {
  return `${Math.round(count).toLocaleString("en-US")} tokens`
}

function shortenName(name: string): string {
  return shorten(printable(name), SHOWN_NAME_CHARACTERS)
}
