import { spawn, type ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"
import { findExecutable } from "../host/executables.ts"

const NAMES = ["chromium", "chromium-browser", "google-chrome"]
const DEADLINE_MS = 30_000

type Fields = Record<string, unknown>
interface Answer {
  id?: number
  method?: string
  params?: Fields
  result?: Fields
  error?: { message: string }
}

/** One page in a headless browser, driven by the browser's own protocol over a pipe. */
export class Chromium {
  readonly #child: ChildProcess
  readonly #profile: string
  readonly #waiting = new Map<number, { resolve: (result: Fields) => void; reject: (error: Error) => void }>()
  #next = 1
  #session: string | undefined
  #unread = ""
  /** What the page asked for, the page itself first, and everything that it complained about. */
  readonly requests: string[] = []
  readonly complaints: string[] = []

  private constructor() {
    const file = NAMES.map(findExecutable).find((found) => found !== undefined)
    if (file === undefined) throw new Error(`none of ${NAMES.join(", ")} is on PATH: install Debian's package chromium`)
    this.#profile = mkdtempSync(join(tmpdir(), "dcp-chromium-"))
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]
    // Nothing has an address: what the page would load would fail, and be seen.
    const closed = ["--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking"]
    const args = [...flags, ...closed, `--user-data-dir=${this.#profile}`, "--window-size=1160,1400", "about:blank"]
    this.#child = spawn(file, args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] })
    const output = this.#child.stdio[4] as Readable
    output.setEncoding("utf8")
    output.on("data", (text: string) => this.#read(text))
    this.#child.once("exit", () => this.#fail(new Error("the browser ended")))
    this.#child.once("error", (error) => this.#fail(error))
  }

  static async open(): Promise<Chromium> {
    const browser = new Chromium()
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" })
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true })
    browser.#session = String(sessionId)
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await browser.send(`${domain}.enable`)
    return browser
  }

  async goto(url: string): Promise<void> {
    this.requests.length = 0
    this.complaints.length = 0
    await this.send("Page.navigate", { url })
    await this.until("document.readyState === 'complete'")
  }

  /** The value of an expression in the page, as JSON has it. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true })
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
    return (result as { value: T }).value
  }

  async until(expression: string): Promise<void> {
    const deadline = performance.now() + DEADLINE_MS
    while (!(await this.evaluate<boolean>(expression)))
      if (performance.now() > deadline) throw new Error(`it never came true: ${expression}`)
  }

  async moveTo(x: number, y: number): Promise<void> {
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y })
  }

  async clickAt(x: number, y: number): Promise<void> {
    await this.moveTo(x, y)
    for (const type of ["mousePressed", "mouseReleased"])
      await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 })
  }

  async press(key: string): Promise<void> {
    for (const type of ["keyDown", "keyUp"])
      await this.send("Input.dispatchKeyEvent", { type, key, code: key, ...KEY_CODES[key] })
  }

  async preferScheme(value: "light" | "dark"): Promise<void> {
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] })
  }

  async screenshot(): Promise<Buffer> {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true })
    return Buffer.from(String(data), "base64")
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve))
    this.#child.kill("SIGKILL")
    await ended
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 })
  }

  async send(method: string, params: Fields = {}): Promise<Fields> {
    const id = this.#next++
    const answered = new Promise<Fields>((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    const message = { id, method, params, ...(this.#session !== undefined && { sessionId: this.#session }) }
    const input = this.#child.stdio[3] as Writable
    input.write(`${JSON.stringify(message)}\0`)
    const timer = setTimeout(() => this.#settle(id, { error: { message: "no answer in time" } }, method), DEADLINE_MS)
    return answered.finally(() => clearTimeout(timer))
  }

  #read(text: string): void {
    const pieces = `${this.#unread}${text}`.split("\0")
    this.#unread = pieces.pop() ?? ""
    for (const piece of pieces) {
      const answer = JSON.parse(piece) as Answer
      if (answer.id === undefined) this.#note(answer)
      else this.#settle(answer.id, answer, "the browser")
    }
  }

  #settle(id: number, { result = {}, error }: Answer, name: string): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) waiting?.reject(new Error(`${name}: ${error.message}`))
    else waiting?.resolve(result)
  }

  #note({ method, params = {} }: Answer): void {
    if (method === "Network.requestWillBeSent") this.requests.push((params["request"] as { url: string }).url)
    if (method === "Runtime.exceptionThrown" || method === "Runtime.consoleAPICalled" || method === "Log.entryAdded")
      this.complaints.push(JSON.stringify(params))
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

/** What a keyboard would send: without it the browser's own reactions, such as moving the focus, do not happen. */
const KEY_CODES: Readonly<Record<string, { windowsVirtualKeyCode: number }>> = {
  Tab: { windowsVirtualKeyCode: 9 },
  PageUp: { windowsVirtualKeyCode: 33 },
  PageDown: { windowsVirtualKeyCode: 34 },
  End: { windowsVirtualKeyCode: 35 },
  Home: { windowsVirtualKeyCode: 36 },
  ArrowLeft: { windowsVirtualKeyCode: 37 },
  ArrowRight: { windowsVirtualKeyCode: 39 },
}
