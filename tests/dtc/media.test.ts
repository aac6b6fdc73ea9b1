import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { openDataUrl } from "../../lib/dtc/media-data.ts"
import { estimateMediaTokens } from "../../lib/dtc/media.ts"
import type { Model } from "../../lib/dtc/types.ts"
import * as pictures from "../helpers/pictures.ts"
import { dataUrl, jpeg, pdf, png, segment } from "../helpers/pictures.ts"

/** Its formula below the limits is the pixels / 750, so that a size can be told from the tokens. */
const CLAUDE: Model = { providerID: "p", modelID: "m", npm: "@ai-sdk/anthropic", apiID: "claude-sonnet-4-5" }
const [WIDTH, HEIGHT] = [750, 300]
const sizeOf = (mime: string, url: unknown): number | undefined => estimateMediaTokens(mime, url, CLAUDE)

const filled = (count: number, value = 0): number[] => Array.from({ length: count }, () => value)
const escape = (bytes: readonly number[]): string =>
  bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
const withBody = (header: readonly number[], countBytes: number): Uint8Array =>
  Buffer.concat([Uint8Array.from(header), Buffer.alloc(countBytes)])
/** Camera data as large as a segment can be, with the frame header of a thumbnail in it. */
const cameraData = segment(0xe1, [...Buffer.from("Exif\0\0"), ...jpeg(16, 16), ...filled(65_000)])
const emptySegments = (count: number): readonly number[] => filled(count).flatMap(() => segment(0xe1, []))
const profile = Array.from({ length: 12 }, () => segment(0xe2, filled(65_000, 0xff))).flat()

const shapes: [name: string, mime: string, bytes: readonly number[]][] = [
  ["PNG", "image/png", png(WIDTH, HEIGHT)],
  ["PNG of another vendor", "image/png", pictures.friedPng(WIDTH, HEIGHT)],
  ["GIF", "image/gif", pictures.gif(WIDTH, HEIGHT)],
  ["lossy WebP", "image/webp", pictures.lossyWebp(WIDTH, HEIGHT)],
  ["lossless WebP", "image/webp", pictures.losslessWebp(WIDTH, HEIGHT)],
  ["extended WebP", "image/webp", pictures.extendedWebp(WIDTH, HEIGHT)],
  ["JPEG", "image/jpeg", jpeg(WIDTH, HEIGHT)],
  ["JPEG by its other name", "image/jpg", jpeg(WIDTH, HEIGHT)],
  ["extended JPEG", "image/jpeg", jpeg(WIDTH, HEIGHT, { frame: 0xc1 })],
  ["progressive JPEG", "image/jpeg", jpeg(WIDTH, HEIGHT, { frame: 0xc2 })],
  ["JPEG with large camera data", "image/jpeg", jpeg(WIDTH, HEIGHT, { before: cameraData })],
  ["JPEG behind 780 kB", "image/jpeg", jpeg(WIDTH, HEIGHT, { before: profile })],
  ["JPEG with as many segments as are looked at", "image/jpeg", jpeg(WIDTH, HEIGHT, { before: emptySegments(298) })],
  ["a JPEG that is called PNG", "image/png", jpeg(WIDTH, HEIGHT)],
]
for (const [name, mime, bytes] of shapes) {
  test(`pixels of a ${name}`, () => {
    assert.equal(sizeOf(mime, dataUrl(mime, bytes)), 300)
  })
}

const urls: [name: string, url: string][] = [
  ["with a parameter", dataUrl("image/png", png(WIDTH, HEIGHT), ";charset=utf-8")],
  ["with a parameter behind", dataUrl("image/png", png(WIDTH, HEIGHT)).replace(";base64", ";BASE64;name=a.png")],
  ["with spaces", dataUrl("image/png", png(WIDTH, HEIGHT)).replace(";base64,", "; base64 ,")],
  ["without a type", dataUrl("", png(WIDTH, HEIGHT))],
  ["without padding", dataUrl("image/png", png(WIDTH, HEIGHT)).replace(/=+$/, "")],
  ["with a body of megabytes", dataUrl("image/png", withBody(png(WIDTH, HEIGHT), 3_000_000))],
  ["percent-encoded", `data:image/png,${escape(png(WIDTH, HEIGHT))}`],
  ["percent-encoded in part", `data:image/png;charset=x,${escape(png(WIDTH, HEIGHT)).replace("%50%4e%47", "PNG")}`],
  ["percent-encoded and long", `data:image/png,x${escape(filled(9_000))}`.replace(",x", `,${escape(png(750, 300))}%8`)],
]
for (const [name, url] of urls) {
  test(`a data URL ${name}`, () => {
    assert.equal(sizeOf("image/png", url), 300)
  })
}

