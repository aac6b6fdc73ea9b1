import { openDataUrl, type Payload } from "./media-data.ts"
import { findFamily, type MediaFamily } from "./media-families.ts"
import { readPixels } from "./media-image.ts"
import { countPages } from "./media-pdf.ts"
import type { Model } from "./types.ts"

type Sizer = (payload: Payload, family: MediaFamily) => number | undefined

const SIZERS: ReadonlyMap<unknown, Sizer> = new Map([
  ["image/png", sizeImage],
  ["image/jpeg", sizeImage],
  ["image/jpg", sizeImage],
  ["image/gif", sizeImage],
  ["image/webp", sizeImage],
  ["application/pdf", sizeDocument],
])

/**
 * Tokens that a picture or document costs when the model reads it, leaning to the larger side. `undefined`: not a data
 * URL, another format, or a header that cannot be read. Never throws; reads a bounded part of the URL.
 */
export function estimateMediaTokens(mime: unknown, url: unknown, model: Model | undefined): number | undefined {
  const sizer = SIZERS.get(mime)
  const payload = sizer && openDataUrl(url)
  return payload && sizer(payload, findFamily(model))
}

function sizeImage(payload: Payload, family: MediaFamily): number | undefined {
  const pixels = readPixels(payload)
  return pixels && Math.ceil(family.imageTokens(pixels))
}

function sizeDocument(payload: Payload, { pageTokens }: MediaFamily): number | undefined {
  const pages = countPages(payload)
  return pages && Math.ceil(pages * pageTokens)
}
