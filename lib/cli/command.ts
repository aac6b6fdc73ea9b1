import { createRequire } from "node:module"
import path from "node:path"
import { parseArgs } from "node:util"
import { printable } from "../printable.ts"
import { checkOptions } from "./arguments.ts"
import { showConfig } from "./config.ts"
import type { Console } from "./console.ts"
import { explainFile, type ExplainFormat } from "./explain.ts"
import { InputFault, UsageFault } from "./faults.ts"
import { readLimit } from "./limits.ts"

export const USAGE = `Usage: opencode-dcp explain FILE [--limit LIMITS] [--dir DIR] [--all | --json | --html OUT]
       opencode-dcp config [DIR] [--options JSON]

explain   what the plugin would have done to a session, request by request, why, and what it would have cost or saved.
          FILE is what \`opencode export SESSION > FILE\` writes, or - for standard input. A pipe can lose the end of a
          long export, a file does not.
  --limit CONTEXT,OUTPUT         the model's limits in tokens, or CONTEXT,INPUT,OUTPUT; without it, those of
                                 "models" in the configuration
  --dir DIR                      whose configuration counts; without it, the current directory's
  --json                         for programs
  --all                          every request in the terminal, not only those where something happens
  --html OUT                     writes one page that needs no network

config    the effective configuration of DIR (without it, the current directory), where each value comes from, and
          what is wrong
  --options JSON                 what opencode.json gives beside the plugin's name

  --help, --version

Exit codes: 0 fine, 1 bad input, or for config an ignored file, 2 wrong usage.
`

type Command = (args: readonly string[], console: Console) => Promise<number>

const COMMANDS: Readonly<Record<string, Command>> = { explain: runExplain, config: runConfig }

/** Runs one command line to its exit code. Contract: it never rejects for what the user gave. */
export async function runCommand(args: readonly string[], console: Console): Promise<number> {
  try {
    return await findCommand(args)(args.slice(1), console)
  } catch (error) {
    if (error instanceof UsageFault) {
      console.err.write(`opencode-dcp: ${printable(error.message)}\n\n${USAGE}`)
      return 2
    }
    if (!(error instanceof InputFault)) throw error
    console.err.write(`opencode-dcp: ${printable(error.message)}\n`)
    return 1
  }
}

function findCommand(args: readonly string[]): Command {
  const [name = ""] = args
  if (args.some((arg) => arg === "--help" || arg === "-h") || name === "help") return say(USAGE)
  if (name === "--version") return say(`${readVersion()}\n`)
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command) return command
  throw new UsageFault(name === "" ? "a command is missing" : `unknown command ${JSON.stringify(name)}`)
}

const say =
  (text: string): Command =>
  async (_args, { out }) => {
    out.write(text)
    return 0
  }

/** The package's own manifest, found by the package's name as its schema is. */
function readVersion(): string {
  const manifest: { version: string } = createRequire(import.meta.url)("opencode-dcp/package.json")
  return manifest.version
}

async function runConfig(args: readonly string[], console: Console): Promise<number> {
  const options = { options: { type: "string" } } as const
  checkOptions(args, options)
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [directory = ".", ...others] = positionals
  if (others.length > 0) throw new UsageFault("config takes one directory")
  return showConfig({ directory, options: readOptions(values.options) }, console)
}

async function runExplain(args: readonly string[], console: Console): Promise<number> {
  const options = {
    limit: { type: "string" },
    dir: { type: "string", default: "." },
    all: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    html: { type: "string" },
  } as const
  checkOptions(args, options)
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const { limit, dir, all, json, html } = values
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new UsageFault("explain takes one FILE, or - for standard input")
  if ([all, json, html !== undefined].filter(Boolean).length > 1)
    throw new UsageFault("--all, --json and --html exclude each other")
  const format =
    html === undefined ? ({ as: json ? "json" : "text", all } as const) : readPageFormat(html, file, console)
  const source = { file, directory: dir, limit: limit === undefined ? undefined : readLimit(limit) }
  return explainFile(source, format, console)
}

function readPageFormat(page: string, session: string, { cwd }: Console): ExplainFormat {
  if (page === "") throw new UsageFault("--html takes the name of the file to write")
  if (path.resolve(cwd, page) === path.resolve(cwd, session))
    throw new UsageFault("--html would overwrite the session's own file")
  return { as: "html", file: page }
}

function readOptions(json: string | undefined): unknown {
  if (json === undefined) return undefined
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    throw new UsageFault("--options is not JSON", { cause: error })
  }
}