const unreadable: [name: string, mime: string, url: unknown][] = [
  ["no URL", "image/png", undefined],
  ["an odd URL", "image/png", { href: "data:," }],
  ["a remote URL", "image/png", "https://example.com/a.png"],
  [
    "a remote URL that looks like data",
    "image/png",
    dataUrl("image/png", png(WIDTH, HEIGHT)).replace("data:", "http:"),
  ],
  ["a file URL", "image/png", "file:///a.png"],
  ["a data URL without a comma", "image/png", `data:image/png;base64${"A".repeat(1_000)}`],
  ["a comma too far", "image/png", dataUrl("image/png", png(WIDTH, HEIGHT), `;name=${"x".repeat(300)}`)],
  ["nothing", "image/png", "data:image/png;base64,"],
  ["text", "image/png", dataUrl("image/png", [...Buffer.from("not a picture at all, but long enough")])],
  [
    "a frame behind the scan",
    "image/jpeg",
    dataUrl("image/jpeg", jpeg(WIDTH, HEIGHT, { before: segment(0xda, filled(10)) })),
  ],
  ["a JPEG that starts as another file", "image/jpeg", dataUrl("image/jpeg", [0xff, 0x4f, ...jpeg(9, 9).slice(2)])],
  ["a JPEG that starts as no file", "image/jpeg", dataUrl("image/jpeg", [0xfe, ...jpeg(9, 9).slice(1)])],
  ["a JPEG with a damaged segment", "image/jpeg", dataUrl("image/jpeg", [0xff, 0xd8, 0xfe, ...jpeg(9, 9).slice(3)])],
  [
    "a JPEG whose segments do not meet",
    "image/jpeg",
    dataUrl("image/jpeg", jpeg(9, 9, { before: [0, ...cameraData] })),
  ],
  ["a lossless JPEG", "image/jpeg", dataUrl("image/jpeg", jpeg(WIDTH, HEIGHT, { frame: 0xc3 }))],
  ["a JPEG of one segment more", "image/jpeg", dataUrl("image/jpeg", jpeg(9, 9, { before: emptySegments(299) }))],
  ["a JPEG of noise", "image/jpeg", dataUrl("image/jpeg", [0xff, 0xd8, 0xff, 0xe0, ...filled(600_000, 0x11)])],
  ["BMP bytes", "image/png", dataUrl("image/png", [0x42, 0x4d, ...filled(16), 9, 0, 0, 0, 9, 0, 0, 0, ...filled(30)])],
  ["SVG", "image/svg+xml", dataUrl("image/svg+xml", [...Buffer.from('<svg width="9" height="9" xmlns="x"></svg>')])],
  ["SVG that is called PNG", "image/png", dataUrl("image/png", [...Buffer.from('<svg width="9" height="9"></svg>')])],
  ["a PNG that is called AVIF", "image/avif", dataUrl("image/avif", png(9, 9))],
  ["audio", "audio/wav", dataUrl("audio/wav", png(9, 9))],
  ["video", "video/mp4", dataUrl("video/mp4", png(9, 9))],
  ["no type", "", dataUrl("image/png", png(9, 9))],
  ["a height of zero", "image/gif", dataUrl("image/gif", pictures.gif(9, 0))],
  ["a width of zero", "image/gif", dataUrl("image/gif", pictures.gif(0, 9))],
  ["an absurd width", "image/png", dataUrl("image/png", png(65_536, 9))],
  ["an absurd height", "image/png", dataUrl("image/png", png(9, 4_000_000_000))],
]
for (const [name, mime, url] of unreadable) {
  test(`no size: ${name}`, () => {
    assert.equal(sizeOf(mime, url), undefined)
  })
}

test("without a comma where its header ends, a URL holds nothing", () => {
  const header = "data:image/png;base64"
  assert.equal(openDataUrl(header), undefined)
  assert.equal(openDataUrl(header + "A".repeat(200 - header.length) + ",AAAA"), undefined)
  assert.equal(openDataUrl(`${header};${"x".repeat(199 - header.length - 1)},AAAA`)?.maxBytes, 3)
})

test("the largest edges that a picture can state have a size", () => {
  assert.equal(sizeOf("image/png", dataUrl("image/png", png(65_535, 65_535))), 1_600)
  assert.equal(sizeOf("image/png", dataUrl("image/png", png(65_535, 1))), Math.ceil(1_568 / 750))
  assert.equal(sizeOf("image/png", dataUrl("image/png", png(1, 1))), 1)
})

