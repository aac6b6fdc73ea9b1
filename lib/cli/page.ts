import { createHash } from "node:crypto"
import { printable } from "../printable.ts"
import { Html, html, jsonData } from "./html.ts"
import { renderChart } from "./page-chart.ts"
import { STYLE } from "./page-style.ts"
import { REASONS } from "./reasons.ts"
import type { OutputRow, PageData, Report } from "./types.ts"
import {
  count,
  describeHeadline,
  describeLimit,
  describeUnknown,
  FIRST_SIZES,
  formatRatio,
  formatTokens,
} from "./words.ts"

/**
 * One page that needs nothing else: it opens from disk, and its own policy lets it load nothing and run no script but the
 * given one. What the session holds stands in it as text.
 */
export function renderPage(report: Report, script: string): string {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${describePolicy(script)}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>opencode-dcp: ${nameSession(report)}</title>
        ${verbatim("<style>", STYLE, "</style>")}
      </head>
      <body>
        ${renderHead(report)}
        <main>${renderFigures(report)} ${renderRequests(report)} ${renderOutputs(report)}</main>
        ${verbatim('<script type="application/json" id="report">', jsonData(selectData(report)).text, "</script>")}
        ${verbatim('<script type="module">', script, "</script>")}
      </body>
    </html> `
  return page.text
}

/** Nothing from anywhere; of what stands in the page, this style and this script. */
function describePolicy(script: string): string {
  const [style, code] = [STYLE, script].map((text) => createHash("sha256").update(text).digest("base64"))
  return `default-src 'none'; style-src 'sha256-${style}'; script-src 'sha256-${code}'; base-uri 'none'; form-action 'none'`
}

/** The policy's hashes count every character between the tags. */
function verbatim(start: string, text: string, end: string): Html {
  return new Html(`${start}${text}${end}`)
}

/** What the script needs of the report; the rest stands in the page already. */
function selectData({ inputBudget, windows, requests }: Report): PageData {
  return { inputBudget, windows, requests, reasons: REASONS }
}

function nameSession({ session }: Report): string {
  return printable(session.title ?? session.id)
}

function renderHead(report: Report): Html {
  const { session } = report
  const unknown = describeUnknown(report)
  const facts = [session.title && session.id, session.model, count(session.messages, "message")].filter(
    (fact) => fact !== undefined,
  )
  return html`<header>
    <p class="quiet">What opencode-dcp would have done to this session</p>
    <h1>${nameSession(report)}</h1>
    <p class="quiet">${facts.map(printable).join(" · ")}</p>
    <p class="headline">${describeHeadline(report)}</p>
    <p class="quiet">
      ${describeLimit(report)}. Sizes are estimates, corrected by what the provider reported where it did.
    </p>
    ${unknown === undefined ? "" : html`<p class="warning">${unknown}</p>`}
  </header>`
}

function renderFigures({ totals }: Report): Html {
  const figures: [name: string, before: string, after: string][] = [
    ["largest request, in tokens", formatTokens(totals.peakBeforeTokens), formatTokens(totals.peakAfterTokens)],
    ["requests over budget", String(totals.overBudgetBefore), String(totals.overBudgetAfter)],
    ["tokens of all requests", formatTokens(totals.beforeTokens), formatTokens(totals.afterTokens)],
    ["input cost, cache considered", "1.00", formatRatio(totals.relativeInputCost)],
  ]
  return html`<ul class="figures">
    ${figures.map(
      ([name, before, after]) =>
        html`<li>
          <span>${name}</span><b><s>${before} →</s> ${after}</b>
        </li>`,
    )}
  </ul>`
}

const LEGEND: readonly [mark: Html, text: string][] = [
  [html`<rect class="plain" width="14" height="14" />`, "without the plugin"],
  [html`<rect class="own" width="14" height="14" />`, "with it"],
  [html`<path class="batch" d="M7 13l-6 -11h12z" />`, "a batch of old outputs is left out from here on"],
]

function renderRequests(report: Report): Html {
  const last = report.requests.length
  return html`<section aria-labelledby="requests">
    <h2 id="requests">Context of each request, in tokens</h2>
    <div
      id="chart"
      role="slider"
      tabindex="0"
      aria-label="Request"
      aria-describedby="keys"
      aria-valuemin="1"
      aria-valuemax="${last}"
      aria-valuenow="1"
    >
      ${renderChart(report)}
    </div>
    <ul class="legend">
      ${LEGEND.map(([mark, text]) => html`<li><svg viewBox="0 0 14 14" aria-hidden="true">${mark}</svg>${text}</li>`)}
      <li id="keys">
        Point at a request or click it; with the chart in focus, arrow keys, Page Up and Down, Home and End.
      </li>
    </ul>
    <p class="quiet note">${FIRST_SIZES}</p>
    <div id="request" aria-live="polite">
      <p class="quiet">Without scripts there are no details of single requests here.</p>
    </div>
  </section>`
}

const STATES: readonly [state: OutputRow["state"] | "all", label: string][] = [
  ["all", "all"],
  ["cleared", "cleared"],
  ["kept", "kept"],
  ["cleared-by-host", "cleared by the host"],
]

function renderOutputs({ outputs, prices }: Report): Html {
  const counts = (state: string): number =>
    state === "all" ? outputs.length : outputs.filter((output) => output.state === state).length
  const first = counts("cleared") > 0 ? "cleared" : "all"
  return html`<section aria-labelledby="outputs-title">
    <h2 id="outputs-title">Tool outputs</h2>
    <fieldset>
      ${STATES.filter(([state]) => counts(state) > 0).map(
        ([state, label]) =>
          html`<label
            ><input type="radio" name="state" value="${state}" ${state === first ? new Html("checked") : ""} /> ${label}
            (${counts(state)})</label
          >`,
      )}
    </fieldset>
    <div class="scroll">
      <table id="outputs">
        <thead>
          <tr>
            ${["call", "tool", "target"].map((name) => html`<th scope="col">${name}</th>`)}
            <th scope="col" class="count">text tokens</th>
            ${["state", "why", "cleared at", "made again"].map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${outputs.map(renderOutput)}
        </tbody>
      </table>
    </div>
    <p class="quiet">
      Text tokens are of the output alone, by its text; what the provider reported does not correct them.
    </p>
    <p class="quiet">${explainCost(prices)}</p>
  </section>`
}

function explainCost({ cacheWrite, cacheRead }: Report["prices"]): string {
  return (
    `Input cost is relative to the same session without the plugin: a token that is written to the provider's prompt ` +
    `cache counts ${cacheWrite}, one that is read from it ${cacheRead}, and every change to what was sent before is written anew from there on.`
  )
}

function renderOutput({
  tool,
  target,
  tokens,
  state,
  reason,
  request,
  clearedAt,
  repeats,
  repeatedAt,
}: OutputRow): Html {
  const again = repeats > 1 ? ` and ${repeats - 1} more` : ""
  return html`<tr data-state="${state}" data-cleared="${clearedAt ?? ""}">
    <td>${renderJump(request)}</td>
    <td>${printable(tool)}</td>
    <td class="target"><code>${printable(target)}</code></td>
    <td class="count">${formatTokens(tokens)}</td>
    <td>${STATE_WORDS[state]}</td>
    <td class="why">${REASONS[reason]}</td>
    <td>${renderJump(clearedAt)}</td>
    <td>${renderJump(repeatedAt)}${again}</td>
  </tr>`
}

const STATE_WORDS: Readonly<Record<OutputRow["state"], string>> = {
  cleared: "cleared",
  kept: "kept",
  "cleared-by-host": "cleared by the host",
}

function renderJump(request: number | undefined): Html | string {
  return request === undefined ? "" : html`<button type="button" data-request="${request}">#${request}</button>`
}
