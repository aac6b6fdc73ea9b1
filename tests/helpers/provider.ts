import { estimateMessages, projectMessages } from "../../lib/dtc/engine.ts"
import type { Message, ProjectOptions, Projection } from "../../lib/dtc/types.ts"
import { reportedStep, session } from "./history.ts"

type Draft = Parameters<typeof session>[number]
type Fields = Record<string, unknown>

/** What the scripted provider and user do. */
export interface Course {
  drafts: readonly (Draft | Response)[]
  options: ProjectOptions
  /** What system prompt and tools cost, and what a token of the base estimate really costs. */
  overheadTokens: number
  realSlope: number
  /** Whether the plugin handles the request with that number. Absent: always. */
  handles?: (request: number) => boolean
}

/** A response to come; `usage` turns what was really sent and written into what is reported. */
export interface Response {
  parts: Fields[]
  info?: Fields
  usage?: Usage | undefined
}

export type Usage = (sentTokens: number, writtenTokens: number) => unknown

/** One request as it really went out. */
export interface SentRequest {
  projection: Projection
  /** What its content really cost the provider, system prompt and tools included. */
  realTokens: number
}

/**
 * Works through a session as host, plugin and provider do: each response is asked for with the projected history so far, and
 * reports what that really cost.
 */
export function playCourse(course: Course): { messages: Message[]; requests: SentRequest[] } {
  const drafts: Draft[] = []
  const requests: SentRequest[] = []
  for (const next of course.drafts) {
    if (!isResponse(next)) {
      drafts.push(next)
      continue
    }
    const request = send(course, session(...drafts), requests.length)
    requests.push(request)
    drafts.push(answer(next, request.realTokens))
  }
  const messages = session(...drafts)
  return { messages, requests: [...requests, send(course, messages, requests.length)] }
}

/** An honest report, as the host stores it for a provider with a prompt cache. */
export function honest(sentTokens: number, writtenTokens: number): object {
  const read = Math.floor(sentTokens * 0.8)
  return { input: sentTokens - read, output: writtenTokens, reasoning: 0, cache: { read, write: 0 } }
}

function send(
  { options, overheadTokens, realSlope, handles }: Course,
  messages: Message[],
  index: number,
): SentRequest {
  const projection = projectMessages(messages, options)
  const sent = (handles?.(index) ?? true) ? projection.messages : messages
  const content = estimateMessages(sent, { estimateMedia: true, model: options.model })
  return { projection, realTokens: Math.round(overheadTokens + realSlope * (content ?? Number.NaN)) }
}

function answer({ parts, info, usage = honest }: Response, sentTokens: number): Draft {
  const draft = reportedStep(usage(sentTokens, 40), ...parts)
  return { ...draft, info: { ...draft.info, ...info } }
}

function isResponse(next: Draft | Response): next is Response {
  return !("role" in next)
}
