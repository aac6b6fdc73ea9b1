import { printableCopy } from "../printable.ts"

/** Markup that was written here, or text that has been escaped. Nothing else may stand in a page. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | readonly Html[]

/** Markup in which every value is text, unless it is markup itself. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(strings.map((markup, index) => `${markup}${render(values[index] ?? "")}`).join(""))
}

function render(value: Value): string {
  if (value instanceof Html) return value.text
  if (typeof value === "string" || typeof value === "number") return escape(String(value))
  return value.map(({ text }) => text).join("\n")
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

/** JSON for a data block, every text in it printable: no `<`, so that none can end the block or begin a comment. */
export function jsonData(value: object): Html {
  return new Html(JSON.stringify(printableCopy(value)).replaceAll("<", "\\u003c"))
}
