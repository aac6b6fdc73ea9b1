/** Files of a few bytes, built by the formats' rules: enough of each that its size can be read. */
type Bytes = readonly number[]

const ascii = (text: string): Bytes => [...Buffer.from(text, "latin1")]
const be16 = (value: number): Bytes => [(value >> 8) & 255, value & 255]
const le16 = (value: number): Bytes => [value & 255, (value >> 8) & 255]
const le24 = (value: number): Bytes => [...le16(value), (value >> 16) & 255]
const be32 = (value: number): Bytes => [...be16(Math.floor(value / 65_536)), ...be16(value % 65_536)]
const le32 = (value: number): Bytes => be32(value).toReversed()
const zeros = (count: number): Bytes => Array.from({ length: count }, () => 0)

export function png(width: number, height: number): Bytes {
  const header = [...be32(width), ...be32(height), 8, 6, 0, 0, 0]
  return [0x89, ...ascii("PNG\r\n\u001a\n"), ...be32(13), ...ascii("IHDR"), ...header, ...zeros(4)]
}

/** The variant that one vendor's tools write: a chunk of its own stands first. */
export function friedPng(width: number, height: number): Bytes {
  const own = [...be32(4), ...ascii("CgBI"), ...zeros(8)]
  return [...png(width, height).slice(0, 8), ...own, ...png(width, height).slice(8)]
}

export function gif(width: number, height: number): Bytes {
  return [...ascii("GIF89a"), ...le16(width), ...le16(height), ...zeros(24)]
}

const webp = (chunk: string, body: Bytes): Bytes => [
  ...ascii("RIFF"),
  ...le32(12 + body.length),
  ...ascii("WEBP"),
  ...ascii(chunk),
  ...le32(body.length),
  ...body,
]

export function lossyWebp(width: number, height: number): Bytes {
  return webp("VP8 ", [0x30, 1, 0, 0x9d, 0x01, 0x2a, ...le16(width), ...le16(height), ...zeros(8)])
}

export function losslessWebp(width: number, height: number): Bytes {
  return webp("VP8L", [0x2f, ...le32((width - 1) | ((height - 1) << 14)), ...zeros(8)])
}

export function extendedWebp(width: number, height: number): Bytes {
  return webp("VP8X", [0x10, 0, 0, 0, ...le24(width - 1), ...le24(height - 1), ...zeros(8)])
}

export const segment = (marker: number, body: Bytes): Bytes => [0xff, marker, ...be16(body.length + 2), ...body]

/** `before` stands between the first segment and the frame header, as camera data and colour profiles do. */
export function jpeg(width: number, height: number, { before = [] as Bytes, frame = 0xc0 } = {}): Bytes {
  const frameHeader = segment(frame, [8, ...be16(height), ...be16(width), 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
  const start = segment(0xe0, [...ascii("JFIF\0"), 1, 1, 0, 0, 1, 0, 1, 0, 0])
  return [0xff, 0xd8, ...start, ...before, ...frameHeader, ...segment(0xda, zeros(10)), ...zeros(8)]
}

/** One for each way in which a format states a size. */
export const BUILDERS = { png, friedPng, gif, lossyWebp, losslessWebp, extendedWebp, jpeg }

export function pdf(...objects: readonly string[]): Uint8Array {
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join("")
  return Buffer.from(`%PDF-1.7\n${body}trailer\n<< /Root 1 0 R >>\n%%EOF\n`, "latin1")
}

export const pages = (count: number): Uint8Array =>
  pdf("<< /Type /Catalog /Pages 2 0 R >>", `<< /Type /Pages /Kids [3 0 R] /Count ${count} >>`)

export function dataUrl(mime: string, bytes: Bytes | Uint8Array, parameters = ""): string {
  return `data:${mime}${parameters};base64,${Buffer.from(bytes).toString("base64")}`
}

/** The screenshot of a full screen, as a file part or an attachment; `sizeBytes` says how much follows its header. */
export function screenshot(sizeBytes = 0): { type: "file"; mime: string; url: string; filename: string } {
  const bytes = Buffer.concat([Buffer.from(png(1_920, 1_080)), Buffer.alloc(sizeBytes, 7)])
  return { type: "file", mime: "image/png", url: dataUrl("image/png", bytes), filename: "shot.png" }
}
