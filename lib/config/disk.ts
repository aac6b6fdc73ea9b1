/** The only room of the configuration that touches the disk, and it only reads. */

import { constants } from "node:fs"
import { lstat, open, realpath, stat } from "node:fs/promises"
import path from "node:path"
import { FILE_NAMES, type Place } from "./places.ts"
import { type Problem, problemOf } from "./problems.ts"
import type { LayerSource } from "./types.ts"

/** A DCP file is a page of settings; something far larger is there by mistake and would hold up the host. */
export const LARGEST_FILE_BYTES: number = 1024 * 1024

/** What a layer holds before it is parsed. */
export interface LayerText {
  source: LayerSource
  file: string
  content: string | Problem
  /** Name of a file beside it that it hides. */
  hides?: string
}

interface FoundFile extends Omit<LayerText, "content"> {
  /** The directory with every link resolved. */
  directory: string
}

/** Reads the layers on disk, lowest first. A directory that serves two layers is read once, as the later one. */
export async function readLayerTexts(places: readonly Place[]): Promise<LayerText[]> {
  const searched = await Promise.all(places.map(findFile))
  const found = searched.filter((file) => file !== undefined)
  const once = found.filter(
    (file, index) => !found.slice(index + 1).some((later) => later.directory === file.directory),
  )
  return Promise.all(
    once.map(async ({ directory: _directory, ...place }) => ({ ...place, content: await readContent(place.file) })),
  )
}

async function findFile({ source, directories }: Place): Promise<FoundFile | undefined> {
  for (const directory of directories)
    for (const [index, name] of FILE_NAMES.entries()) {
      const file = path.join(directory, name)
      if (!(await isPresent(file))) continue
      const hides = await findHidden(directory, FILE_NAMES.slice(index + 1))
      return { source, file, directory: await realDirectory(directory), ...(hides !== undefined && { hides }) }
    }
  return undefined
}

/** Only what is surely there. */
async function findHidden(directory: string, names: readonly string[]): Promise<string | undefined> {
  const found = await Promise.all(
    names.map((name) =>
      lstat(path.join(directory, name)).then(
        () => name,
        () => undefined,
      ),
    ),
  )
  return found.find((name) => name !== undefined)
}

/** A broken link is present, so is a file in a directory that may not be searched: the user meant something by it. */
async function isPresent(file: string): Promise<boolean> {
  try {
    await lstat(file)
    return true
  } catch (error) {
    return ["EACCES", "EPERM"].includes(errorCode(error))
  }
}

async function realDirectory(directory: string): Promise<string> {
  try {
    return await realpath(directory)
  } catch {
    return directory
  }
}

async function readContent(file: string): Promise<string | Problem> {
  try {
    const stats = await stat(file)
    // Reading a pipe would wait for a writer for ever, and opening a device may already do something.
    if (!stats.isFile()) return problemOf("unreadable", "not a regular file", "a file")
    if (stats.size > LARGEST_FILE_BYTES) return tooLarge(`${stats.size} bytes`)
    const bytes = await readBytes(file)
    if (bytes.byteLength > LARGEST_FILE_BYTES) return tooLarge(`more than ${LARGEST_FILE_BYTES} bytes`)
    // `fatal`: a file in another encoding is one clear problem instead of a layer full of replacement characters.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch (error) {
    const code = errorCode(error)
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return problemOf("parse-error", "not UTF-8", "UTF-8 text")
    return problemOf("unreadable", `cannot be read (${code})`, "a readable file")
  }
}

function tooLarge(size: string): Problem {
  return problemOf("too-large", size, `at most ${LARGEST_FILE_BYTES} bytes`)
}

/** One that only reads and waits for nobody, should the file have become a pipe meanwhile. Windows has no such flag. */
const READING_FLAGS: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** One byte more than may be at most: a file may grow while it is read, or tell a size that it has not. */
async function readBytes(file: string): Promise<Uint8Array> {
  const handle = await open(file, READING_FLAGS)
  try {
    const bytes = new Uint8Array(LARGEST_FILE_BYTES + 1)
    for (let length = 0; ;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.byteLength - length)
      if (bytesRead === 0) return bytes.subarray(0, length)
      length += bytesRead
    }
  } finally {
    await handle.close()
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error"
}
