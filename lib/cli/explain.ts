import { writeFile } from "node:fs/promises"
import path from "node:path"
import { loadConfig } from "../config/load.ts"
import { describeDiagnostic } from "../config/problems.ts"
import type { Limit } from "../config/types.ts"
import { findOutputTokenMax } from "../request.ts"
import { printable, printableJson } from "../printable.ts"
import { findDirectory } from "./directory.ts"
import { choosePaint, type Console } from "./console.ts"
import { explainFailure, InputFault } from "./faults.ts"
import { findLimit } from "./limits.ts"
import { renderPage } from "./page.ts"
import { Progress } from "./progress.ts"
import { describeSession, findSessionModel } from "./report.ts"
import { readSession } from "./session.ts"
import { renderText } from "./text.ts"
import type { Report } from "./types.ts"

export interface ExplainSource {
  /** Relative to the current directory; `-` is standard input. */
  file: string
  /** Whose configuration counts, relative to the current directory. */
  directory: string
  limit: Limit | undefined
}

/** `all`: in a text, the requests where nothing happens too. */
export type ExplainFormat = { as: "text" | "json"; all: boolean } | { as: "html"; file: string }

const SWITCHED_OFF = "opencode-dcp: the configuration switches clearing off; this is what it would do if it were on\n"

/** Explains one exported session. Nothing is written but what was asked for. */
export async function explainFile(source: ExplainSource, format: ExplainFormat, console: Console): Promise<number> {
  const progress = new Progress(console)
  try {
    const report = await readReport(source, console, progress)
    await present(report, format, console, progress)
    return 0
  } finally {
    progress.clear()
  }
}

async function readReport(
  { file, directory, limit }: ExplainSource,
  console: Console,
  progress: Progress,
): Promise<Report> {
  const { env, home, err } = console
  const { config, diagnostics } = await loadConfig({ directory: await findDirectory(directory, console), env, home })
  for (const diagnostic of diagnostics) err.write(`opencode-dcp: ${printable(describeDiagnostic(diagnostic))}\n`)
  if (!config.enabled || !config.dtc.enabled) err.write(SWITCHED_OFF)
  const session = await readSession(file, console, progress)
  const known = findLimit(limit, config, findSessionModel(session), findOutputTokenMax(env))
  try {
    return describeSession(session, known, config, progress)
  } catch (error) {
    // Recursion over what a message holds, or a text that becomes too long.
    if (!(error instanceof RangeError)) throw error
    throw new InputFault("the session is nested too deeply, or too large", { cause: error })
  }
}

async function present(report: Report, format: ExplainFormat, console: Console, progress: Progress): Promise<void> {
  const { out } = console
  progress.clear()
  if (format.as === "html") {
    await writePage(format.file, report, console)
    out.write(`${printable(format.file)} is written: open it in a browser\n`)
    return
  }
  out.write(
    format.as === "json"
      ? `${printableJson(JSON.stringify(report, undefined, 2))}\n`
      : renderText(report, { all: format.all, paint: choosePaint(console) }),
  )
}

async function writePage(file: string, report: Report, { cwd, readPageScript }: Console): Promise<void> {
  const page = renderPage(report, await readPageScript())
  try {
    await writeFile(path.resolve(cwd, file), page)
  } catch (error) {
    throw new InputFault(`${file} cannot be written: ${explainFailure(error)}`, { cause: error })
  }
}
