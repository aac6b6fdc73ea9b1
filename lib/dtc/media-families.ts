/**
 * What providers say that a picture or a page costs. The rules are from memory of the pages named below: they were not read
 * again when this was written, and providers change them. Where a page leaves a range, the larger end counts.
 */
import type { Pixels } from "./media-image.ts"
import type { Model } from "./types.ts"

export interface MediaFamily {
  /** Tokens of one picture; above 0 and bounded for any pixel size. */
  imageTokens: ImageFormula
  /** Tokens of one page of a document. */
  pageTokens: number
}

type ImageFormula = (pixels: Pixels) => number

interface FamilyRow extends MediaFamily {
  /** Ids of the models, in lower case, with or without the name of a vendor or a region before them. */
  models: RegExp
  /** Its tokens are scaled for a price of its own, so that they say nothing about a model that nobody knows. */
  isOutlier?: boolean
}

/** A document's page in the proportions of a letter, at 200 dots per inch. */
const PAGE_PIXELS: Pixels = { width: 1_700, height: 2_200 }
/** Anthropic's page on documents gives 1,500 to 3,000 tokens of text for each page; others say only that text counts. */
const PAGE_TEXT_TOKENS = 3_000

/**
 * The first row whose `models` fit.
 *
 * - Anthropic, https://docs.anthropic.com/en/docs/build-with-claude/vision and .../pdf-support: width × height / 750, after
 *   the picture is scaled to a long edge of 1,568 pixels and about 1,600 tokens; from Opus 4.7 on 2,576 pixels and 4,784
 *   tokens. A page costs its text and a picture.
 * - OpenAI, https://platform.openai.com/docs/guides/images-vision and .../pdf-files: a base and a price for each tile of 512
 *   pixels, after the picture is fit into a square of 2,048 and its short side to 768; or patches of 32 pixels, at most
 *   1,536 (2,500 from GPT-5.4 on), times a factor for the small models. A page costs its text and a picture.
 * - Google, https://ai.google.dev/gemini-api/docs/image-understanding, .../document-processing and .../gemini-3: 258 when
 *   both sides have at most 384 pixels, else 258 for each tile, whose edge is the short side / 1.5, between 256 and 768. A page
 *   costs one tile. Gemini 3: at most 1,120 for a picture and 560 for a page.
 */
const FAMILIES: readonly FamilyRow[] = [
  { models: /claude-(?:[1-3]|(?:opus|sonnet|haiku)-4(?![-.]?[7-9]))/, ...withText(byArea(1_568, 1_600)) },
  { models: /claude/, ...withText(byArea(2_576, 4_784)) },
  { models: /gemini-[12]\b/, imageTokens: byAdaptiveTiles, pageTokens: 258 },
  { models: /gemini-3\b/, imageTokens: () => 1_120, pageTokens: 560 },
  { models: /gemini/, imageTokens: largestOf(byAdaptiveTiles, () => 1_120), pageTokens: 560 },
  { models: /\bgpt-4o-mini/, ...withText(byTiles(2_833, 5_667)), isOutlier: true },
  { models: /\b(?:gpt-[\d.]+|codex)-mini/, ...withText(byPatches(1_536, 1.62)) },
  { models: /\bo4-mini/, ...withText(byPatches(1_536, 1.72)) },
  { models: /\bgpt-[\d.]+-nano/, ...withText(byPatches(1_536, 2.46)) },
  { models: /\b(?:gpt-4|chatgpt-4)/, ...withText(byTiles(85, 170)) },
  { models: /\bgpt-5(?![.\d])/, ...withText(byTiles(70, 140)) },
  { models: /\bo[13]\b/, ...withText(byTiles(75, 150)) },
  { models: /\b(?:gpt-|codex|o\d)/, ...withText(largestOf(byTiles(85, 170), byPatches(2_500, 1))) },
]

const LARGEST: MediaFamily = findLargest(FAMILIES.filter(({ isOutlier }) => !isOutlier))

/** What ids of a package's own provider look like, for a model without an id. */
const PACKAGE_MODELS: ReadonlyMap<string, string> = new Map([
  ["@ai-sdk/anthropic", "claude"],
  ["@ai-sdk/google-vertex/anthropic", "claude"],
  ["@ai-sdk/google", "gemini"],
  ["@ai-sdk/openai", "gpt-"],
])

/**
 * The model's name decides, not who serves it: Claude costs the same through Bedrock, Vertex, Copilot or OpenRouter, and
 * other vendors' models are served by all packages. The largest of all for a name that is not in the table, and without a
 * package.
 */
export function findFamily(model: Model | undefined): MediaFamily {
  if (model?.npm === undefined) return LARGEST
  const name = (model.apiID ?? PACKAGE_MODELS.get(model.npm) ?? "").toLowerCase()
  return FAMILIES.find(({ models }) => models.test(name)) ?? LARGEST
}

function withText(imageTokens: ImageFormula): MediaFamily {
  return { imageTokens, pageTokens: PAGE_TEXT_TOKENS + imageTokens(PAGE_PIXELS) }
}

function byArea(longEdgePixels: number, maxTokens: number): ImageFormula {
  return (pixels) => {
    const { width, height } = fitInto(pixels, longEdgePixels)
    return Math.min(maxTokens, (width * height) / 750)
  }
}

function byTiles(baseTokens: number, tileTokens: number): ImageFormula {
  return (pixels) => {
    const { width, height } = fitInto(pixels, 2_048)
    const shrunk = scaleBy({ width, height }, 768 / Math.min(width, height))
    return baseTokens + tileTokens * countTiles(shrunk, 512)
  }
}

/** Above the limit the provider shrinks the picture, to a few percent below it. */
function byPatches(maxPatches: number, factor: number): ImageFormula {
  return (pixels) => factor * Math.min(maxPatches, countTiles(pixels, 32))
}

/** From 3,072 pixels on pictures are scaled down. */
function byAdaptiveTiles(pixels: Pixels): number {
  const { width, height } = fitInto(pixels, 3_072)
  if (Math.max(width, height) <= 384) return 258
  const edge = Math.max(256, Math.min(768, Math.floor(Math.min(width, height) / 1.5)))
  return 258 * countTiles({ width, height }, edge)
}

function largestOf(...formulas: readonly ImageFormula[]): ImageFormula {
  return (pixels) => Math.max(...formulas.map((formula) => formula(pixels)))
}

function findLargest(families: readonly MediaFamily[]): MediaFamily {
  return {
    imageTokens: largestOf(...families.map(({ imageTokens }) => imageTokens)),
    pageTokens: Math.max(...families.map(({ pageTokens }) => pageTokens)),
  }
}

function fitInto(pixels: Pixels, longEdgePixels: number): Pixels {
  return scaleBy(pixels, longEdgePixels / Math.max(pixels.width, pixels.height))
}

/** In whole pixels, and never larger. */
function scaleBy({ width, height }: Pixels, factor: number): Pixels {
  const scale = (edge: number): number => Math.max(1, Math.round(edge * Math.min(1, factor)))
  return { width: scale(width), height: scale(height) }
}

function countTiles({ width, height }: Pixels, edgePixels: number): number {
  return Math.ceil(width / edgePixels) * Math.ceil(height / edgePixels)
}
