import type { ServerResponse } from "node:http"
import { rawArguments, type ReplyWriter } from "./reply-writer.ts"

/** Anthropic messages as server-sent events. Block indexes follow the fixed order reasoning, text, calls. */
export const anthropicReply: ReplyWriter = {
  callPrefix: "toolu_",

  start(response, model, { usage }) {
    nextIndex.set(response, 0)
    send(response, "message_start", {
      message: {
        id: "msg_scripted",
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: usage.input,
          output_tokens: 1,
          cache_read_input_tokens: usage.cacheRead,
          cache_creation_input_tokens: usage.cacheWrite,
        },
      },
    })
  },

  reasoning(response, _model, text) {
    sendBlock(response, { type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: text },
      { type: "signature_delta", signature: Buffer.from("scripted").toString("base64") },
    ])
  },

  text(response, _model, text) {
    const pieces = text.match(/[\s\S]{1,400}/g) ?? []
    sendBlock(
      response,
      { type: "text", text: "" },
      pieces.map((piece) => ({ type: "text_delta", text: piece })),
    )
  },

  calls(response, _model, calls) {
    for (const one of calls)
      sendBlock(response, { type: "tool_use", id: one.id, name: one.name, input: {} }, [
        { type: "input_json_delta", partial_json: rawArguments(one) },
      ])
  },

  finish(response, _model, { step, calls, usage }) {
    const reason = step.finish ?? (calls.length > 0 ? "tool_use" : "end_turn")
    send(response, "message_delta", {
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: usage.output },
    })
    send(response, "message_stop", {})
  },

  overflowBody: (tokens, limit) => ({
    type: "error",
    error: { type: "invalid_request_error", message: `prompt is too long: ${tokens} tokens > ${limit} maximum` },
  }),

  failureBody: (status) => ({ type: "error", error: { type: "api_error", message: `scripted failure ${status}` } }),
}

const nextIndex = new WeakMap<ServerResponse, number>()

function sendBlock(response: ServerResponse, block: unknown, deltas: readonly unknown[]): void {
  const index = nextIndex.get(response) ?? 0
  nextIndex.set(response, index + 1)
  send(response, "content_block_start", { index, content_block: block })
  for (const delta of deltas) send(response, "content_block_delta", { index, delta })
  send(response, "content_block_stop", { index })
}

const send = (response: ServerResponse, type: string, fields: object): void =>
  void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
