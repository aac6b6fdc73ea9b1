import type { ServerResponse } from "node:http"
import type { Reply } from "./model-request.ts"

/** A call as it goes out: its id is settled. */
export interface OutgoingCall {
  id: string
  name: string
  args: unknown
  rawArgs: string | undefined
}

/** How one API writes an answer. Each member is called at most once per answer, in this order. */
export interface ReplyWriter {
  callPrefix: string
  start(response: ServerResponse, model: string, reply: Reply): void
  reasoning(response: ServerResponse, model: string, text: string): void
  text(response: ServerResponse, model: string, text: string): void
  calls(response: ServerResponse, model: string, calls: readonly OutgoingCall[]): void
  finish(response: ServerResponse, model: string, reply: Reply): void
  overflowBody(tokens: number, limit: number): unknown
  failureBody(status: number): unknown
}

export const rawArguments = (one: OutgoingCall): string => one.rawArgs ?? JSON.stringify(one.args ?? {})
