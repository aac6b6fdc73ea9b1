import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import test from "node:test"
import { session, step, user } from "../helpers/history.ts"
import { explainJson, exported, READS, REPORTED, SETTINGS } from "./sessions.ts"
import { createTerminal } from "./terminal.ts"

const page = readFileSync(new URL("../../docs/explain-json.md", import.meta.url), "utf8")

/** Names in the first column of the table under a heading; `?` marks those that may be absent. */
function documented(heading: string): { always: string[]; sometimes: string[] } {
  const section = page.split(/^## /m).find((each) => each.startsWith(heading)) ?? ""
  const cells = section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|")[1] ?? "")
  const names = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name))
  return {
    always: names.filter((name) => !name.endsWith("?")),
    sometimes: names.filter((name) => name.endsWith("?")).map((name) => name.slice(0, -1)),
  }
}

function assertFields(rows: readonly object[], heading: string): void {
  const { always, sometimes } = documented(heading)
  const seen = new Set(rows.flatMap((row) => Object.keys(row)))
  assert.deepEqual([...seen].toSorted(), [...always, ...sometimes].toSorted(), heading)
  for (const row of rows)
    assert.deepEqual(
      always.filter((name) => !(name in row)),
      [],
      heading,
    )
}

test("the documented fields of the JSON are the ones that it has", async (t) => {
  const terminal = createTerminal(t)
  terminal.write("project/.opencode/dcp.jsonc", SETTINGS)
  const audio = user("hear", {}, { type: "file", mime: "audio/wav", url: "data:audio/wav;base64,AAAA" })
  const unknown = [...READS, ...session(audio, step({ type: "text", text: "?" })).slice(0, 2)]
  const report = await explainJson(terminal, exported(unknown))
  const reported = await explainJson(terminal, REPORTED)
  assert.deepEqual([report.format, report.version], ["opencode-dcp/explain", 1])
  assertFields([report], "The report")
  assertFields([report.totals], "`totals`")
  assertFields([...report.requests, ...reported.requests], "`requests[]`")
  assertFields(report.outputs, "`outputs[]`")
})
