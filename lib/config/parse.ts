import { getNodeValue, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser"
import { type LayerKeys, type Position, readKeys, SYNTAX } from "./keys.ts"
import { type Problem, problemOf } from "./problems.ts"

export interface ParsedLayer extends LayerKeys {
  /** A fresh tree whose objects have no prototype, so that no key of a file has a special meaning. */
  value: object
}

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
    const root = parseTree(text, errors, SYNTAX)
    const [firstError] = errors
    if (firstError) return syntaxProblem(text, firstError)
    if (root?.type !== "object")
      return { ...problemOf("not-an-object", root?.type ?? "nothing", "an object"), ...positionAt(text, root?.offset) }
    return { value: getNodeValue(root), ...readKeys(text) }
  } catch {
    // The parser recurses; only a depth that exhausts the stack makes it throw.
    return problemOf("parse-error", "nested too deeply", "a few levels")
  }
}

function syntaxProblem(text: string, { error, offset }: ParseError): Problem {
  const expected = EXPECTED_SYNTAX[printParseErrorCode(error)] ?? "valid JSON"
  return { ...problemOf("parse-error", "does not parse", expected), ...positionAt(text, offset) }
}

function positionAt(text: string, offset = 0): Position {
  const linesBefore = text.slice(0, offset).split(/\r\n|\r|\n/)
  return { line: linesBefore.length, column: (linesBefore.at(-1)?.length ?? 0) + 1 }
}
