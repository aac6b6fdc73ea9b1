import { readFileSync } from "node:fs"
import { GENERATED } from "./generated.ts"
import { makeRandom } from "./random.ts"

/** Constants are fitted on `tuning` and errors are reported on `judging`; the two share no source and no seed. */
export type TextSet = "tuning" | "judging"

export interface TextKind {
  kind: string
  text: string
}

/** From each file at most this much, so that one long file is not the whole kind. */
const FILE_CHARACTERS = 8_000
const SEEDS: Record<TextSet, number> = { tuning: 20_261_201, judging: 77_003 }

/** Written for this benchmark, in `texts/<set>/<kind>.txt`. */
const WRITTEN = ["prose", "Chinese", "Japanese", "Korean", "emoji"]

/** Files that any checkout has: this repository's own for tuning, those of its development dependencies for judging. */
const FILES: Record<string, Record<TextSet, string[]>> = {
  code: {
    tuning: ["lib/dtc/engine.ts", "lib/dtc/wire-parts.ts", "lib/config/schema.ts"],
    judging: ["node_modules/jsonc-parser/lib/esm/impl/edit.js", "node_modules/ajv/dist/core.js"],
  },
  JSON: {
    tuning: ["dcp.schema.json", "package.json", "package-lock.json"],
    judging: ["node_modules/knip/package.json", "node_modules/prettier/package.json", "node_modules/c8/package.json"],
  },
  markdown: {
    tuning: ["README.md", "CONTRIBUTING.md"],
    judging: ["node_modules/fast-check/README.md", "node_modules/ajv/README.md"],
  },
  "minified code": {
    tuning: ["node_modules/prettier/plugins/yaml.js", "node_modules/prettier/standalone.js"],
    judging: ["node_modules/tsx/dist/cli.mjs"],
  },
}

/** The texts of one set, each kind once. */
export function makeTextKinds(set: TextSet): TextKind[] {
  return [
    ...WRITTEN.map((kind) => ({ kind, text: readWritten(set, kind) })),
    ...Object.entries(FILES).map(([kind, files]) => ({ kind, text: readFiles(files[set]) })),
    { kind: "numbered code", text: numberLines(readFiles(FILES["code"]?.[set] ?? [])) },
    { kind: "diff", text: diffLines(set, readFiles(FILES["code"]?.[set] ?? [])) },
    ...Object.entries(GENERATED).map(([kind, generate]) => ({ kind, text: generate[set](makeRandom(SEEDS[set])) })),
  ]
}

function readWritten(set: TextSet, kind: string): string {
  return readFileSync(new URL(`texts/${set}/${kind.toLowerCase()}.txt`, import.meta.url), "utf8")
}

function readFiles(files: readonly string[]): string {
  return files
    .map((file) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8").slice(0, FILE_CHARACTERS))
    .join("\n")
}

/** As the host's `read` shows a file. */
function numberLines(text: string): string {
  return text
    .split("\n")
    .map((line, index) => `${index + 1}: ${line}\n`)
    .join("")
}

/** A unified diff in which every fifth line was replaced by itself with a change. */
function diffLines(name: string, text: string): string {
  const body = text.split("\n").map((line, index) => (index % 5 === 4 ? `-${line}\n+${line} // changed` : ` ${line}`))
  return `diff --git a/lib/${name}.ts b/lib/${name}.ts\n@@ -1,${body.length} +1,${body.length} @@\n${body.join("\n")}\n`
}
