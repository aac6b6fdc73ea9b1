/**
 * What holds of the host's types over the whole range of `engines.opencode`: compiled by `npm run test:types:range`
 * against its two ends. `tests/host-types.test.ts` says more, of the version that is developed against.
 */
import type * as Host from "@opencode-ai/plugin"
import type { Part as HostPart } from "@opencode-ai/sdk"
import plugin from "../../index.ts"
import type { PartKind } from "../../lib/dtc/wire-parts.ts"
import type { HostClient, Hooks, PluginInput, ToolContext } from "../../lib/host.ts"

type Assert<Holds extends true> = Holds
type Extends<Narrow, Wide> = [Narrow] extends [Wide] ? true : false

/** `dispose` came after 1.14.34. A host that does not know it never calls it, and ends with what it would free. */
type LaterHooks = "dispose"

export type RangeClaims = [
  Assert<Extends<Host.PluginInput["client"], HostClient>>,
  Assert<Extends<Host.PluginInput, PluginInput>>,
  Assert<Extends<Host.ToolContext, ToolContext>>,
  Assert<Extends<Exclude<keyof Hooks, LaterHooks>, keyof Host.Hooks>>,
  Assert<Extends<HostPart["type"], PartKind>>,
]

export const hostModule: Host.PluginModule = plugin
