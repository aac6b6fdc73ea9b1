/** What a data URL holds. Only what is asked for is decoded: the string may have many megabytes. */
export interface Payload {
  /** The most that it can hold: padding and line breaks are not looked for. */
  maxBytes: number
  /** Memory of its own and never longer than the payload, since `image-size` reads past the end of a shared view. */
  read: (fromByte: number, countBytes: number) => Uint8Array<ArrayBuffer>
}

const MAX_HEADER_CHARS = 200
/** Nobody sends large escaped files; a picture's header fits. */
const MAX_UNESCAPED_BYTES = 4_096

/** `undefined`: no data URL, so that the content stands elsewhere. */
export function openDataUrl(url: unknown): Payload | undefined {
  if (typeof url !== "string" || !url.startsWith("data:")) return undefined
  const comma = url.slice(0, MAX_HEADER_CHARS).indexOf(",")
  if (comma < 0) return undefined
  const isBase64 = /;\s*base64\s*(;|$)/i.test(url.slice(0, comma))
  return isBase64 ? openBase64(url, comma + 1) : openEscaped(url, comma + 1)
}

/** Three bytes stand in four characters. Where line breaks shift that, later bytes are noise and their readers find nothing. */
function openBase64(url: string, start: number): Payload {
  return {
    maxBytes: Math.floor((url.length - start) / 4) * 3,
    read(fromByte, countBytes) {
      const skipped = fromByte % 3
      const at = start + ((fromByte - skipped) / 3) * 4
      const chars = Math.ceil((skipped + countBytes) / 3) * 4
      const bytes = Buffer.from(url.slice(at, at + chars), "base64")
      return new Uint8Array(bytes.subarray(skipped, skipped + countBytes))
    },
  }
}

function openEscaped(url: string, start: number): Payload {
  const escaped = url.slice(start, start + 3 * MAX_UNESCAPED_BYTES)
  const text = escaped.replaceAll(/%([\da-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  const bytes = Buffer.from(text, "latin1")
  return {
    maxBytes: bytes.length,
    read: (fromByte, countBytes) => new Uint8Array(bytes.subarray(fromByte, fromByte + countBytes)),
  }
}
