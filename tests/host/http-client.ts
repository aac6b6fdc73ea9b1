import { request, type IncomingMessage } from "node:http"

export interface HttpCall {
  method: string
  url: string
  body?: unknown
  /** Until the answer's headers, and again for each pause within its body. */
  timeoutMs: number
}

/**
 * One request on a connection of its own: a pooled connection to a host that was killed fails the first request to the
 * next one, and `fetch` gives up after five minutes whatever the caller wants.
 */
export async function openHttp(call: HttpCall): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", connection: "close" }
    const outgoing = request(call.url, { method: call.method, headers, agent: false, timeout: call.timeoutMs })
    outgoing.once("response", resolve)
    outgoing.once("error", reject)
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${call.timeoutMs} ms`)))
    outgoing.end(call.body === undefined ? undefined : JSON.stringify(call.body))
  })
}

export async function readHttp(call: HttpCall): Promise<{ status: number; text: string }> {
  const response = await openHttp(call)
  response.setEncoding("utf8")
  let text = ""
  for await (const chunk of response) text += String(chunk)
  return { status: response.statusCode ?? 0, text }
}
