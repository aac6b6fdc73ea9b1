/** The page's own script: it shows the request under the pointer or the one that was chosen, and filters the outputs. */
import type { Source } from "../../dtc/types.ts"
import type { PageData, RequestRow } from "../types.ts"

const report: PageData = JSON.parse(find("#report").textContent)
const { requests, windows } = report
const chart = find("#chart")
const cursor = find("#cursor")
const details = find("#request")
const PAGE_STEPS = 10

/** Where each key leads from the chosen request. */
const KEYS: Readonly<Record<string, (index: number) => number>> = {
  ArrowLeft: (index) => index - 1,
  ArrowDown: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  ArrowUp: (index) => index + 1,
  PageDown: (index) => index - PAGE_STEPS,
  PageUp: (index) => index + PAGE_STEPS,
  Home: () => 0,
  End: () => requests.length - 1,
}

/** Index into `requests`. */
let chosen = Math.max(
  requests.findIndex(({ batch }) => batch.length > 0),
  0,
)

let shown = -1

/** Whether the messages of a request are unfolded; they stay so from request to request. */
let isUnfolded = false

if (requests.length > 0) {
  choose(chosen)
  chart.addEventListener("pointermove", (event) => show(requestAt(event)))
  chart.addEventListener("pointerleave", () => show(chosen))
  chart.addEventListener("click", (event) => choose(requestAt(event)))
  chart.addEventListener("keydown", moveByKey)
  document.addEventListener("click", followJump)
}
for (const option of document.querySelectorAll<HTMLInputElement>("input[name=state]"))
  option.addEventListener("change", () => filterOutputs(option.value))
filterOutputs(document.querySelector<HTMLInputElement>("input[name=state]:checked")?.value ?? "all")

function moveByKey(event: KeyboardEvent): void {
  const move = KEYS[event.key]
  if (!move || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  choose(Math.min(Math.max(move(chosen), 0), requests.length - 1))
}

function requestAt({ clientX }: MouseEvent): number {
  const { left, width } = find("#plot").getBoundingClientRect()
  const index = Math.floor(((clientX - left) / width) * requests.length)
  return Math.min(Math.max(index, 0), requests.length - 1)
}

function followJump({ target }: MouseEvent): void {
  const number = target instanceof HTMLElement ? Number(target.dataset["request"]) : 0
  if (!(number > 0)) return
  choose(number - 1)
  chart.scrollIntoView({ block: "nearest" })
}

function choose(index: number): void {
  chosen = index
  const request = requests[index]
  if (!request) return
  chart.setAttribute("aria-valuenow", String(request.request))
  chart.setAttribute("aria-valuetext", describeRequest(request))
  for (const row of document.querySelectorAll<HTMLElement>("#outputs tbody tr"))
    row.classList.toggle("chosen", row.dataset["cleared"] === String(request.request))
  show(index)
}

function show(index: number): void {
  const request = requests[index]
  if (!request || index === shown) return
  shown = index
  const width = Number(cursor.getAttribute("data-plot-width")) / requests.length
  cursor.setAttribute("x", String(Number(cursor.getAttribute("data-plot-left")) + index * width))
  cursor.setAttribute("width", String(Math.max(width, 1.5)))
  details.replaceChildren(...describeDetails(request))
}

function describeRequest({ request, beforeTokens, afterTokens, batch }: RequestRow): string {
  const sizes = `request ${request}: ${format(beforeTokens)} tokens without the plugin, ${format(afterTokens)} with it`
  return batch.length > 0 ? `${sizes}, ${batch.length} outputs cleared here` : sizes
}

function describeDetails(request: RequestRow): HTMLElement[] {
  const { batch, window, clearedOutputs } = request
  const place = windows.length > 1 ? `, window ${window} of ${windows.length}` : ""
  const title = element("h2", `Request ${request.request} of ${requests.length}${place}`)
  const facts = element("dl")
  for (const [name, value] of listFacts(request)) facts.append(pair(name, value))
  const carried = clearedOutputs - batch.length
  const heading = element("h3", batch.length > 0 ? "From here on it is sent without" : describeNoBatch(request))
  const list = element("ul")
  for (const { tool, target, reason, savedTokens } of batch) {
    const item = element("li")
    const why = ` saves ${format(savedTokens)}: ${report.reasons[reason]}`
    item.append(element("strong", tool), " ", element("code", target), why)
    list.append(item)
  }
  const rest = batch.length > 0 && carried > 0 ? [element("p", `${carried} more were left out before.`)] : []
  return [title, facts, heading, ...(batch.length > 0 ? [list] : []), ...rest, ...describeSources(request)]
}

function listFacts(request: RequestRow): [name: string, value: string][] {
  const { beforeTokens, afterTokens, reportedTokens, cachedTokens, writtenTokens } = request
  const share =
    afterTokens === undefined ? "" : ` (${Math.round((afterTokens / report.inputBudget) * 100)} % of the budget)`
  return [
    ["without the plugin", format(beforeTokens)],
    ["with it", `${format(afterTokens)}${share}`],
    ...(reportedTokens === undefined ? [] : [["the provider reported", format(reportedTokens)] as [string, string]]),
    ["of the messages alone, read from the cache", format(cachedTokens)],
    ["of the messages alone, written anew", format(writtenTokens)],
    ["made at", new Date(request.requestedAt).toLocaleString()],
  ]
}

function pair(name: string, value: string): HTMLElement {
  const group = element("div")
  group.append(element("dt", name), element("dd", value))
  return group
}

function describeNoBatch({ skipped, clearedOutputs }: RequestRow): string {
  if (skipped) return "It holds content of unknown size, so nothing new is cleared"
  return clearedOutputs > 0 ? `${clearedOutputs} outputs were left out before, nothing more` : "Nothing is cleared"
}

/** The rows of the window that the request sends: those before the step that answered it. */
function describeSources({ window, messageIndex, step }: RequestRow): HTMLElement[] {
  const sources = windows[window - 1]?.sources
  if (!sources) return []
  const sent = sources.filter(
    (source) =>
      source.messageIndex < messageIndex || (source.messageIndex === messageIndex && (source.step ?? 0) < step),
  )
  const table = element("table")
  const head = element("tr")
  for (const name of ["what", "message", "step", "more"]) head.append(element("th", name))
  table.append(head, ...sent.map(describeSource))
  const folded = element("details")
  isUnfolded = document.querySelector<HTMLDetailsElement>("#request details")?.open ?? isUnfolded
  folded.open = isUnfolded
  folded.append(element("summary", `Messages on the wire: ${sent.length}`), table)
  return [folded]
}

function describeSource({ type, messageIndex, step, ...more }: Source): HTMLElement {
  const row = element("tr")
  const rest = Object.entries(more).flatMap(([name, value]) =>
    typeof value === "string" || typeof value === "number" ? [`${name} ${value}`] : [],
  )
  for (const cell of [type, String(messageIndex), step === undefined ? "" : String(step), rest.join(", ")])
    row.append(element("td", cell))
  return row
}

function filterOutputs(state: string): void {
  for (const row of document.querySelectorAll<HTMLElement>("#outputs tbody tr"))
    row.hidden = state !== "all" && row.dataset["state"] !== state
}

/** Text only: whatever a session holds stays text. */
function element<Name extends keyof HTMLElementTagNameMap>(name: Name, text = ""): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name)
  created.textContent = text
  return created
}

function format(tokens: number | undefined): string {
  return tokens === undefined ? "unknown" : Math.round(tokens).toLocaleString("en-US")
}

function find(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector)
  if (!found) throw new Error(`${selector} is missing`)
  return found
}
