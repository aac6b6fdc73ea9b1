/**
 * A plugin for the host that stands for another one and writes how long each of its hooks took, one JSON line each. Options:
 * `module`, what to import; `options`, what it is given; `report`, the file.
 */
import { appendFileSync } from "node:fs"

export interface HookTime {
  hook: string
  ms: number
}

export interface TimedOptions {
  module: string
  report: string
  options?: Record<string, unknown>
}

type Server = (input: unknown, options: unknown) => Promise<Record<string, unknown>>
/** A plugin is a module with `server`, or that function alone. */
type Plugin = Server | { server: Server }

const plugin = {
  id: "timed",
  server: async (input: unknown, { module, report, options }: TimedOptions): Promise<Record<string, unknown>> => {
    const { default: timed } = (await import(module)) as { default: Plugin }
    const server = typeof timed === "function" ? timed : timed.server
    const hooks = await server(input, options)
    return Object.fromEntries(
      Object.entries(hooks).map(([hook, value]) => [hook, isHook(value) ? timeHook(hook, value, report) : value]),
    )
  },
}
export default plugin

type Hook = (...args: unknown[]) => unknown

function isHook(value: unknown): value is Hook {
  return typeof value === "function"
}

function timeHook(hook: string, call: Hook, report: string): Hook {
  return async (...args) => {
    const start = performance.now()
    try {
      return await call(...args)
    } finally {
      const line: HookTime = { hook, ms: performance.now() - start }
      appendFileSync(report, `${JSON.stringify(line)}\n`)
    }
  }
}
