import type { FileAttachment, ModelRef, Row } from "../host2/rows.ts"
import type { Host } from "./host.ts"
import { listOf, recordOf, textOf } from "./json.ts"
import { until } from "./wait.ts"

export interface SessionPrompt {
  text: string
  files?: readonly Pick<FileAttachment, "uri" | "name" | "description">[]
}

export interface PromptDelivery {
  id?: string
  delivery?: "queue" | "steer"
  /** False: the prompt is admitted and nothing runs. */
  resume?: boolean
}

/** A session of the host's own newer core, under `/api/session`: it lowers its rows itself and calls no plugin hook. */
export class ApiSession {
  readonly id: string
  readonly #host: Host

  private constructor(host: Host, id: string) {
    this.#host = host
    this.id = id
  }

  static async create(host: Host, model: ModelRef): Promise<ApiSession> {
    const { data } = recordOf(await host.call("POST", "/api/session", { model }))
    return new ApiSession(host, textOf(recordOf(data)["id"]))
  }

  /** Answers when the whole turn is over. */
  async runTurn(prompt: SessionPrompt, delivery: PromptDelivery = {}): Promise<void> {
    const before = (await this.readRows()).at(-1)?.id
    await this.admit(prompt, delivery)
    await until(`the turn of ${this.id}`, 30_000, async () => {
      const newest = (await this.readRows()).at(-1)
      return newest?.id !== before && newest?.type === "assistant" && !(await this.isActive())
    })
  }

  /** Answers what the host says about the prompt, which need not run. */
  async admit(prompt: SessionPrompt, delivery: PromptDelivery = {}): Promise<unknown> {
    const answer = await this.#host.call("POST", `/api/session/${this.id}/prompt`, { prompt, ...delivery })
    return recordOf(answer)["data"]
  }

  async switchModel(model: ModelRef): Promise<void> {
    await this.#host.call("POST", `/api/session/${this.id}/model`, { model })
  }

  async switchAgent(agent: string): Promise<void> {
    await this.#host.call("POST", `/api/session/${this.id}/agent`, { agent })
  }

  async interrupt(): Promise<void> {
    await this.#host.call("POST", `/api/session/${this.id}/interrupt`)
  }

  /** The active context: from the newest compaction on, decoded. */
  async readRows(): Promise<Row[]> {
    const { data } = recordOf(await this.#host.call("GET", `/api/session/${this.id}/context`))
    return listOf(data) as Row[]
  }

  async isActive(): Promise<boolean> {
    const { data } = recordOf(await this.#host.call("GET", "/api/session/active"))
    return this.id in recordOf(data)
  }
}
