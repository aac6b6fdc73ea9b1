import { checkLayer } from "./check.ts"
import { type LayerText, readLayerTexts } from "./disk.ts"
import { configOf, findEmptySections, mergeFields, type PlacedField } from "./merge.ts"
import { parseLayer } from "./parse.ts"
import { describePath } from "./path.ts"
import { placesOf } from "./places.ts"
import { type Problem, problemOf } from "./problems.ts"
import { loadValidate, type Validate } from "./schema.ts"
import type { Layer, LoadedConfig } from "./types.ts"

export interface LoadInput {
  /** Absolute path of the session's directory; the nearest `.opencode` at or above it with a DCP file is the project's layer. */
  directory: string
  /** Second element of the plugin's tuple in `opencode.json`; `undefined` when there is none. */
  options?: unknown
  env: Readonly<Record<string, string | undefined>>
  /** Absolute path of the user's home directory. */
  home: string
}

/** The plugin options have no file of their own; diagnostics and origins call them this. */
export const OPTIONS_FILE = "opencode.json (plugin options)"

interface ReadLayer {
  layer: Layer
  fields: readonly PlacedField[]
  problems: readonly Problem[]
}

/**
 * The effective configuration and how it came about. Reads files and changes none. Whatever the layers hold, it resolves:
 * what is wrong becomes a diagnostic, and the lower layers' values stay.
 */
export async function loadConfig(input: LoadInput): Promise<LoadedConfig> {
  const texts = [...(await readLayerTexts(placesOf(input))), ...optionsText(input.options)]
  const layers = texts.length > 0 ? await readLayers(texts) : []
  const fields = mergeFields(layers.map((layer) => layer.fields))
  return {
    config: configOf(fields),
    layers: layers.map(({ layer }) => layer),
    diagnostics: layers.flatMap(({ layer, problems }) => problems.map((problem) => ({ file: layer.file, ...problem }))),
    origins: [...fields, ...findEmptySections(fields)].map(({ path, ...origin }) => ({
      key: describePath(path),
      ...origin,
    })),
  }
}

/** Options take the way of a file's text: a plain copy without accessors, cycles or prototypes. */
function optionsText(options: unknown): LayerText[] {
  if (options === undefined) return []
  return [{ source: "options", file: OPTIONS_FILE, content: textOf(options) }]
}

function textOf(options: unknown): string | Problem {
  const notAnObject = problemOf("not-an-object", "not plain JSON", "an object")
  try {
    // For a function or a symbol the answer is `undefined`, which the declared type leaves out.
    const text: string | undefined = JSON.stringify(options)
    return text ?? notAnObject
  } catch {
    return notAnObject
  }
}

async function readLayers(texts: readonly LayerText[]): Promise<ReadLayer[]> {
  const validate = await loadValidate()
  return texts.map((text) => readLayer(text, validate))
}

function readLayer({ content, ...layer }: LayerText, validate: Validate): ReadLayer {
  const { source, file } = layer
  const parsed = typeof content === "string" ? parseLayer(content) : content
  // The text of options is not what the user wrote, so places in it mean nothing.
  const isPlaced = source !== "options"
  if ("kind" in parsed)
    return { layer: { ...layer, used: false }, fields: [], problems: [isPlaced ? parsed : withoutPlace(parsed)] }

  const locate = isPlaced ? parsed.locate : () => undefined
  const { fields, problems } = checkLayer({ ...parsed, locate }, validate)
  const placed = fields.map((field) => ({ ...field, file, ...locate(field.path) }))
  return { layer: { ...layer, used: true }, fields: placed, problems }
}

function withoutPlace({ line: _line, column: _column, ...problem }: Problem): Problem {
  return problem
}