test("a header that is cut anywhere has no size, or the right one", () => {
  for (const [name, mime, bytes] of shapes.filter((row) => row[2].length < 200)) {
    const sizes = bytes.map((_, count) => sizeOf(mime, dataUrl(mime, bytes.slice(0, count))))
    assert.deepEqual(new Set(sizes), new Set([undefined, 300]), name)
    assert.equal(sizes[20], undefined, name)
  }
})

test("thirty bytes are a header, fewer are none", () => {
  const bytes = pictures.gif(WIDTH, HEIGHT)
  assert.equal(sizeOf("image/gif", dataUrl("image/gif", bytes.slice(0, 30))), 300)
  assert.equal(sizeOf("image/gif", dataUrl("image/gif", bytes.slice(0, 29))), undefined)
})

test("of a large picture, little is decoded", (t) => {
  const from = t.mock.method(Buffer, "from")
  const before = jpeg(WIDTH, HEIGHT, { before: profile })
  for (const [mime, bytes] of [
    ["image/png", withBody(png(WIDTH, HEIGHT), 2_000_000)],
    ["image/jpeg", before],
  ] as const) {
    const url = dataUrl(mime, bytes)
    from.mock.resetCalls()
    assert.equal(sizeOf(mime, url), 300)
    const decodedChars = from.mock.calls.reduce(
      (sum, call) => sum + (call.arguments as unknown as [string])[0].length,
      0,
    )
    assert.ok(decodedChars > 0 && decodedChars < 2_000, `${decodedChars} characters`)
  }
})

/** 3,000 tokens of text and a picture of 1,600 for each page. */
const PAGE = 4_600
const CATALOG = "<< /Type /Catalog /Pages 2 0 R >>"
const stream = (bytes: number): string => `<< /Length ${bytes} >>\nstream\n${"\u00e9".repeat(bytes)}\nendstream`
/** Its own length stands in it. */
const linearised = (spaces = 0, gap = " "): Uint8Array => {
  const write = (length: string): Uint8Array =>
    pdf(`<< /Linearized 1${" ".repeat(spaces)} /L${gap}${length} /H [ 600 130 ] /O 5 /N${gap}42 /T 400 >>`)
  return write(String(write("0000").length).padStart(4, "0"))
}
/** A file of that size whose page tree begins before its middle and ends behind it. */
const acrossTheMiddle = (sizeBytes: number): Uint8Array => {
  const tree = `<< /Type /Pages /Kids [${" ".repeat(2_000)}] /Count 6 >>`
  const before = stream(261_000)
  return pdf(CATALOG, before, tree, stream(sizeBytes - pdf(CATALOG, before, tree, stream(100_000)).length + 100_000))
}
const documents: [name: string, bytes: Uint8Array | readonly number[], pages: number | undefined][] = [
  ["a page tree", pictures.pages(3), 3],
  ["a tree without spaces", pdf("<</Type/Catalog/Pages 2 0 R>>", "<</Kids[3 0 R]/Count 7/Type/Pages>>"), 7],
  ["a tree with spaces", pdf("<<\n/Type\n/Pages\n/Kids [3 0 R]\n/Count \n 7\n>>"), 7],
  ["one page", pictures.pages(1), 1],
  ["text before an object", [...Buffer.from("%PDF-1.7\n% /Parent\n1 0 obj\n<</Type/Pages/Count 3>>\nendobj\n")], 3],
  ["a tree across the middle, in a file that is read as one", acrossTheMiddle(524_286), 6],
  ["a tree across the middle, a byte later", acrossTheMiddle(524_287), undefined],
  ["inner nodes", pdf(CATALOG, "<</Type/Pages/Parent 1 0 R/Count 99>>", "<</Type/Pages/Count 12>>"), 12],
  [
    "a later revision",
    pdf(CATALOG, "<</Type/Pages/Count 2>>", "<</Type/Pages/Count 4>>", "<</Type/Pages/Count 3>>"),
    4,
  ],
  ["a tree behind large objects", pdf(CATALOG, stream(900_000), "<< /Type /Pages /Count 5 >>"), 5],
  ["a tree before large objects", pdf(CATALOG, "<< /Type /Pages /Count 6 >>", stream(900_000)), 6],
  ["a tree in the middle", pdf(CATALOG, stream(400_000), "<</Type/Pages/Count 6>>", stream(400_000)), undefined],
  ["linearised", linearised(), 42],
  ["linearised, with spaces", linearised(0, " \n "), 42],
  ["linearised, one byte longer", linearised(1), 42],
  ["linearised, two bytes longer", linearised(2), 42],
  ["linearised, then revised", [...linearised(), ...pictures.pages(43)], 43],
  ["linearised, then revised in part", [...linearised(), ...pdf("<< /Type /ObjStm /N 9 >>")], undefined],
  ["compressed objects", pdf("<< /Type /ObjStm /N 9 >>", stream(500)), undefined],
  ["a count elsewhere", pdf(CATALOG, "<</Type/Pages/Count 88 0 R>>", "<</Type/Outlines/Count 5>>"), undefined],
  ["a count elsewhere, of a revision", pdf(CATALOG, "<</Type/Pages/Count 88 10 R>>"), undefined],
  ["a count elsewhere, with spaces", pdf(CATALOG, "<</Type/Pages/Count 88  0 R>>"), undefined],
  ["a count elsewhere, with more", pdf(CATALOG, "<</Type/Pages/Count 88 0  R>>"), undefined],
  ["a cut tree", pictures.pages(37).slice(0, -40), undefined],
  ["a page, no tree", pdf("<< /Type /Page /Count 5 >>"), undefined],
  ["no pages", pictures.pages(0), undefined],
  ["as many pages as a provider takes", pictures.pages(1_000), 1_000],
  ["more pages than a provider takes", pictures.pages(1_001), undefined],
  ["another file", [...Buffer.from("1 0 obj <</Type/Pages/Count 3>> endobj")], undefined],
  ["nothing", [], undefined],
]
for (const [name, bytes, pages] of documents) {
  test(`PDF: ${name}: ${pages ?? "unknown"}`, () => {
    assert.equal(sizeOf("application/pdf", dataUrl("application/pdf", bytes)), pages && pages * PAGE)
  })
}

