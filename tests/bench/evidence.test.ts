import assert from "node:assert/strict"
import test from "node:test"
import { countLostPaths, findNamedPaths } from "../../bench/replay/evidence.ts"
import { readWindow } from "../../bench/replay/window.ts"
import { DEFAULT_POLICY, failed, read, session, step, tool, user } from "../helpers/history.ts"

/** Paths lost by the last request of a window with these steps. */
function countLost(steps: Parameters<typeof step>[], cleared: number[]): number {
  const window = readWindow("s", 0, session(user("go"), ...steps.map((parts) => step(...parts))), DEFAULT_POLICY)
  const request = window.requests.at(-1)
  return request ? countLostPaths(window, request, new Set(cleared)) : -1
}

const edit = (filePath: string) => tool("edit", { filePath, oldString: "a", newString: "b" }, "done")

test("names paths by field and by patch", () => {
  assert.deepEqual(findNamedPaths({ filePath: "/a", path: "/b", pattern: "/c" }), ["/a", "/b"])
  const patchText = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n*** Add File: b.ts\n+x\n*** End Patch"
  assert.deepEqual(findNamedPaths({ patchText }), ["src/a.ts", "b.ts"])
  assert.deepEqual(findNamedPaths({ command: "cat /a", path: "" }), [])
  assert.deepEqual(findNamedPaths("text"), [])
})

test("a path is lost when every earlier output that shows it is cleared", () => {
  assert.equal(countLost([[read("/a", "1")], [edit("/a")]], [0]), 1)
  assert.equal(countLost([[read("/a", "1")], [edit("/a")]], []), 0)
  assert.equal(countLost([[read("/a", "1")], [read("/a", "2")], [edit("/a")]], [0]), 0)
  assert.equal(countLost([[read("/a", "1")], [read("/a", "2")], [edit("/a")]], [0, 1]), 1)
})

test("a path that was never shown is not lost, and an edit's own output shows nothing", () => {
  assert.equal(countLost([[read("/a", "1")], [edit("/b")]], [0]), 0)
  assert.equal(countLost([[failed("read", { filePath: "/a" }, "no")], [edit("/a")]], []), 0)
  assert.equal(countLost([[read("/a", "1")], [edit("/a")], [edit("/a")]], [0]), 1)
})

test("a path counts once for parallel calls; patches name files from the project's root", () => {
  assert.equal(countLost([[read("/a", "1")], [edit("/a"), edit("/a")]], [0]), 1)
  const patch = tool("apply_patch", { patchText: "*** Update File: src/a.ts" }, "done")
  assert.equal(countLost([[read("/home/src/a.ts", "1")], [patch]], [0]), 1)
  assert.equal(countLost([[read("/home/mysrc/a.ts", "1")], [patch]], [0]), 0)
})
