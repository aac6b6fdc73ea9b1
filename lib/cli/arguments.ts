import { parseArgs } from "node:util"
import { UsageFault } from "./faults.ts"

export type OptionTypes = Readonly<Record<string, { readonly type: "string" | "boolean" }>>

/** What Node's parser would throw for, in words of one line. */
export function checkOptions(args: readonly string[], options: OptionTypes): void {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  for (const token of tokens) {
    if (token.kind !== "option") continue
    const known = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    const fault = known ? findValueFault(known.type, token) : `unknown option ${token.rawName}`
    if (fault !== undefined) throw new UsageFault(fault)
  }
}

interface GivenOption {
  /** As it was written, with its dashes. */
  rawName: string
  value: string | undefined
  /** It was given in one word with its name. */
  inlineValue: boolean | undefined
}

function findValueFault(type: "string" | "boolean", { rawName, value, inlineValue }: GivenOption): string | undefined {
  if (type === "boolean") return value === undefined ? undefined : `${rawName} takes no value`
  if (value === undefined) return `${rawName} needs a value`
  if (inlineValue || !/^-./.test(value)) return undefined
  return `${rawName} needs a value; one that begins with a dash is written ${rawName}=${value}`
}
