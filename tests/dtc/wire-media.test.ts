import assert from "node:assert/strict"
import test from "node:test"
import { estimateMessages } from "../../lib/dtc/engine.ts"
import { FRAME_TOKENS } from "../../lib/dtc/tokens.ts"
import type { Message, Model } from "../../lib/dtc/types.ts"
import { DEFAULT_POLICY, MODEL, read, session, step, tokens, user, userParts } from "../helpers/history.ts"
import { checkProjection } from "../helpers/laws.ts"
import { dataUrl, pages, png, screenshot } from "../helpers/pictures.ts"

type Draft = ReturnType<typeof user>
type Size = number | undefined

const { message: MESSAGE, part: PART, toolCall: CALL } = FRAME_TOKENS
const bytes = (value: string): number => Buffer.byteLength(value) / 4
const sent = (...sizes: number[]): number => MESSAGE + sizes.reduce((sum, size) => sum + PART + size, 0)
const readCall = CALL + bytes("read") + bytes('{"filePath":"a"}')
const NOTE = bytes("Attached media from tool result:")
const refused = (what: string, modality: string): number =>
  bytes(`ERROR: Cannot read ${what} (this model does not support ${modality} input). Inform the user.`)

const image = { ...screenshot(), url: dataUrl("image/png", png(750, 300)) }
const broken = { ...image, url: "data:image/png;base64,AAAA" }
const remote = { ...image, url: "https://example.com/a.png" }
const document = { type: "file", mime: "application/pdf", url: dataUrl("application/pdf", pages(2)) }
/** By the formulas of the models below; 750 × 300 pixels. */
const [CLAUDE_IMAGE, GEMINI_IMAGE, LARGEST_IMAGE] = [300, 258 * 6, 258 * 6]
const [CLAUDE_PAGE, GEMINI_PAGE] = [4_600, 258]

const claude = (npm: string, input?: object): Model => ({
  ...MODEL,
  npm,
  apiID: "anthropic.claude-sonnet-4-5",
  ...(input && { capabilities: { input } }),
})
const carrier = claude("@ai-sdk/anthropic", { image: true, pdf: true })
const blindCarrier = claude("@ai-sdk/anthropic", {})
const mover = claude("@ai-sdk/openai-compatible", { image: true, pdf: true })
const blindMover = claude("@ai-sdk/openai-compatible", {})
const gemini: Model = { ...carrier, npm: "@ai-sdk/google", apiID: "gemini-2.5-pro" }

const readWith = (...attachments: object[]): Draft => step(read("a", "seen", { attachments }))
const result = readCall + bytes("seen")

/** What one message costs; `undefined` when its size is unknown although pictures and documents are sized. */
const rows: [name: string, draft: Draft, model: Model | undefined, size: Size][] = [
  ["user image", userParts(image), carrier, sent(CLAUDE_IMAGE)],
  ["user image, another family", userParts(image), gemini, sent(GEMINI_IMAGE)],
  ["user image, no model known", userParts(image), undefined, sent(LARGEST_IMAGE)],
  [
    "user image, no model named at all",
    { ...userParts(image), info: { model: undefined } },
    undefined,
    sent(LARGEST_IMAGE),
  ],
  ["user image, kinds not known", userParts(image), claude("@ai-sdk/anthropic"), sent(CLAUDE_IMAGE)],
  ["user image, not accepted", userParts(image), blindCarrier, sent(refused('"shot.png"', "image"))],
  ["user image that cannot be read", userParts(broken), carrier, undefined],
  ["user image that cannot be read, not accepted", userParts(broken), blindMover, sent(refused('"shot.png"', "image"))],
  ["user image by remote URL", userParts(remote), carrier, undefined],
  ["user PDF", userParts(document), carrier, sent(2 * CLAUDE_PAGE)],
  ["user PDF, another family", userParts(document), gemini, sent(2 * GEMINI_PAGE)],
  ["user PDF, not accepted", userParts(document), blindCarrier, sent(refused("pdf", "pdf"))],
  ["user SVG", userParts({ ...image, mime: "image/svg+xml" }), carrier, undefined],
  ["user audio", userParts({ ...image, mime: "audio/wav" }), { ...carrier, capabilities: {} }, undefined],
  ["two user images", userParts(image, image), carrier, sent(CLAUDE_IMAGE, CLAUDE_IMAGE)],

  ["tool image in the result", readWith(image), carrier, sent(result + CLAUDE_IMAGE)],
  [
    "tool image in the result, not accepted: sent in any case",
    readWith(image),
    blindCarrier,
    sent(result + CLAUDE_IMAGE),
  ],
  ["tool image in the result that cannot be read", readWith(broken), carrier, undefined],
  ["tool image in the result by remote URL: dropped", readWith(remote), carrier, sent(result)],
  ["tool image moved", readWith(image), mover, sent(result + NOTE + CLAUDE_IMAGE)],
  [
    "tool image by remote URL with a comma: dropped",
    readWith({ ...image, url: "https://x/a,b" }),
    carrier,
    sent(result),
  ],
  ["tool image without a comma: dropped", readWith({ ...image, url: "data:image/png" }), carrier, sent(result)],
  ["tool image without a URL: dropped", readWith({ ...image, url: undefined }), carrier, sent(result)],
  [
    "tool image moved, an older model of a family that carries",
    readWith(image),
    { ...gemini, apiID: "gemini-1.5-pro" },
    sent(result + NOTE + GEMINI_IMAGE),
  ],
  ["tool image moved, another family", readWith(image), gemini, sent(result + NOTE + GEMINI_IMAGE)],
  ["tool image moved, not accepted", readWith(image), blindMover, sent(result + NOTE + refused('"shot.png"', "image"))],
  ["tool image moved that cannot be read", readWith(broken), mover, undefined],
  ["tool image moved by remote URL", readWith(remote), mover, undefined],
  ["tool image, no model known", readWith(image), undefined, sent(result + NOTE + LARGEST_IMAGE)],
  [
    "tool image, no package known",
    readWith(image),
    { ...MODEL, capabilities: { input: {} } },
    sent(result + NOTE + LARGEST_IMAGE),
  ],
  ["tool image, no package known, remote URL", readWith(remote), MODEL, undefined],
  ["tool PDF in the result", readWith(document), carrier, sent(result + 2 * CLAUDE_PAGE)],
  ["tool PDF moved", readWith(document), mover, sent(result + NOTE + 2 * CLAUDE_PAGE)],
  ["tool PDF moved, not accepted", readWith(document), blindMover, sent(result + NOTE + refused("pdf", "pdf"))],
  ["tool images, several", readWith(image, document), carrier, sent(result + CLAUDE_IMAGE + 2 * CLAUDE_PAGE)],
  ["tool images, one that cannot be read", readWith(image, broken), carrier, undefined],
  [
    "tool image of a cleared output",
    step(read("a", "x", { time: { compacted: 1 }, attachments: [image] })),
    carrier,
    sent(readCall + bytes("[Old tool result content cleared]")),
  ],
  ["tool audio", readWith({ ...image, mime: "audio/wav" }), carrier, undefined],
]
for (const [name, draft, model, size] of rows) {
  test(`wire: ${name}: ${size === undefined ? "unknown" : size}`, () => {
    const options = { ...(model && { model }), estimateMedia: true }
    assert.equal(estimateMessages(session(draft), options), size === undefined ? undefined : Math.ceil(size))
  })
}

