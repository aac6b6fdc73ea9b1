import type { ScriptedCall } from "../model-script.ts"
import type { ProjectTexts } from "./project-files.ts"

/** What a call that runs to its end leaves behind. */
export interface Expected {
  /** As the host stores it: a tool that does not exist is stored as `invalid`. */
  tool: string
  status: "completed" | "error"
  isRight: (text: string) => boolean
}

export interface PlannedCall {
  id: string
  kind: string
  withPlugin: ScriptedCall
  /** The plugin's own tools do not exist without it; a silent command stands in for them. */
  withoutPlugin: ScriptedCall
  expectedWith: Expected
  expectedWithout: Expected
  /** Written before the call is made. */
  prepared?: { path: string; content: string }
}

export interface CallPlace {
  /** The project's folder. */
  root: string
  texts: ProjectTexts
}

export type PluginSwitch = "on" | "off"

export const scriptedCall = (planned: PlannedCall, plugin: PluginSwitch): ScriptedCall =>
  plugin === "on" ? planned.withPlugin : planned.withoutPlugin

export const expectedOf = (planned: PlannedCall, plugin: PluginSwitch): Expected =>
  plugin === "on" ? planned.expectedWith : planned.expectedWithout
