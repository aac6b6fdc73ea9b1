import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { TestContext } from "node:test"
import { loadConfig } from "../../lib/config/load.ts"
import type { LoadedConfig } from "../../lib/config/types.ts"

export interface Sandbox {
  /** Absolute path of a place in the sandbox. */
  at: (relative: string) => string
  write: (relative: string, content: unknown) => string
  /** Loads with `home` and `home/project` of the sandbox, unless other places are given. */
  load: (input?: {
    directory?: string
    env?: Record<string, string>
    home?: string
    options?: unknown
  }) => Promise<LoadedConfig>
}

/** A directory of its own for one test. A content that is no text and no buffer is written as JSON. */
export function createSandbox(context: TestContext): Sandbox {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "dcp-config-")))
  context.after(() => rmSync(root, { recursive: true, force: true }))
  const at = (relative: string) => path.join(root, relative)
  mkdirSync(at("home/project"), { recursive: true })
  return {
    at,
    write(relative, content) {
      mkdirSync(path.dirname(at(relative)), { recursive: true })
      const isRaw = typeof content === "string" || content instanceof Uint8Array
      writeFileSync(at(relative), isRaw ? content : JSON.stringify(content))
      return at(relative)
    },
    load: (input) => loadConfig({ directory: at("home/project"), env: {}, home: at("home"), ...input }),
  }
}

/** A configuration that shows in one number which layer won. */
export function marked(protectRecentSteps: number): { dtc: { protectRecentSteps: number } } {
  return { dtc: { protectRecentSteps } }
}
