// The tag rule: a release runs only on the tag that names this package's version, whatever started the workflow.
// A branch may carry the same name as the tag, so the whole ref is compared, never its last segment.
import { readFileSync } from "node:fs"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
const expected = `refs/tags/v${version}`
const actual = process.env.GITHUB_REF

if (actual === expected) {
  console.log(`Releasing ${expected}`)
} else {
  console.error(`Not releasing: expected GITHUB_REF ${expected}, got ${actual ? JSON.stringify(actual) : "nothing"}`)
  process.exitCode = 1
}
