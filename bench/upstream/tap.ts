import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http"

/** One request that went to the model, on this process's clock. */
export interface Passage {
  /** Its first bytes were here. */
  arrivedMs: number
  /** The model's reply to it had been passed on; `undefined` while it is under way. */
  repliedMs: number | undefined
}

/** Stands between the host and the model's endpoint, and notes when requests come and replies end. */
export class Tap {
  readonly passages: Passage[] = []
  readonly #target: string
  readonly #server = createServer((incoming, response) => this.#pass(incoming, response))

  private constructor(target: string) {
    this.#target = target
  }

  static async start(target: string): Promise<Tap> {
    const tap = new Tap(target)
    await new Promise<void>((resolve) => tap.#server.listen(0, "127.0.0.1", resolve))
    return tap
  }

  get baseURL(): string {
    const address = this.#server.address()
    if (address === null || typeof address === "string") throw new Error("the tap is not listening")
    return `http://127.0.0.1:${address.port}${new URL(this.#target).pathname}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const passage: Passage = { arrivedMs: performance.now(), repliedMs: undefined }
    this.passages.push(passage)
    const target = new URL(incoming.url ?? "", this.#target)
    const outgoing = request(target, { method: incoming.method, headers: incoming.headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.once("end", () => (passage.repliedMs = performance.now()))
      reply.pipe(response)
    })
    outgoing.once("error", () => response.destroy())
    incoming.pipe(outgoing)
  }
}
