import { parseArgs } from "node:util"

export interface BinaryCheckOptions {
  binary: string
  version: string
  sha256: string
  output: string
}

/** Its message is one line for the person who typed the command. */
export class UsageError extends Error {
  override name = "UsageError"
}

const USAGE = "use --binary PATH --version VERSION --sha256 DIGEST --output DIR"

export function readOptions(args: readonly string[]): BinaryCheckOptions {
  const { binary, version, sha256, output } = parse(args)
  const given = { "--binary": binary, "--version": version, "--sha256": sha256, "--output": output }
  const missing = Object.entries(given).flatMap(([name, value]) => (value === undefined || value === "" ? [name] : []))
  if (!binary || !version || !sha256 || !output) throw new UsageError(`${missing.join(", ")} missing: ${USAGE}`)
  if (!/^[0-9a-f]{64}$/i.test(sha256)) throw new UsageError(`--sha256 is not a SHA-256 digest in hexadecimal: ${USAGE}`)
  return { binary, version, sha256: sha256.toLowerCase(), output }
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const
  try {
    return parseArgs({ args: [...args], options: { binary: text, version: text, sha256: text, output: text } }).values
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error)
    throw new UsageError(`${reason}: ${USAGE}`)
  }
}
