import { estimateMediaTokens } from "./media.ts"
import { isRecord } from "./plain.ts"
import { textTokens } from "./tokens.ts"
import { addRendered, describeUnsupportedFile, MEDIA_NOTE_TEXT } from "./wire-texts.ts"
import type { Rendered } from "./wire-texts.ts"
import type { Modality, Model } from "./types.ts"

/** What the size of media depends on beside the file. */
export interface MediaContext {
  model: Model | undefined
  estimateMedia: boolean
}

/** Their content stands in sibling text parts. */
const REFERENCE_MIMES: ReadonlySet<unknown> = new Set(["text/plain", "application/x-directory"])

/**
 * Which AI SDK packages carry media inside tool results; the others get one extra user message after the assistant's.
 * From the 1.18.33 binary.
 */
const CARRIES_MEDIA: Readonly<Record<string, (mime: string, apiID: string) => boolean>> = {
  "@ai-sdk/anthropic": () => true,
  "@ai-sdk/openai": () => true,
  "@ai-sdk/google-vertex/anthropic": () => true,
  "@ai-sdk/amazon-bedrock/mantle": () => true,
  "@ai-sdk/amazon-bedrock": (mime, apiID) => isImage(mime) && /anthropic\.|nova|llama-?4/.test(apiID),
  "@ai-sdk/xai": isImage,
  "@ai-sdk/google": (_mime, apiID) => apiID.includes("gemini-3") && !apiID.includes("gemini-2"),
}

/** A user's file part: a reference costs nothing, a live file what media costs, an unsupported one becomes a sentence. */
export function renderFile(file: Record<string, unknown>, context: MediaContext): Rendered {
  if (REFERENCE_MIMES.has(file["mime"])) return "nothing"
  const modality = findModality(file["mime"])
  const accepted = context.model?.capabilities?.input
  if (!modality || !accepted || accepted[modality]) return renderMedia(file, context)
  return textTokens(describeUnsupportedFile(file["filename"], modality))
}

/** The attachments of a completed result that is not cleared: in the result, or in an extra user message behind it. */
export function renderAttachments(attachments: unknown, context: MediaContext): Rendered {
  if (attachments === undefined || attachments === null) return "nothing"
  if (!Array.isArray(attachments)) return "unknown"
  return attachments.map((attachment) => renderAttachment(attachment, context)).reduce(addRendered, "nothing")
}

/** The sentence for an unsupported kind stands in user messages only: what a result carries is sent in any case. */
function renderAttachment(attachment: unknown, context: MediaContext): Rendered {
  if (!isRecord(attachment) || typeof attachment["mime"] !== "string") return "unknown"
  const { model } = context
  const { mime, url } = attachment
  if (!isImage(mime) && mime !== "application/pdf") return "unknown"
  if (!model?.npm) return renderMoved(renderMedia(attachment, context))
  if (!carriesMedia(model, mime)) return renderMoved(renderFile(attachment, context))
  return isDataUrl(url) ? renderMedia(attachment, context) : "nothing"
}

function renderMoved(media: Rendered): Rendered {
  return addRendered(textTokens(MEDIA_NOTE_TEXT), media)
}

function renderMedia({ mime, url }: Record<string, unknown>, { model, estimateMedia }: MediaContext): Rendered {
  return (estimateMedia ? estimateMediaTokens(mime, url, model) : undefined) ?? "unknown"
}

/** Whether some of a result's attachments go out in a user message of their own; `undefined` when that cannot be told. */
export function movesMedia(attachments: unknown, model: Model | undefined): boolean | undefined {
  if (attachments === undefined || attachments === null) return false
  if (!Array.isArray(attachments)) return undefined
  const mimes = attachments.map((attachment: unknown) => (isRecord(attachment) ? attachment["mime"] : undefined))
  if (!mimes.every((mime) => typeof mime === "string")) return undefined
  const media = mimes.filter((mime) => isImage(mime) || mime === "application/pdf")
  if (media.length === 0) return false
  return model?.npm === undefined ? undefined : media.some((mime) => !carriesMedia(model, mime))
}

function carriesMedia({ npm = "", apiID = "" }: Model, mime: string): boolean {
  return Object.hasOwn(CARRIES_MEDIA, npm) && CARRIES_MEDIA[npm]?.(mime, apiID) === true
}

function findModality(mime: unknown): Modality | undefined {
  if (typeof mime !== "string") return undefined
  if (mime === "application/pdf") return "pdf"
  return (["image", "audio", "video"] as const).find((kind) => mime.startsWith(`${kind}/`))
}

function isImage(mime: string): boolean {
  return mime.startsWith("image/")
}

/** Inside a tool result the host drops every other URL. */
function isDataUrl(url: unknown): boolean {
  return typeof url === "string" && url.startsWith("data:") && url.includes(",")
}
