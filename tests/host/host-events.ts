import type { IncomingMessage } from "node:http"
import { openHttp } from "./http-client.ts"
import { parseJson, recordOf, textOf, type JsonRecord } from "./json.ts"
import { until } from "./wait.ts"

export interface HostEvent {
  at: number
  type: string
  properties: JsonRecord
}

/** The host's event stream, kept in full from the moment it is opened. */
export class HostEvents {
  readonly all: HostEvent[] = []
  readonly #stream: IncomingMessage

  private constructor(stream: IncomingMessage) {
    this.#stream = stream
    void this.#follow()
  }

  static async open(url: string): Promise<HostEvents> {
    const stream = await openHttp({ method: "GET", url, timeoutMs: 30_000 })
    if (stream.statusCode !== 200) throw new Error(`the event stream answered ${stream.statusCode}`)
    stream.socket.setTimeout(0)
    return new HostEvents(stream)
  }

  async waitFor(what: string, matches: (event: HostEvent) => boolean, timeoutMs = 30_000): Promise<HostEvent> {
    return until(`event ${what}`, timeoutMs, () => this.all.find(matches))
  }

  close(): void {
    this.#stream.destroy()
  }

  async #follow(): Promise<void> {
    let pending = ""
    try {
      for await (const chunk of this.#stream.setEncoding("utf8")) {
        const blocks = (pending + String(chunk)).split("\n\n")
        pending = blocks.pop() ?? ""
        for (const block of blocks) this.#keep(block)
      }
    } catch {
      // The stream ends with the host, or when it is closed here.
    }
  }

  #keep(block: string): void {
    const line = block.split("\n").find((one) => one.startsWith("data:"))
    const event = recordOf(parseJson(line?.slice(5) ?? ""))
    if (textOf(event["type"]) === "") return
    this.all.push({ at: Date.now(), type: textOf(event["type"]), properties: recordOf(event["properties"]) })
  }
}