test("without `estimateMedia`, what a picture or document costs is unknown", () => {
  const sized = rows.filter(([name, , , size]) => size !== undefined && !/not accepted$|dropped|cleared/.test(name))
  assert.ok(sized.length >= 15)
  for (const [name, draft, model] of sized)
    for (const estimateMedia of [false, undefined])
      assert.equal(estimateMessages(session(draft), { ...(model && { model }), estimateMedia }), undefined, name)
})

const SHOT_TOKENS = 1_600
const filler = tokens(4_000)
const shot = screenshot(20_000)
/** Eight screenshots, four from each side, and reads that may be cleared. */
const sessionWith = (model: Model, last: Record<string, unknown> = shot): Message[] =>
  session(
    user("look at these", {}, shot, shot, shot),
    ...["b", "c", "d", "e"].map((path) => step(read(path, filler + path))),
    ...["f", "g", "h", "i"].map((path) => step(read(path, "Image read successfully", { attachments: [shot] }))),
    user("and this", { model }, last),
  )
const options = (model: Model, estimateMedia = true) => ({
  model,
  inputBudget: 24_000,
  policy: { ...DEFAULT_POLICY, protectRecentSteps: 1, protectRecentTokens: 0, estimateMedia },
})

for (const [place, model, notes] of [
  ["in results", carrier, 0],
  ["moved", mover, 4 * NOTE],
] as const) {
  test(`a session with eight screenshots, tools' ${place}, is projected`, () => {
    const { stats, cleared } = checkProjection(sessionWith(model), options(model))
    const withoutMedia = estimateMessages(
      sessionWith(model, { type: "agent" }).map((message) => ({
        ...message,
        parts: message.parts
          .filter(({ type }) => type !== "file")
          .map((part) => ({ ...part, state: { ...(part["state"] as object), attachments: [] } })),
      })),
      { model },
    )
    assert.ok(withoutMedia !== undefined && withoutMedia > 16_000)
    assert.equal(stats.estimatedBefore, Math.ceil(withoutMedia + 8 * SHOT_TOKENS + 4 * PART + notes))
    assert.equal(stats.skipped, undefined)
    assert.deepEqual(
      cleared.map(({ reason }) => reason),
      ["aged", "aged", "aged", "aged"],
    )
    assert.equal(stats.overBudget, false)
  })
}

test("the same session with one screenshot that cannot be read is not projected, nor without `estimateMedia`", () => {
  for (const [messages, estimateMedia] of [
    [sessionWith(carrier, broken), true],
    [sessionWith(carrier), false],
  ] as const) {
    const { stats, cleared } = checkProjection(messages, options(carrier, estimateMedia))
    assert.equal(stats.skipped, "unknown-content")
    assert.deepEqual(cleared, [])
  }
})

test("an output with a picture is never cleared, and one that is cleared costs the placeholder", () => {
  const withMark = (compacted?: number): Message[] =>
    session(
      user("go"),
      step(read("f", filler, { attachments: [shot], time: { start: 1, ...(compacted && { compacted }) } })),
      ...["b", "c"].map((path) => step(read(path, "small"))),
    )
  const { stats, cleared } = checkProjection(withMark(), { ...options(carrier), force: true })
  assert.deepEqual(cleared, [])
  const marked = checkProjection(withMark(2), options(carrier)).stats
  const saved = SHOT_TOKENS + bytes(filler) - bytes("[Old tool result content cleared]")
  const difference = (stats.estimatedBefore ?? 0) - (marked.estimatedBefore ?? 0)
  assert.ok(Math.abs(difference - saved) < 1, `${difference} instead of ${saved}`)
})
