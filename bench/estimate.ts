/**
 * Measures how far estimates are off: against the sizes that providers reported for the requests of stored sessions, and
 * against tokenizers, by kind of text.
 *
 *   npm run bench:estimate -- [FILES…] [--out FILE.json] [--no-texts]
 *
 * FILES are what `opencode export` prints or plain arrays of messages; without any, only texts are measured. `--out` writes
 * the numbers there.
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { describeErrors, type MethodError } from "./estimate/errors.ts"
import { METHODS } from "./estimate/methods.ts"
import { ENGINE, predictReports, type Prediction } from "./estimate/reported.ts"
import { renderFirsts, renderMethods, renderTexts } from "./estimate/table.ts"
import { measureTexts, type TextKindResult } from "./estimate/measure.ts"
import { readSession } from "./replay/session.ts"

/** The JSON that the benchmark writes: numbers and session names only. */
export interface EstimateResult {
  /** Raised when a field changes its meaning. */
  version: 1
  methods: { name: string; description: string }[]
  /** Requests with an earlier report in the same window: errors of each method. */
  sessions: { session: string; errors: MethodError[] }[]
  overall: MethodError[]
  /** First reported requests of a window: nothing but the history is known. */
  firsts: { session: string; reportedTokens: number; historyTokens: number | undefined }[]
  texts: TextKindResult[]
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: { out: { type: "string" }, texts: { type: "boolean", default: true } },
})

const predictions = predictReports(positionals.toSorted().map(readSession))
const result = describeResult(predictions, values.texts ? await measureTexts() : [])
for (const { session, errors } of result.sessions) write(renderMethods(session, errors))
if (result.sessions.length > 0) write(renderMethods("all sessions", result.overall))
if (result.firsts.length > 0) write(renderFirsts(result.firsts))
if (result.texts.length > 0) write(renderTexts(result.texts))
if (values.out) writeFileSync(values.out, `${JSON.stringify(result, undefined, 2)}\n`)

function describeResult(predicted: readonly Prediction[], texts: TextKindResult[]): EstimateResult {
  const later = predicted.filter(({ isFirst }) => !isFirst)
  const sessions = [...new Set(later.map(({ session }) => session))]
  return {
    version: 1,
    methods: [
      ...METHODS.map(({ name, description }) => ({ name, description })),
      { name: ENGINE, description: "the engine: last report, reported output, growth by the slope seen so far" },
    ],
    sessions: sessions.map((session) => ({
      session,
      errors: describeErrors(later.filter((one) => one.session === session)),
    })),
    overall: describeErrors(later),
    firsts: predicted
      .filter(({ isFirst }) => isFirst)
      .map(({ session, reportedTokens, predicted: said }) => ({
        session,
        reportedTokens,
        historyTokens: said["history"] === undefined ? undefined : Math.ceil(said["history"]),
      })),
    texts,
  }
}

function write(text: string): void {
  process.stdout.write(`${text}\n\n`)
}
