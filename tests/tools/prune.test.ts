import assert from "node:assert/strict"
import test from "node:test"
import { Controls } from "../../lib/dtc/state.ts"
import { Log } from "../../lib/log.ts"
import { createPruneTool } from "../../lib/tools/prune.ts"
import { createClient, type ClientScript, type FakeClient } from "../helpers/client.ts"

function createTool(script: ClientScript = {}): {
  controls: Controls
  fake: FakeClient
  prune: (sessionID: string) => Promise<string>
} {
  const fake = createClient(script)
  const controls = new Controls()
  const tool = createPruneTool({ controls, log: new Log(fake.client, false, []) })
  return { controls, fake, prune: (sessionID) => tool.execute({}, { sessionID }) }
}

test("it takes no argument and describes itself", () => {
  const tool = createPruneTool({ controls: new Controls(), log: new Log(createClient().client, false, []) })
  assert.deepEqual(tool.args, {})
  assert.match(tool.description, /read, grep, glob and bash/)
})

test("it says what will happen, not that it has, and schedules for the calling session alone", async () => {
  const { controls, fake, prune } = createTool()
  assert.match(await prune("ses_a"), /^Scheduled: the next request .* will /)
  assert.equal(controls.hasPendingClear("ses_a"), true)
  assert.equal(controls.hasPendingClear("ses_b"), false)
  assert.deepEqual(fake.calls, [], "nothing is asked of the host")
})

test("the clear is scheduled before the tool's promise settles", () => {
  const { controls, prune } = createTool()
  void prune("ses_a")
  assert.equal(controls.hasPendingClear("ses_a"), true)
})

test("arguments that a model invents are ignored", async () => {
  const { controls } = createTool()
  const tool = createPruneTool({ controls, log: new Log(createClient().client, false, []) })
  assert.match(await tool.execute({ force: true, sessionID: "ses_b" }, { sessionID: "ses_a" }), /^Scheduled/)
  assert.equal(controls.hasPendingClear("ses_b"), false)
})

test("the 257th waiting session displaces the oldest, with one line that names it", async () => {
  const { controls, fake, prune } = createTool()
  for (let index = 0; index < 256; index++) await prune(`ses_${index}`)
  assert.deepEqual(fake.logged(), [])
  assert.match(await prune("ses_late"), /^Scheduled/)
  assert.equal(controls.hasPendingClear("ses_0"), false)
  assert.equal(controls.hasPendingClear("ses_1"), true)
  assert.deepEqual(
    fake.logged().map(({ level, extra }) => [level, extra]),
    [["warn", { sessionID: "ses_0" }]],
  )
  fake.assertNothingWritten()
})

test("a log that fails does not keep it from scheduling", async () => {
  const { controls, prune } = createTool({
    log: () => {
      throw new Error("no log")
    },
  })
  for (let index = 0; index < 257; index++) await prune(`ses_${index}`)
  assert.equal(controls.hasPendingClear("ses_256"), true)
})

test("where clearing has stopped it promises nothing", async () => {
  const { controls, prune } = createTool()
  controls.armGuard("")
  await assert.rejects(async () => prune("ses_a"), /^Error: Not scheduled/, "a failed call is not one that was served")
  assert.equal(controls.hasPendingClear("ses_a"), false)
})
