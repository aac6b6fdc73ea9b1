import { drawContextChart, inThousands } from "./context-chart.ts"
import { BUDGET_TOKENS, findFirstClears, type DemoSession, type FirstClear } from "./demo-session.ts"
import { findToolPart, findToolParts, type StoredMessage } from "./stored.ts"
import { unclearedTokens } from "./uncleared-size.ts"

const CHART_ROWS = 16
const EXAMPLES = 3

/** What happened, for a reader at a terminal. */
export function tellStory(session: DemoSession, colour: boolean): string[] {
  const { hostVersion, requests, before, after } = session
  const clears = findFirstClears(session)
  const points = requests.map((request) => ({ sent: request.tokens, uncleared: unclearedTokens(request, after) }))
  const last = points.at(-1) ?? { sent: 0, uncleared: 0 }
  return [
    `OpenCode ${hostVersion} with opencode-dcp: ${findToolParts(after).length} tool calls in ${requests.length} requests to a scripted model`,
    "",
    "Tokens per request     ██ sent     ░░ cleared from the request     ── the most that the model accepts",
    ...drawContextChart(points, { budgetTokens: BUDGET_TOKENS, rows: CHART_ROWS, colour }),
    "",
    `Without the plugin the last request would have held ${inThousands(last.uncleared)} tokens. It held ${inThousands(last.sent)}.`,
    "",
    `Cleared: ${clears.length} outputs, copies first, then the oldest; never one of the newest steps`,
    ...tellReason("redundant", "a later identical output stays", clears, after),
    ...tellReason("aged", "among the oldest", clears, after),
    "",
    `Stored: the ${before.length} messages from before the first clear are unchanged in \`opencode export\`, all ${clears.length} cleared`,
    "outputs are there in full, as they were first sent, and none carries a mark.",
  ]
}

function tellReason(
  reason: string,
  meaning: string,
  clears: readonly FirstClear[],
  stored: readonly StoredMessage[],
): string[] {
  const some = clears.filter((one) => one.reason === reason)
  const tokens = some.reduce((sum, { savedTokens }) => sum + savedTokens, 0)
  const more = some.length > EXAMPLES ? [`     … and ${some.length - EXAMPLES} more`] : []
  return [
    `  ${some.length} ${reason} (${meaning}), ${inThousands(tokens)} tokens`,
    ...some.slice(0, EXAMPLES).map((one) => `     ${tellClear(one, stored)}`),
    ...more,
  ]
}

function tellClear(one: FirstClear, stored: readonly StoredMessage[]): string {
  const input = findToolPart(stored, one.callID)?.state.input ?? {}
  const subject = String(input["filePath"] ?? input["pattern"] ?? input["command"]).slice(0, 40)
  const why = one.witnessCallID === undefined ? "" : `, same as ${one.witnessCallID}`
  return `from request ${one.requestIndex + 1}: ${one.callID} ${one.tool} ${subject}, ${Math.round(one.savedTokens)} tokens${why}`
}
