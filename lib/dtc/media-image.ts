import { imageSize } from "image-size"
import type { Payload } from "./media-data.ts"

export interface Pixels {
  width: number
  height: number
}

/** What every provider accepts. */
const FORMATS: ReadonlySet<unknown> = new Set(["png", "jpg", "gif", "webp"])
/** The most that a GIF or a JPEG can state. A larger edge is no picture that a provider would take. */
const MAX_EDGE_PIXELS = 65_535
/** A WebP header; a shorter one reads as a size of nothing. PNGs of one vendor need ten bytes more. */
const MIN_HEADER_BYTES = 30
const HEADER_BYTES = 40

/** An empty first segment, so that the frame header follows at once. */
const JPEG_START = [0xff, 0xd8, 0xff, 0xe0, 0, 2] as const
/** Baseline, extended and progressive frames: those that `image-size` reads. */
const JPEG_FRAMES: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2])
const JPEG_SCAN = 0xda
/** A colour profile alone may have 255. */
const MAX_JPEG_SEGMENTS = 300

/** The pixel size that a PNG, JPEG, GIF or WebP states; `undefined` for anything else. Orientation is not applied. */
export function readPixels(payload: Payload): Pixels | undefined {
  try {
    const header = readHeader(payload)
    if (header === undefined || header.length < MIN_HEADER_BYTES) return undefined
    const { type, width, height } = imageSize(header)
    return FORMATS.has(type) && isEdge(width) && isEdge(height) ? { width, height } : undefined
  } catch {
    return undefined
  }
}

function readHeader(payload: Payload): Uint8Array | undefined {
  const header = payload.read(0, HEADER_BYTES)
  return header[0] === 0xff && header[1] === 0xd8 ? readJpegHeader(payload) : header
}

/**
 * Leaves out the segments before the frame header (camera data, thumbnails, colour profiles), which may be larger than
 * the picture. Hopping over them decodes a few bytes each; `image-size` would search a damaged one byte by byte.
 */
function readJpegHeader(payload: Payload): Uint8Array | undefined {
  let at = 2
  for (let hops = 0; hops < MAX_JPEG_SEGMENTS; hops++) {
    const segment = payload.read(at, HEADER_BYTES)
    const view = new DataView(segment.buffer)
    const marker = view.getUint8(1)
    if (view.getUint8(0) !== 0xff || marker === JPEG_SCAN) return undefined
    if (JPEG_FRAMES.has(marker)) return Uint8Array.of(...JPEG_START, ...segment)
    at += 2 + view.getUint16(2)
  }
  return undefined
}

function isEdge(pixels: number): boolean {
  return pixels >= 1 && pixels <= MAX_EDGE_PIXELS
}
