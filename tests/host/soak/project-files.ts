import { createDraw, type Draw } from "../../fuzz/mutate.ts"
import { drawInteger, pickOne } from "./choose.ts"

export interface ProjectFile {
  path: string
  content: string
  /** Stands on some of its lines and in no other file. */
  needle: string
}

/** What the sessions look at. Nothing writes into these, so that what a tool makes of them can be told beforehand. */
export interface ProjectTexts {
  /** Each well below what the host's tools cut. */
  texts: readonly ProjectFile[]
  /** Beyond it. */
  large: readonly ProjectFile[]
}

const TEXT_COUNT = 36
const LARGE_COUNT = 3
const WORDS = [
  "alpha",
  "Straße",
  "naïve",
  "漢字",
  "🙂",
  "{json:1}",
  "<b>bold</b>",
  "0x7fffffff",
  "a\\b",
  "$HOME",
  "%s",
  "tab\there",
]

const known = new Map<number, ProjectTexts>()

export function projectTextsOf(seed: number): ProjectTexts {
  const texts = known.get(seed) ?? createProjectTexts(seed)
  known.set(seed, texts)
  return texts
}

function createProjectTexts(seed: number): ProjectTexts {
  const draw = createDraw(seed)
  const createFile = (folder: string, index: number, lineCount: number): ProjectFile => {
    const needle = `needle-${folder}-${String(index).padStart(2, "0")}.`
    return { path: `${folder}/${folder}-${index}.txt`, content: createLines(draw, needle, lineCount), needle }
  }
  return {
    texts: Array.from({ length: TEXT_COUNT }, (_, index) => createFile("text", index, drawInteger(draw, 40, 260))),
    large: Array.from({ length: LARGE_COUNT }, (_, index) => createFile("large", index, 2_600)),
  }
}

function createLines(draw: Draw, needle: string, count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const words = Array.from({ length: drawInteger(draw, 3, 10) }, () => pickOne(WORDS, draw))
    return `${index % 9 === 4 ? `${needle} ` : ""}${words.join(" ")}\n`
  }).join("")
}
