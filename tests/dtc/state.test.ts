import assert from "node:assert/strict"
import test from "node:test"
import { Controls } from "../../lib/dtc/state.ts"

const names = (count: number, prefix = "ses"): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}_${index}`)

function withGuards(count: number): Controls {
  const controls = new Controls()
  for (const name of names(count)) assert.equal(controls.armGuard(name), true)
  return controls
}

test("a guard is taken once, by its own session", () => {
  const controls = withGuards(1)
  assert.equal(controls.takeGuard("ses_other"), false)
  assert.equal(controls.takeGuard("ses_0"), true)
  assert.equal(controls.takeGuard("ses_0"), false)
})

test("arming a guard twice is arming it once", () => {
  const controls = withGuards(1)
  assert.equal(controls.armGuard("ses_0"), true)
  assert.equal(controls.takeGuard("ses_0"), true)
  assert.equal(controls.takeGuard("ses_0"), false)
})

test("256 guards are kept; the 257th halts and evicts none", () => {
  const controls = withGuards(256)
  assert.equal(controls.halted, false)
  assert.equal(controls.armGuard("ses_255"), true, "a session that holds one needs no more room")
  assert.equal(controls.armGuard("ses_one_too_many"), false)
  assert.equal(controls.halted, true)
  assert.deepEqual(
    names(256).filter((name) => !controls.takeGuard(name)),
    [],
  )
  assert.equal(controls.takeGuard("ses_one_too_many"), false)
})

test("a halt is for good: neither room nor forgetting ends it", () => {
  const controls = withGuards(256)
  controls.armGuard("ses_one_too_many")
  controls.forget("ses_0")
  assert.equal(controls.armGuard("ses_0"), false)
  controls.forgetAll()
  assert.equal(controls.halted, true)
})

test("a guard that was taken or forgotten makes room", () => {
  const controls = withGuards(256)
  controls.takeGuard("ses_7")
  assert.equal(controls.armGuard("ses_new"), true)
  controls.forget("ses_8")
  assert.equal(controls.armGuard("ses_newer"), true)
  assert.equal(controls.halted, false)
})

const nameless: Record<string, unknown> = {
  missing: undefined,
  null: null,
  empty: "",
  "a number": 7,
  "a list": ["ses"],
}
for (const [what, sessionID] of Object.entries(nameless))
  test(`a compaction whose session id is ${what} halts`, () => {
    const controls = new Controls()
    assert.equal(controls.armGuard(sessionID), false)
    assert.equal(controls.halted, true)
  })

test("a pending clear stays until it is consumed, and is the session's own", () => {
  const controls = new Controls()
  assert.equal(controls.requestClear("ses_a"), undefined)
  assert.equal(controls.hasPendingClear("ses_b"), false)
  assert.equal(controls.hasPendingClear("ses_a"), true)
  assert.equal(controls.hasPendingClear("ses_a"), true, "asking does not consume")
  controls.consumeClear("ses_b")
  assert.equal(controls.hasPendingClear("ses_a"), true)
  controls.consumeClear("ses_a")
  assert.equal(controls.hasPendingClear("ses_a"), false)
})

test("256 pending clears are kept; a further one drops the oldest and names it", () => {
  const controls = new Controls()
  assert.deepEqual(
    names(256).map((name) => controls.requestClear(name)),
    names(256).map(() => undefined),
  )
  assert.equal(controls.requestClear("ses_255"), undefined, "a session that waits already needs no more room")
  assert.equal(controls.requestClear("ses_late"), "ses_0")
  assert.equal(controls.requestClear("ses_later"), "ses_1")
  assert.deepEqual(
    [...names(256), "ses_late", "ses_later"].filter((name) => !controls.hasPendingClear(name)),
    ["ses_0", "ses_1"],
  )
})

test("guards and clears do not touch each other", () => {
  const controls = withGuards(256)
  for (const name of names(256)) controls.requestClear(name)
  controls.takeGuard("ses_3")
  assert.equal(controls.hasPendingClear("ses_3"), true)
  controls.consumeClear("ses_4")
  assert.equal(controls.takeGuard("ses_4"), true)
  controls.requestClear("ses_x")
  assert.equal(controls.takeGuard("ses_0"), true, "dropping the oldest clear leaves its session's guard")
})

test("a forgotten session has neither; the others keep theirs; forgetting all forgets all", () => {
  const controls = withGuards(3)
  for (const name of names(3)) controls.requestClear(name)
  controls.forget("ses_1")
  assert.equal(controls.hasPendingClear("ses_1"), false)
  assert.equal(controls.takeGuard("ses_1"), false)
  assert.equal(controls.hasPendingClear("ses_0"), true)
  assert.equal(controls.takeGuard("ses_0"), true)
  controls.forgetAll()
  assert.equal(controls.hasPendingClear("ses_2"), false)
  assert.equal(controls.takeGuard("ses_2"), false)
})
