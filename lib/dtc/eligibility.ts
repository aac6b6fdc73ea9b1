import type { Policy, ToolOutput } from "./types.ts"

/** Why an output is kept. Recent protection is no row: it depends on the request, not on the output. */
export type KeptReason = (typeof KEPT_ROWS)[number]["reason"]

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

type Row<Reason extends string> = { reason: Reason; applies: (output: ToolOutput, policy: Policy) => boolean }

const row = <Reason extends string>(reason: Reason, applies: Row<Reason>["applies"]): Row<Reason> => ({
  reason,
  applies,
})

/** In order: the first row that applies is the answer to "why was this kept?". */
const KEPT_ROWS = [
  row("not-sent", ({ facts }) => !facts.sent),
  row("other-tool", ({ tool }) => !CLEARABLE_TOOLS.has(tool)),
  row("protected-tool", ({ tool }, policy) => policy.protectedTools.includes(tool)),
  row("not-completed", ({ facts }) => facts.outcome !== "completed"),
  row("already-cleared", ({ facts }) => facts.mark === "placeholder"),
  row("odd-mark", ({ facts }) => facts.mark === "odd"),
  row("unmarkable", ({ facts }) => facts.mark === "unmarkable"),
  row("error", ({ facts }) => facts.error),
  row("no-text", ({ text }) => text === undefined),
  row("attachments", ({ facts }) => facts.attachments),
  row("provider-executed", ({ facts }) => facts.providerExecuted),
  row("failed-exit", ({ facts }) => facts.exitCode !== 0 && facts.exitCode !== "absent"),
  // A shell command proves its success; a missing exit code proves nothing (the host omits it for the user's own `!`).
  row("unproven-exit", ({ tool, facts }) => tool === "bash" && facts.exitCode === "absent"),
  row("no-path", ({ tool, facts }) => tool === "read" && facts.path === undefined),
  row("instruction-file", ({ tool, facts }) => tool === "read" && isInstructionFile(facts.path)),
  // The host attaches instructions again when it sees a cleared read that had loaded them: twice the cost, no saving.
  row("loaded-instructions", ({ facts }) => facts.loadedInstructions),
  row("small", ({ savingsTokens }, policy) => savingsTokens < policy.minimumSavingsTokens),
] as const satisfies readonly Row<string>[]

/** The first reason to keep an output, or `undefined` when it may be cleared. */
export function findKeptReason(output: ToolOutput, policy: Policy): KeptReason | undefined {
  return KEPT_ROWS.find((candidate) => candidate.applies(output, policy))?.reason
}

function isInstructionFile(path: string | undefined): boolean {
  const basename = path?.split(/[/\\]/).at(-1)
  return basename !== undefined && INSTRUCTION_FILES.has(basename.toLowerCase())
}
