/**
 * `lib/host.ts` and `lib/dtc/wire-parts.ts` state the host's types in words of their own, so that the published types
 * need no other package. Here they are held against the host's; what no longer fits fails `npm run types`.
 */
import assert from "node:assert/strict"
import test from "node:test"
import type * as Host from "@opencode-ai/plugin"
import type { Plugin as SetupPlugin, PluginContext } from "@opencode-ai/plugin/v2/promise"
import type { Message as HostMessage, Part as HostPart, ToolState as HostToolState } from "@opencode-ai/sdk"
import type { Part as NewHostPart, ToolState as NewHostToolState } from "@opencode-ai/sdk/v2"
import plugin from "../index.ts"
import type { Part } from "../lib/dtc/types.ts"
import { renderPart, type PartKind } from "../lib/dtc/wire-parts.ts"
import type { SetupContext, SetupModule } from "../lib/host2/types.ts"
import type { HostClient, Hooks, PluginInput, PluginModule, ToolContext } from "../lib/host.ts"

type Assert<Holds extends true> = Holds
type Extends<Narrow, Wide> = [Narrow] extends [Wide] ? true : false
type Same<Left, Right> = Extends<Left, Right> extends true ? Extends<Right, Left> : false

/** Each line fails to compile when its two sides part. Exported, since a type that nobody uses is an error too. */
export type Conformance = [
  Assert<Extends<Host.PluginInput["client"], HostClient>>,
  Assert<Extends<Host.PluginInput, PluginInput>>,
  Assert<Extends<Host.ToolContext, ToolContext>>,
  // The hooks' names: one that the host does not know would never be called.
  Assert<Extends<keyof Hooks, keyof Host.Hooks>>,
  // As far as 1.18 has it: a context without hooks, and the catalog.
  Assert<Extends<PluginContext, SetupContext>>,
  Assert<Same<PartKind, HostPart["type"]>>,
  Assert<Extends<NewHostPart["type"], PartKind>>,
  Assert<Same<HostToolState["status"], "completed" | "error" | "pending" | "running">>,
  Assert<Same<NewHostToolState["status"], HostToolState["status"]>>,
  Assert<Same<HostMessage["role"], "assistant" | "user">>,
]

/** The module as a whole, since parameters are compared where a value is assigned: hooks, their inputs, the tools. */
const asHostModule = (module: PluginModule): Host.PluginModule => module
const asSetupPlugin = (module: SetupModule): SetupPlugin => module

const SAMPLES: Readonly<Record<HostPart["type"], true>> = {
  agent: true,
  compaction: true,
  file: true,
  patch: true,
  reasoning: true,
  retry: true,
  snapshot: true,
  "step-finish": true,
  "step-start": true,
  subtask: true,
  text: true,
  tool: true,
}

test("the plugin is a module that the host loads", () => {
  assert.equal(asHostModule(plugin).id, "opencode-dcp")
  assert.equal(asSetupPlugin(plugin).id, "opencode-dcp")
})

test("every part kind of the host has a row for at least one role", () => {
  const context = { model: undefined, estimateMedia: false, sameModel: true, isSigned: () => false }
  const state = { status: "pending", input: {}, raw: "" }
  const kindsWithoutRow = Object.keys(SAMPLES).filter((type) => {
    const part: Part = { id: "prt", type, text: "", mime: "text/plain", tool: "read", callID: "call", state }
    return ["user", "assistant"].every((role) => renderPart(role, part, context) === "unknown")
  })
  assert.deepEqual(kindsWithoutRow, [])
})

test("a kind that the host does not have is unknown for every role", () => {
  const context = { model: undefined, estimateMedia: false, sameModel: true, isSigned: () => false }
  for (const role of ["user", "assistant", "system", "constructor"])
    for (const type of ["hologram", "toString", "__proto__", ""])
      assert.equal(renderPart(role, { id: "prt", type }, context), "unknown")
})
