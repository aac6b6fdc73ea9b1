import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { test } from "node:test"

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")
const manifest: { version: string; scripts: Record<string, string> } = JSON.parse(read("package.json"))
const { version, scripts } = manifest

const runRule = (ref: string | undefined): { status: number | null; stdout: string; stderr: string } => {
  const { GITHUB_REF: _outer, ...env } = process.env
  return spawnSync(process.execPath, [".github/release-tag.mjs"], {
    cwd: new URL("..", import.meta.url),
    env: ref === undefined ? env : { ...env, GITHUB_REF: ref },
    encoding: "utf8",
  })
}

test("the tag rule accepts exactly the tag of the package version", () => {
  const result = runRule(`refs/tags/v${version}`)
  assert.equal(result.status, 0, result.stderr)
  assert.equal(result.stdout, `Releasing refs/tags/v${version}\n`)
})

const refused: [name: string, ref: string | undefined][] = [
  ["a branch of the same name", `refs/heads/v${version}`],
  ["a branch that spells out the tag", `refs/heads/refs/tags/v${version}`],
  ["a pull request", "refs/pull/1/merge"],
  ["the main branch", "refs/heads/main"],
  ["another version", "refs/tags/v99.0.0"],
  ["a version that starts the same", `refs/tags/v${version}0`],
  ["a pre-release of the version", `refs/tags/v${version}-rc`],
  ["build metadata", `refs/tags/v${version}+1`],
  ["no v prefix", `refs/tags/${version}`],
  ["a capital V", `refs/tags/V${version}`],
  ["the short name", `v${version}`],
  ["no leading refs", `tags/v${version}`],
  ["a deeper tag", `refs/tags/release/v${version}`],
  ["a leading space", ` refs/tags/v${version}`],
  ["a trailing space", `refs/tags/v${version} `],
  ["a trailing newline", `refs/tags/v${version}\n`],
  ["an empty ref", ""],
  ["no ref", undefined],
]

for (const [name, ref] of refused) {
  test(`the tag rule refuses ${name}`, () => {
    const result = runRule(ref)
    assert.equal(result.status, 1, result.stdout)
    assert.equal(result.stdout, "")
    assert.ok(result.stderr.includes(`expected GITHUB_REF refs/tags/v${version}, got`), result.stderr)
  })
}

test("publish.yml releases only behind the tag rule and the checks", () => {
  const jobs = jobsOf("publish.yml")
  assert.deepEqual(Object.keys(jobs), ["tag", "checks", "publish"])
  assert.match(jobs["tag"] ?? "", /run: node \.github\/release-tag\.mjs\n/)
  assert.match(jobs["checks"] ?? "", /needs: tag\n[\s\S]*uses: \.\/\.github\/workflows\/checks\.yml\n/)
  assert.match(jobs["publish"] ?? "", /needs: \[tag, checks\]\n/)
  assert.match(jobs["publish"] ?? "", /release-tag\.mjs\n[\s\S]*npm ci[\s\S]*npm publish --provenance/)
  assert.doesNotMatch(read(".github/workflows/publish.yml"), /continue-on-error|always\(\)|secrets\./)
})

test("only the publishing job may ask for an identity token", () => {
  const holders = Object.entries({ ...jobsOf("checks.yml"), ...jobsOf("publish.yml") })
    .filter(([, body]) => body.includes("id-token"))
    .map(([name]) => name)
  assert.deepEqual(holders, ["publish"])
})

test("the aggregate job needs every other job and accepts nothing but success", () => {
  const jobs = jobsOf("checks.yml")
  const { "opencode-compatibility": aggregate = "", ...others } = jobs
  const names = Object.keys(others)
  assert.ok(names.length > 0)
  assert.ok(aggregate.includes("if: always()\n"))
  assert.ok(aggregate.includes(`needs: [${names.join(", ")}]\n`))
  assert.ok(aggregate.includes(`test "$RESULTS" = "${names.map(() => "success").join(" ")}"`))
  assert.doesNotMatch(read(".github/workflows/checks.yml"), /continue-on-error/)
  assert.match(others["check"] ?? "", /node: \[20, 22, 24\]\n[\s\S]*npm run check\n/)
  assert.match(others["host"] ?? "", /npm run test:host\n/)
  assert.match(others["audit"] ?? "", /npm audit --audit-level=high\n/)
})

test("every job is bounded in time and leaves no credentials in the checkout", () => {
  for (const file of ["checks.yml", "publish.yml"]) {
    assert.match(read(`.github/workflows/${file}`), /^permissions: \{\}$/m)
    for (const [name, body] of Object.entries(jobsOf(file))) {
      const calls = body.includes("uses: ./.github/workflows/")
      assert.ok(calls || /timeout-minutes: \d+\n/.test(body), `${file}: ${name} has no timeout`)
      assert.equal(count(body, "actions/checkout@"), count(body, "persist-credentials: false"), `${file}: ${name}`)
    }
  }
})

test("`npm run check` holds every check that a release is promised", () => {
  const reached = reachableScripts("check")
  const commands = ["tsc -p tsconfig.json", "oxlint --type-aware", "prettier --check", "node --import tsx --test"]
  const packaging = ["publint --strict", "attw --pack . --profile esm-only", "knip"]
  const coverage = ["c8 --check-coverage --100"]
  for (const command of [...commands, ...packaging, ...coverage]) {
    assert.ok(
      reached.some((script) => script.includes(command)),
      `npm run check does not reach: ${command}`,
    )
  }
})

/** A workflow's jobs by name, each with its own lines. The files keep two spaces of indentation, as prettier does. */
function jobsOf(file: string): Record<string, string> {
  const body = read(`.github/workflows/${file}`).split(/^jobs:\n/m)[1] ?? ""
  const code = body.replaceAll(/^\s*#.*\n/gm, "")
  return Object.fromEntries(
    code
      .split(/^ {2}(?=[\w-]+:$)/m)
      .filter((block) => block.trim() !== "")
      .map((block) => [block.slice(0, block.indexOf(":")), block]),
  )
}

function count(text: string, needle: string): number {
  return text.split(needle).length - 1
}

/** The commands that `npm run <name>` reaches through other scripts of the package. */
function reachableScripts(name: string, seen: Set<string> = new Set()): string[] {
  const command = scripts[name]
  if (command === undefined || seen.has(name)) return []
  seen.add(name)
  const inner = [...command.matchAll(/npm (?:run )?(?:--silent )?([\w:]+)/g)].map((match) => match[1] ?? "")
  return [command, ...inner.flatMap((next) => reachableScripts(next, seen))]
}
