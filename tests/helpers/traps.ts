import childProcess from "node:child_process"
import cluster from "node:cluster"
import dgram from "node:dgram"
import dns from "node:dns"
import fs from "node:fs"
import http from "node:http"
import http2 from "node:http2"
import https from "node:https"
import { syncBuiltinESMExports } from "node:module"
import net from "node:net"
import tls from "node:tls"
import vm from "node:vm"
import workers from "node:worker_threads"

/** Functions of the file system that change it; each has a twin that waits. */
const CHANGING =
  "appendFile chmod chown copyFile cp lchmod lchown link lutimes mkdir mkdtemp rename rm rmdir symlink truncate unlink utimes write writeFile writev".split(
    " ",
  )

/** Everything through which a process could reach another, run a program, or change a file. */
const FORBIDDEN: [module: object, names: string[]][] = [
  [globalThis, ["fetch", "WebSocket", "EventSource", "BroadcastChannel", "Worker"]],
  [workers, ["Worker"]],
  [cluster, ["fork"]],
  [vm, ["runInThisContext", "runInNewContext", "runInContext", "createContext", "Script", "compileFunction"]],
  [http, ["request", "get", "createServer"]],
  [https, ["request", "get", "createServer"]],
  [http2, ["connect", "createServer", "createSecureServer"]],
  [net, ["connect", "createConnection", "createServer"]],
  [net.Server.prototype, ["listen"]],
  [net.Socket.prototype, ["connect"]],
  [tls, ["connect", "createServer"]],
  [dgram, ["createSocket"]],
  [dns, ["lookup", "resolve", "resolve4", "resolve6", "resolveAny", "resolveTxt", "reverse"]],
  [dns.promises, ["lookup", "resolve", "resolve4", "resolve6", "resolveAny", "resolveTxt", "reverse"]],
  [childProcess, ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"]],
  [fs, [...CHANGING.flatMap((name) => [name, `${name}Sync`]), "createWriteStream", "watch", "watchFile"]],
  [fs.promises, [...CHANGING, "watch", "open"]],
]

/** Opening a file changes nothing with any of these flags. */
const opensToRead = (name: string, flags: unknown): boolean =>
  name === "open" && typeof flags === "number" && flags === (flags & (fs.constants.O_RDONLY | fs.constants.O_NONBLOCK))

/** Does something while each of them is a trap; answers the names of those that were called. */
export async function withTraps(act: () => Promise<void>): Promise<string[]> {
  const called: string[] = []
  const undo = FORBIDDEN.flatMap(([module, names]) =>
    names
      .filter((name) => name in module)
      .map((name) => {
        const original = Object.getOwnPropertyDescriptor(module, name)
        const genuine = Reflect.get(module, name) as (...given: unknown[]) => unknown
        const value = (...args: unknown[]): unknown => {
          if (opensToRead(name, args[1])) return genuine(...args)
          called.push(name)
          throw new Error(`${name} must not be called`)
        }
        Object.defineProperty(module, name, { value, configurable: true, writable: true })
        return () => Object.defineProperty(module, name, original ?? {})
      }),
  )
  syncBuiltinESMExports()
  try {
    await act()
  } finally {
    for (const restore of undo) restore()
    syncBuiltinESMExports()
  }
  return called
}
