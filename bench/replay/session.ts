import { readFileSync } from "node:fs"
import path from "node:path"
import { isRecord } from "../../lib/dtc/plain.ts"
import type { Message } from "../../lib/dtc/types.ts"
import { isMessage } from "../../lib/dtc/wire.ts"

/** A stored session; `name` is a file's name without its ending, so that results carry no paths. */
export interface Session {
  name: string
  messages: readonly Message[]
}

/** Reads what `opencode export` prints, `{ info, messages }`, or a plain array of messages. */
export function readSession(file: string): Session {
  const stored: unknown = JSON.parse(readFileSync(file, "utf8"))
  const messages = isRecord(stored) ? stored["messages"] : stored
  if (!Array.isArray(messages) || !messages.every(isMessage)) {
    throw new TypeError(`${path.basename(file)}: expected an exported session or an array of messages`)
  }
  return { name: path.basename(file, path.extname(file)), messages }
}
