import { type JSONPath, type JSONVisitor, visit } from "jsonc-parser"
import { type Path, pathKey } from "./path.ts"

export interface Position {
  /** 1-based. */
  line: number
  /** 1-based, in UTF-16 code units. */
  column: number
}

/** Where the keys of a layer stand. Of a key that stands twice the last counts, for its place as for its value. */
export interface LayerKeys {
  /** The place of a key; of the nearest enclosing key where it has none itself. */
  locate: (path: Path) => Position | undefined
  /** Keys that their object has already, in the order of the text. */
  duplicates: readonly Duplicate[]
}

export interface Duplicate extends Position {
  path: Path
  /** Of the same key before it, whose value does not count. */
  lineBefore: number
}

/** What a layer may hold beside plain JSON; comments are always fine. */
export const SYNTAX = { allowTrailingComma: true }

/** No setting lies deeper than `models`, the model, `limit`, `context`. */
const DEEPEST_KEY = 4

/** Reads the keys of a text that parses. */
export function readKeys(text: string): LayerKeys {
  const keys = new KeyPlaces()
  visit(text, keys, SYNTAX)
  return keys
}

class KeyPlaces implements JSONVisitor, LayerKeys {
  readonly duplicates: Duplicate[] = []
  private readonly positions = new Map<string, Position>()
  /** Of each object around the present place, the keys so far with their lines. */
  private readonly open: Map<string, number>[] = []

  locate = (path: Path): Position | undefined =>
    this.positions.get(pathKey(path)) ?? (path.length > 0 ? this.locate(path.slice(0, -1)) : undefined)

  onObjectBegin = (...place: Place): boolean => {
    this.open.push(new Map())
    return isShallow(...place)
  }

  onObjectEnd = (): void => void this.open.pop()

  onArrayBegin = isShallow

  /** The parser goes on after what lies too deep only where both ends are heard. */
  onArrayEnd = (): void => undefined

  onObjectProperty = (key: string, ...place: Place): void => {
    const path = [...pathOf(place), key]
    const position = positionOf(place)
    const siblings = this.open.at(-1)
    const lineBefore = siblings?.get(key)
    siblings?.set(key, position.line)
    if (lineBefore !== undefined) this.duplicates.push({ path, lineBefore, ...position })
    this.positions.set(pathKey(path), position)
  }

  /** Items of a list have no key of their own. */
  onLiteralValue = (_value: unknown, ...place: Place): void => {
    const [, , , , path] = place
    if (typeof path().at(-1) === "number") this.positions.set(pathKey(pathOf(place)), positionOf(place))
  }
}

type Place = [offset: number, length: number, line: number, character: number, path: () => JSONPath]

function isShallow(...place: Place): boolean {
  return pathOf(place).length < DEEPEST_KEY
}

function pathOf([, , , , path]: Place): Path {
  return path().map(String)
}

function positionOf([, , line, character]: Place): Position {
  return { line: line + 1, column: character + 1 }
}
