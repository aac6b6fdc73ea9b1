import type { KeptReason, Policy, ToolOutput } from "./types.ts"

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

/** Common to all of them: most paths are told apart by it. */
const INSTRUCTION_EXTENSION = ".md"

interface Row {
  reason: KeptReason
  applies: (output: ToolOutput, policy: Policy) => boolean
}

/** In order: the first row that applies is the answer to "why was this kept?". */
const KEPT_ROWS: readonly Row[] = [
  { reason: "not-sent", applies: ({ facts }) => !facts.sent },
  { reason: "other-tool", applies: ({ tool }) => !CLEARABLE_TOOLS.has(tool) },
  { reason: "protected-tool", applies: ({ tool }, policy) => policy.protectedTools.includes(tool) },
  { reason: "not-completed", applies: ({ facts }) => facts.outcome !== "completed" },
  { reason: "already-cleared", applies: ({ facts }) => facts.mark === "placeholder" },
  { reason: "odd-mark", applies: ({ facts }) => facts.mark === "odd" },
  { reason: "unmarkable", applies: ({ facts }) => facts.mark === "unmarkable" },
  { reason: "error", applies: ({ facts }) => facts.error },
  { reason: "no-text", applies: ({ text }) => text === undefined },
  { reason: "attachments", applies: ({ facts }) => facts.attachments },
  { reason: "provider-executed", applies: ({ facts }) => facts.providerExecuted },
  { reason: "failed-exit", applies: ({ facts }) => facts.exitCode !== 0 && facts.exitCode !== "absent" },
  // A shell command proves its success; a missing exit code proves nothing (the host omits it for the user's own `!`).
  { reason: "unproven-exit", applies: ({ tool, facts }) => tool === "bash" && facts.exitCode === "absent" },
  { reason: "no-path", applies: ({ tool, facts }) => tool === "read" && facts.path === undefined },
  { reason: "instruction-file", applies: ({ tool, facts }) => tool === "read" && isInstructionFile(facts.path) },
  // The host attaches instructions again when it sees a cleared read that had loaded them: twice the cost, no saving.
  { reason: "loaded-instructions", applies: ({ facts }) => facts.loadedInstructions },
  { reason: "small", applies: ({ savingsTokens }, policy) => savingsTokens < policy.minimumSavingsTokens },
]

/** The first reason to keep an output, or `undefined` when it may be cleared. */
export function findKeptReason(output: ToolOutput, policy: Policy): KeptReason | undefined {
  return KEPT_ROWS.find(({ applies }) => applies(output, policy))?.reason
}

/** Whether the output may be cleared where no stored mark hides it. */
export function isEligible(output: ToolOutput, policy: Policy): boolean {
  return KEPT_ROWS.every(({ reason, applies }) => reason === "already-cleared" || !applies(output, policy))
}

function isInstructionFile(path: string | undefined): boolean {
  if (path === undefined || path.slice(-INSTRUCTION_EXTENSION.length).toLowerCase() !== INSTRUCTION_EXTENSION)
    return false
  const basename = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)
  return INSTRUCTION_FILES.has(basename.toLowerCase())
}
