import type { ServerResponse } from "node:http"
import type { Reply } from "./model-request.ts"
import { rawArguments, type ReplyWriter } from "./reply-writer.ts"

/** OpenAI chat completions as server-sent events. */
export const openaiReply: ReplyWriter = {
  callPrefix: "call_",

  start(response, model) {
    sendChunk(response, model, { role: "assistant", content: "" })
  },

  reasoning(response, model, text) {
    sendChunk(response, model, { reasoning_content: text })
  },

  text(response, model, text) {
    for (const content of text.match(/[\s\S]{1,400}/g) ?? []) sendChunk(response, model, { content })
  },

  calls(response, model, calls) {
    for (const [index, one] of calls.entries()) {
      const opening = { index, id: one.id, type: "function", function: { name: one.name, arguments: "" } }
      sendChunk(response, model, { tool_calls: [opening] })
      sendChunk(response, model, { tool_calls: [{ index, function: { arguments: rawArguments(one) } }] })
    }
  },

  finish(response, model, reply) {
    const reason = reply.step.finish ?? (reply.calls.length > 0 ? "tool_calls" : "stop")
    sendChunk(response, model, {}, reason)
    send(response, { ...envelope(model), choices: [], usage: describeUsage(reply) })
    response.write("data: [DONE]\n\n")
  },

  overflowBody: (tokens, limit) => ({
    error: {
      message: `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`,
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
  }),

  failureBody: (status) => ({ error: { message: `scripted failure ${status}`, type: "server_error" } }),
}

function describeUsage({ usage }: Reply): unknown {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}

const envelope = (model: string) => ({ id: "chatcmpl-scripted", object: "chat.completion.chunk", created: 0, model })

function sendChunk(response: ServerResponse, model: string, delta: unknown, finishReason: string | null = null): void {
  send(response, { ...envelope(model), choices: [{ index: 0, delta, finish_reason: finishReason }] })
}

const send = (response: ServerResponse, event: unknown): void =>
  void response.write(`data: ${JSON.stringify(event)}\n\n`)