test("an object that a window cuts is no root", () => {
  const inner = `<< /Parent 1 0 R /Note (${" ".repeat(2_000)}) /Type /Pages /Count 7 >>`
  for (let shift = 0; shift < 2_000; shift += 400) {
    const bytes = pdf(CATALOG, stream(400_000), inner, stream(262_144 - 2_000 + shift))
    assert.equal(sizeOf("application/pdf", dataUrl("application/pdf", bytes)), undefined, String(shift))
  }
})

test("a remote PDF has no size", () => {
  assert.equal(sizeOf("application/pdf", "https://example.com/a.pdf"), undefined)
})

const mimes = fc.constantFrom("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf")
const builders = { ...pictures.BUILDERS, pages: (count: number) => pictures.pages(count) }
const edge = fc.oneof(fc.integer({ min: 1, max: 9_000 }), fc.nat({ max: 16_383 }))
const whole = fc
  .tuple(fc.constantFrom(...Object.values(builders)), edge, edge)
  .map(([build, width, height]) => [...build(width, height)])
/** A picture or document with some bytes overwritten, cut or added. */
const noise = fc
  .tuple(whole, fc.array(fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 255 })), { maxLength: 3 }), fc.nat({ max: 300 }))
  .chain(([bytes, writes, length]) => {
    for (const [at, byte] of writes) bytes[at] = byte
    return fc.uint8Array({ maxLength: 40 }).map((more) => [...bytes.slice(0, length), ...more])
  })
const noisyUrls: fc.Arbitrary<unknown> = fc.oneof(
  noise.map((bytes) => dataUrl("x/y", bytes)),
  noise.map((bytes) => `data:x/y,${Buffer.from(bytes).toString("latin1")}`),
  fc.string().map((text) => `data:;base64,${text}`),
  fc.string(),
  fc.jsonValue(),
)

test("any bytes: no throw, a bounded size or none, and the same each time", () => {
  const seen = { sized: 0, unknown: 0 }
  const models = fc.constantFrom(undefined, CLAUDE, { ...CLAUDE, apiID: "gemini-2.5-pro" }, { ...CLAUDE, apiID: "x" })
  fc.assert(
    fc.property(mimes, noisyUrls, models, (mime, url, model) => {
      const tokens = estimateMediaTokens(mime, url, model)
      assert.equal(estimateMediaTokens(mime, url, model), tokens)
      seen[tokens === undefined ? "unknown" : "sized"]++
      if (tokens === undefined) return
      assert.ok(Number.isInteger(tokens) && tokens > 0 && tokens <= 7_784_000, String(tokens))
    }),
    { numRuns: 3_000 },
  )
  assert.ok(seen.sized > 100 && seen.unknown > 100, JSON.stringify(seen))
})
