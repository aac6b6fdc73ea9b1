import { checkClaims } from "./demo-claims.ts"
import { runDemoSession } from "./demo-session.ts"
import { tellStory } from "./demo-story.ts"

const started = performance.now()

try {
  const session = await runDemoSession()
  checkClaims(session)
  for (const line of tellStory(session, process.stdout.isTTY)) console.log(line)
  console.log(`\nEvery line above was checked. ${((performance.now() - started) / 1000).toFixed(0)} s`)
} catch (error) {
  console.error(`The demo failed.\n${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
