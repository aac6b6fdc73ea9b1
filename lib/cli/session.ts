import { constants } from "node:buffer"
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import path from "node:path"
import { isRecord } from "../dtc/plain.ts"
import type { Message } from "../dtc/types.ts"
import { isMessage } from "../dtc/wire.ts"
import type { Console } from "./console.ts"
import { explainFailure, InputFault } from "./faults.ts"
import type { Progress } from "./progress.ts"

/** A session as `opencode export` prints it, whole history and all. */
export interface ExportedSession {
  id: string
  /** `undefined` where the file holds messages alone. */
  title: string | undefined
  messages: readonly Message[]
}

/** Reads `{ info, messages }` or a plain array of messages from a file, or from standard input for `-`. */
export async function readSession(file: string, console: Console, progress: Progress): Promise<ExportedSession> {
  const name = file === "-" ? "standard input" : file
  const bytes = await readBytes(file, name, console, progress)
  progress.say("parsing")
  return describeSession(parseJson(bytes, name), name)
}

function describeSession(stored: unknown, name: string): ExportedSession {
  const messages = isRecord(stored) ? stored["messages"] : stored
  if (!Array.isArray(messages) || !messages.every(isStoredMessage))
    throw new InputFault(`${name} is no exported session: expected what \`opencode export\` prints`)
  const [first] = messages
  if (first === undefined) throw new InputFault(`${name} holds no messages`)
  const info = isRecord(stored) && isRecord(stored["info"]) ? stored["info"] : {}
  const { id, title } = info
  const { sessionID }: { sessionID: unknown } = first.info
  return {
    id: [id, sessionID].find((candidate) => typeof candidate === "string") ?? "",
    title: typeof title === "string" && title !== "" ? title : undefined,
    messages,
  }
}

/** Beyond what the engine asks for: what rows and links of a report name. */
function isStoredMessage(message: unknown): message is Message {
  return isMessage(message) && typeof message.info.id === "string" && typeof message.info.role === "string"
}

async function readBytes(file: string, name: string, console: Console, progress: Progress): Promise<Uint8Array> {
  if (file === "-") return collect(console.readInput(), name, () => progress.say("reading"))
  const place = path.resolve(console.cwd, file)
  try {
    const stats = await stat(place)
    if (stats.isDirectory())
      throw new InputFault(`${name} is a directory: expected the file that an export was written to`)
    return await collect(createReadStream(place), name, (read) =>
      progress.say("reading", read / Math.max(stats.size, 1)),
    )
  } catch (error) {
    if (error instanceof InputFault) throw error
    throw new InputFault(`${name} cannot be read: ${explainFailure(error)}`, { cause: error })
  }
}

/** What is longer could not become one text; a device would never end. */
const MOST_BYTES = constants.MAX_STRING_LENGTH

async function collect(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  onProgress: (bytes: number) => void,
): Promise<Uint8Array> {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    read.push(chunk)
    bytes += chunk.byteLength
    if (bytes > MOST_BYTES) throw new InputFault(`${name} is too large: at most ${MOST_BYTES} bytes can be read`)
    onProgress(bytes)
  }
  return Buffer.concat(read)
}

function parseJson(bytes: Uint8Array, name: string): unknown {
  if (bytes.byteLength === 0) throw new InputFault(`${name} is empty`)
  if (isUtf16(bytes)) throw new InputFault(`${name} is not UTF-8 text but UTF-16, as PowerShell's > writes it`)
  const text = decodeText(bytes, name)
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new InputFault(`${name} is not JSON${explainCut(bytes)}`, { cause: error })
  }
}

/** By its byte order mark. */
function isUtf16(bytes: Uint8Array): boolean {
  const mark = `${bytes[0]} ${bytes[1]}`
  return mark === "255 254" || mark === "254 255"
}

/** A cut in the middle of a character is a cut like any other: only what comes before the end tells another encoding. */
function decodeText(bytes: Uint8Array, name: string): string {
  try {
    // The decoder takes a byte order mark away.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
  } catch (error) {
    throw new InputFault(`${name} is not UTF-8 text`, { cause: error })
  }
}

/** A whole export ends with its closing bracket. */
function explainCut(bytes: Uint8Array): string {
  const end = new TextDecoder().decode(bytes.subarray(-64)).trimEnd().at(-1)
  if (end === "}" || end === "]") return ""
  return ": its end is missing, as when an export goes through a pipe; use `opencode export SESSION > FILE`"
}
