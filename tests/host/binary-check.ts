import { readOptions, UsageError } from "./binary-check-options.ts"
import { describePlugin, IdentityMismatch, verifyIdentity } from "./binary-check-identity.ts"
import { describeMode, MODES, runWorker, type CaseResult } from "./binary-check-worker.ts"
import { prepareFolder, writeJson } from "./binary-check-report.ts"

/*
 * Two checks against one chosen artifact of the host: a slow tool during automatic compaction, and an explicit cancel.
 * Four workers run both: two ways to speak to the model, with the plugin and without. What fails without the plugin too
 * is the host's own fault; it stays a failure here.
 */
try {
  process.exitCode = await checkBinary(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof IdentityMismatch)) throw error
  process.stderr.write(`test:host:binary: ${error.message}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function checkBinary(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  prepareFolder(options.output)
  const artifact = await verifyIdentity(options)
  const plugin = describePlugin()
  process.stdout.write(`OpenCode ${artifact.version}, sha256 ${artifact.sha256}\n`)
  const cases: CaseResult[] = []
  for (const mode of MODES)
    for (const worker of await Promise.all(
      [true, false].map((loaded) => runWorker(artifact, mode, loaded, options.output)),
    ))
      cases.push(...worker)
  for (const one of cases) process.stdout.write(describeCase(one))
  const failed = cases.filter(({ passed }) => !passed)
  writeJson(options.output, "report.json", {
    artifact,
    plugin,
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    passed: failed.length === 0,
    cases,
  })
  process.stdout.write(`${cases.length - failed.length} of ${cases.length} cases passed; report.json has the details\n`)
  return failed.length === 0 ? 0 : 1
}

function describeCase({ check, mode, plugin, passed, checks, error }: CaseResult): string {
  const failures = checks.filter(({ holds }) => !holds).map(({ claim }) => `  not so: ${claim}\n`)
  const fault = error === undefined ? "" : `  ${error.split("\n")[0]}\n`
  return `${passed ? "passed" : "FAILED"}  ${check}, ${describeMode(mode, plugin)}\n${failures.join("")}${fault}`
}
