import { getNodeValue, type ParseError, parseTree, printParseErrorCode, visit } from "jsonc-parser"
import { type Path, pathKey } from "./path.ts"
import { type Problem, problemOf } from "./problems.ts"

export interface Position {
  /** 1-based. */
  line: number
  /** 1-based, in UTF-16 code units. */
  column: number
}

export interface ParsedLayer {
  /** A fresh tree whose objects have no prototype, so that no key of a file has a special meaning. */
  value: object
  /** The place of a key; of the nearest enclosing key where it has none itself. */
  locate: (path: Path) => Position | undefined
}

/** No setting lies deeper than `models`, the model, `limit`, `context`. */
const DEEPEST_KEY = 4

const OPTIONS = { allowTrailingComma: true }

const EXPECTED_SYNTAX: Readonly<Record<string, string>> = {
  InvalidSymbol: "a value: true, false, null, a number, a text in double quotes, [ or {",
  InvalidNumberFormat: "a number",
  PropertyNameExpected: "a key in double quotes",
  ValueExpected: "a value",
  ColonExpected: "a colon",
  CommaExpected: "a comma",
  CloseBraceExpected: "a closing }",
  CloseBracketExpected: "a closing ]",
  EndOfFileExpected: "the end of the file",
  UnexpectedEndOfComment: "the end of the comment",
  UnexpectedEndOfString: "a closing double quote",
  UnexpectedEndOfNumber: "a digit",
  InvalidUnicode: "four hexadecimal digits after \\u",
  InvalidEscapeCharacter: "a JSON escape after the backslash",
  InvalidCharacter: "no control character inside a text",
}

/** Parses a layer. Comments, trailing commas and CRLF are fine; anything else that is not JSON rejects it whole. */
export function parseLayer(text: string): ParsedLayer | Problem {
  try {
    const errors: ParseError[] = []
    const root = parseTree(text, errors, OPTIONS)
    const [firstError] = errors
    if (firstError) return syntaxProblem(text, firstError)
    if (root?.type !== "object") return problemOf("not-an-object", root?.type ?? "nothing", "an object")
    return { value: getNodeValue(root), locate: locatorOf(text) }
  } catch {
    // The parser recurses; only a depth that exhausts the stack makes it throw.
    return problemOf("parse-error", "nested too deeply", "a few levels")
  }
}

function syntaxProblem(text: string, { error, offset }: ParseError): Problem {
  const linesBefore = text.slice(0, offset).split(/\r\n|\r|\n/)
  return {
    ...problemOf("parse-error", "does not parse", EXPECTED_SYNTAX[printParseErrorCode(error)] ?? "valid JSON"),
    line: linesBefore.length,
    column: (linesBefore.at(-1)?.length ?? 0) + 1,
  }
}

function locatorOf(text: string): ParsedLayer["locate"] {
  const positions = positionsOf(text)
  return function locate(path): Position | undefined {
    return positions.get(pathKey(path)) ?? (path.length > 0 ? locate(path.slice(0, -1)) : undefined)
  }
}

/** Of a key that stands twice, the last counts, for its place as for its value. */
function positionsOf(text: string): ReadonlyMap<string, Position> {
  const positions = new Map<string, Position>()
  const record = (path: readonly (string | number)[], line: number, character: number) =>
    positions.set(pathKey(path.map(String)), { line: line + 1, column: character + 1 })
  visit(
    text,
    {
      onObjectBegin: (_offset, _length, _line, _character, path) => path().length < DEEPEST_KEY,
      onArrayBegin: (_offset, _length, _line, _character, path) => path().length < DEEPEST_KEY,
      onObjectProperty: (key, _offset, _length, line, character, path) => record([...path(), key], line, character),
      onLiteralValue: (_value, _offset, _length, line, character, path) => {
        const literal = path()
        if (typeof literal.at(-1) === "number") record(literal, line, character)
      },
    },
    OPTIONS,
  )
  return positions
}
