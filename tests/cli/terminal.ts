import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { TestContext } from "node:test"
import { runCommand } from "../../lib/cli/command.ts"

export interface Ran {
  code: number
  out: string
  err: string
}

export interface Terminal {
  /** Absolute path of a place in the test's own directory. */
  at: (relative: string) => string
  /** A content that is no text is written as JSON. */
  write: (relative: string, content: unknown) => string
  run: (...args: string[]) => Promise<Ran>
}

interface Setup {
  env?: Record<string, string>
  outIsTTY?: boolean
  errIsTTY?: boolean
  input?: string
  /** Standard input without an end. */
  endless?: Uint8Array
  /** Milliseconds between two looks at the clock. */
  tickMs?: number
}

/** Runs commands in `project` of a home of their own; nothing of the real process is read. */
export function createTerminal(context: TestContext, setup: Setup = {}): Terminal {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "dcp-cli-")))
  context.after(() => rmSync(root, { recursive: true, force: true }))
  const at = (relative: string): string => path.join(root, relative)
  mkdirSync(at("project"))
  let now = 0
  return {
    at,
    write(relative, content) {
      mkdirSync(path.dirname(at(relative)), { recursive: true })
      writeFileSync(at(relative), isText(content) ? content : JSON.stringify(content))
      return at(relative)
    },
    async run(...args) {
      const [out, err]: [string[], string[]] = [[], []]
      const code = await runCommand(args, {
        cwd: at("project"),
        home: root,
        env: setup.env ?? {},
        out: { write: (text) => void out.push(text), isTTY: setup.outIsTTY ?? false },
        err: { write: (text) => void err.push(text), isTTY: setup.errIsTTY ?? false },
        async *readInput() {
          while (setup.endless) yield setup.endless
          const bytes = Buffer.from(setup.input ?? "")
          for (let start = 0; start < bytes.length; start += 7) yield bytes.subarray(start, start + 7)
        },
        readPageScript: async () => "// the page's script",
        clock: () => (now += setup.tickMs ?? 0),
      })
      return { code, out: out.join(""), err: err.join("") }
    },
  }
}

const isText = (content: unknown): content is string | Uint8Array =>
  typeof content === "string" || content instanceof Uint8Array
