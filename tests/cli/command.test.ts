import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import test from "node:test"
import { fileURLToPath } from "node:url"
import { USAGE } from "../../lib/cli/command.ts"
import { createTerminal } from "./terminal.ts"

const wrongUsages: [args: string[], line: RegExp][] = [
  [[], /a command is missing/],
  [["explian"], /unknown command "explian"/],
  [["constructor"], /unknown command "constructor"/],
  [["config", "a", "b"], /config takes one directory/],
  [["config", "--limit", "1,2"], /: unknown option --limit$/],
  [["config", "--options"], /: --options needs a value$/],
  [["config", "-x"], /: unknown option -x$/],
  [["config", "--options", "{"], /--options is not JSON/],
  [["explain"], /explain takes one FILE/],
  [["explain", "a", "b"], /explain takes one FILE/],
  [["explain", "a", "--jsn"], /: unknown option --jsn$/],
  [["explain", "a", "--constructor", "--__proto__=1"], /: unknown option --constructor$/],
  [["explain", "a", "--no-json"], /: unknown option --no-json$/],
  [["explain", "a", "--json=yes"], /: --json takes no value$/],
  [["explain", "a", "--limit"], /: --limit needs a value$/],
  [
    ["explain", "a", "--limit", "-5,1"],
    /: --limit needs a value; one that begins with a dash is written --limit=-5,1$/,
  ],
  [["explain", "a", "--limit=-5,1"], /: --limit takes CONTEXT,OUTPUT/],
  [
    ["explain", "a", "--html", "--json"],
    /: --html needs a value; one that begins with a dash is written --html=--json$/,
  ],
  [["explain", "a", "--json", "--html", "b"], /--all, --json and --html exclude each other/],
  [["explain", "a", "--all", "--html", "b"], /--all, --json and --html exclude each other/],
  [["explain", "a", "--all", "--json"], /--all, --json and --html exclude each other/],
  [["explain", "a", "--html", ""], /--html takes the name/],
  [["explain", "a", "--html", "./x/../a"], /--html would overwrite the session's own file/],
  ...["", "1", "1,2,3,4", "0,1", "a,b", "-1,2", "1e5,2", "1.5,2", "200000,", "9".repeat(16) + ",1"].map(
    (limit): [string[], RegExp] => [["explain", "a", `--limit=${limit}`], /--limit takes CONTEXT,OUTPUT/],
  ),
]
for (const [args, line] of wrongUsages)
  test(`wrong usage ends with 2, one line and the usage: ${JSON.stringify(args)}`, async (t) => {
    const { code, out, err } = await createTerminal(t).run(...args)
    assert.deepEqual([code, out], [2, ""])
    const [first = "", ...usage] = err.split("\n\n")
    assert.match(first, line)
    assert.doesNotMatch(first, /\n/)
    assert.equal(usage.join("\n\n"), USAGE)
  })

test("help and version go to standard output", async (t) => {
  const terminal = createTerminal(t)
  for (const args of [["--help"], ["-h"], ["help"], ["explain", "--help"], ["config", "-h"]])
    assert.deepEqual(await terminal.run(...args), { code: 0, out: USAGE, err: "" })
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string
  }
  assert.deepEqual(await terminal.run("--version"), { code: 0, out: `${version}\n`, err: "" })
})

test("the usage fits a terminal", () => {
  for (const line of USAGE.split("\n")) assert.ok(line.length <= 120, line)
})

test("the program itself gives its exit code, its output and its errors", () => {
  const main = fileURLToPath(new URL("../../lib/cli/main.ts", import.meta.url))
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["--import", "tsx", main, ...args], { encoding: "utf8" })
  const helped = run("--help")
  assert.deepEqual([helped.status, helped.stdout, helped.stderr], [0, USAGE, ""])
  const wrong = run("explain", "-", "--limit", "100,10")
  assert.deepEqual(
    [wrong.status, wrong.stdout, wrong.stderr],
    [1, "", "opencode-dcp: standard input is empty\n"],
    "standard input is read",
  )
})
