import type { Policy, ToolOutput } from "./types.ts"

/** Why an output is kept. Recent protection is not among them: it depends on the request, not on the output. */
export type KeptReason =
  | "already-cleared"
  | "attachments"
  | "error"
  | "failed-exit"
  | "instruction-file"
  | "loaded-instructions"
  | "no-path"
  | "no-text"
  | "not-completed"
  | "not-sent"
  | "odd-mark"
  | "other-tool"
  | "protected-tool"
  | "provider-executed"
  | "small"
  | "unmarkable"
  | "unproven-exit"

/** The tools whose outputs can be had again or proven successful. No configuration adds one. */
const CLEARABLE_TOOLS: ReadonlySet<string> = new Set(["read", "grep", "glob", "bash"])

/**
 * Files that instruct the model. Reading one again is no substitute for having it in context, and the host reports them
 * in `loaded` only when it attached them itself.
 */
const INSTRUCTION_FILES: ReadonlySet<string> = new Set([
  "agents.md",
  "agents.override.md",
  "claude.md",
  "context.md",
  "skill.md",
])

type Row = readonly [reason: KeptReason, applies: (output: ToolOutput, policy: Policy) => boolean]

/** In order: the first row that applies is the answer to "why was this kept?". */
const KEPT_ROWS: readonly Row[] = [
  ["not-sent", ({ facts }) => !facts.sent],
  ["other-tool", ({ tool }) => !CLEARABLE_TOOLS.has(tool)],
  ["protected-tool", ({ tool }, policy) => policy.protectedTools.includes(tool)],
  ["not-completed", ({ facts }) => facts.outcome !== "completed"],
  ["already-cleared", ({ facts }) => facts.mark === "placeholder"],
  ["odd-mark", ({ facts }) => facts.mark === "odd"],
  ["unmarkable", ({ facts }) => facts.mark === "unmarkable"],
  ["error", ({ facts }) => facts.error],
  ["no-text", ({ text }) => text === undefined],
  ["attachments", ({ facts }) => facts.attachments],
  ["provider-executed", ({ facts }) => facts.providerExecuted],
  ["failed-exit", ({ facts }) => facts.exitCode !== 0 && facts.exitCode !== "absent"],
  // A shell command proves its success; a missing exit code proves nothing (the host omits it for the user's own `!`).
  ["unproven-exit", ({ tool, facts }) => tool === "bash" && facts.exitCode === "absent"],
  ["no-path", ({ tool, facts }) => tool === "read" && facts.path === undefined],
  ["instruction-file", ({ tool, facts }) => tool === "read" && isInstructionFile(facts.path)],
  // The host attaches instructions again when it sees a cleared read that had loaded them: twice the cost, no saving.
  ["loaded-instructions", ({ facts }) => facts.loadedInstructions],
  ["small", ({ savingsTokens }, policy) => savingsTokens < policy.minimumSavingsTokens],
]

/** The first reason to keep an output, or `undefined` when it may be cleared. */
export function findKeptReason(output: ToolOutput, policy: Policy): KeptReason | undefined {
  return KEPT_ROWS.find(([, applies]) => applies(output, policy))?.[0]
}

/** Whether the output may be cleared where no stored mark hides it. */
export function isEligible(output: ToolOutput, policy: Policy): boolean {
  return KEPT_ROWS.every(([reason, applies]) => reason === "already-cleared" || !applies(output, policy))
}

function isInstructionFile(path: string | undefined): boolean {
  const basename = path?.split(/[/\\]/).at(-1)
  return basename !== undefined && INSTRUCTION_FILES.has(basename.toLowerCase())
}
