import assert from "node:assert/strict"
import test from "node:test"
import { describeTarget, nameTarget } from "../../lib/cli/target.ts"

const targets: [tool: string, input: unknown, target: string][] = [
  ["read", { filePath: "a.ts" }, "a.ts"],
  ["read", { filePath: "a.ts", offset: 0, limit: 10 }, "a.ts"],
  ["read", { filePath: "a.ts", offset: 200 }, "a.ts, from line 200"],
  ["edit", { oldString: "x", filePath: "a.ts" }, "a.ts"],
  ["write", { content: "x", filePath: "a.ts" }, "a.ts"],
  ["bash", { description: "tests", command: "npm test" }, "npm test"],
  ["grep", { path: "lib", pattern: "x+", include: "*.ts" }, "x+ in lib in *.ts"],
  ["glob", { pattern: "**/*.ts" }, "**/*.ts"],
  ["webfetch", { format: 1, url: "https://example.com" }, "https://example.com"],
  ["read", { path: "a.ts" }, '{"path":"a.ts"}'],
  ["constructor", { deep: { text: "x" } }, '{"deep":{"text":"x"}}'],
  ["task", {}, "{}"],
  ["bash", undefined, ""],
  ["bash", "npm test", ""],
]
for (const [tool, input, target] of targets)
  test(`${tool} ${JSON.stringify(input)} is about ${JSON.stringify(target)}`, () => {
    assert.equal(describeTarget(tool, input), target)
  })

test("a long target is cut where it is shown, and nowhere else", () => {
  const command = "x".repeat(301)
  assert.equal(describeTarget("bash", { command }), `${"x".repeat(300)}…`)
  assert.equal(nameTarget("bash", { command }), command)
})
