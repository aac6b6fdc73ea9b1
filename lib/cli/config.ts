import path from "node:path"
import { loadConfig } from "../config/load.ts"
import { describeDiagnostic } from "../config/problems.ts"
import type { Layer, LoadedConfig, Origin } from "../config/types.ts"
import { printable } from "../printable.ts"
import { findDirectory } from "./directory.ts"
import { alignColumns, choosePaint, type Console, type Paint } from "./console.ts"

export interface ConfigRequest {
  /** Relative to the current directory. */
  directory: string
  /** What `opencode.json` gives beside the plugin's name; `undefined` when it gives nothing. */
  options: unknown
}

/** Prints what counts in a directory and where each value comes from. Answers 1 when a layer was ignored whole. */
export async function showConfig({ directory, options }: ConfigRequest, console: Console): Promise<number> {
  const { env, home, out } = console
  const place = await findDirectory(directory, console)
  const loaded = await loadConfig({ directory: place, options, env, home })
  out.write(renderConfig(place, loaded, choosePaint(console)))
  return loaded.layers.every(({ used }) => used) ? 0 : 1
}

function renderConfig(directory: string, { layers, origins, diagnostics }: LoadedConfig, paint: Paint): string {
  const sections = [
    [`Configuration in ${printable(directory)}`],
    alignColumns(origins.map(describeOrigin)),
    layers.length > 0
      ? ["Layers, later ones win:", ...layers.flatMap(describeLayer)]
      : ["No dcp.jsonc or dcp.json was found: these are the defaults."],
    diagnostics.length > 0
      ? ["Problems:", ...diagnostics.map((each) => paint("yellow", `  ${printable(describeDiagnostic(each))}`))]
      : [],
    layers.some(({ source }) => source === "options") ? [] : OPTIONS_NOTE,
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`
}

const OPTIONS_NOTE = [
  "Options beside the plugin's name in opencode.json win over all of this; try them with --options.",
]

function describeOrigin({ key, value, ...place }: Origin): string[] {
  return [printable(key), printable(JSON.stringify(value)), describePlace(place)]
}

function describePlace({ file, line, column }: Pick<Origin, "file" | "line" | "column">): string {
  if (file === undefined) return "default"
  return printable([file, line, column].filter((piece) => piece !== undefined).join(":"))
}

function describeLayer({ source, file, used, hides }: Layer): string[] {
  const hidden = hides === undefined ? [] : [path.join(path.dirname(file), hides)]
  return [
    ...hidden.map((each) => `  ${source}: ${printable(each)} (not used: ${path.basename(file)} stands beside it)`),
    `  ${source}: ${printable(file)}${used ? "" : " (ignored, see below)"}`,
  ]
}
