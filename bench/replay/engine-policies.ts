import { projectMessages } from "../../lib/dtc/engine.ts"
import type { Policy } from "../../lib/dtc/types.ts"
import { findScale } from "./scale.ts"
import type { ClearingPolicy, RequestView } from "./policy.ts"
import { findSentMessages } from "./marks.ts"

/** The engine itself, asked afresh for every request, as the plugin asks it: nothing is carried from request to request. */
export function enginePolicy(name: string, description: string, extensions: Partial<Policy>): ClearingPolicy {
  return { name, description, decide: (view) => projectRequest(view, extensions) }
}

/**
 * The same with the sizes that the provider reported. The budget, like everything here, is stated by the base estimate; the
 * engine gets what that really is, system prompt and tools included.
 */
export function calibratedPolicy(name: string, description: string, extensions: Partial<Policy>): ClearingPolicy {
  const decide = (view: RequestView): ReadonlySet<number> => {
    const { overheadTokens, slope } = findScale(view.window)
    const budgetTokens = Math.ceil(overheadTokens + slope * view.limits.budgetTokens)
    return projectRequest({ ...view, limits: { ...view.limits, budgetTokens } }, { ...extensions, calibrate: true })
  }
  return { name, description, decide }
}

function projectRequest({ window, request, limits, settings }: RequestView, extensions: object): ReadonlySet<number> {
  const policy: Policy = { ...settings, ...extensions }
  const inputBudget = limits.budgetTokens
  const { cleared } = projectMessages(findSentMessages(window, request), { inputBudget, policy })
  if (cleared.length === 0) return new Set()
  const chosen = new Set(cleared.map(({ messageID, partID }) => `${messageID} ${partID}`))
  const outputs = window.outputs.slice(0, request.outputEnd)
  const found = outputs.filter(({ output }) => chosen.has(`${output.messageID} ${output.partID}`))
  return new Set(found.map(({ index }) => index))
}
