import type { Controls } from "../dtc/state.ts"
import type { ToolDefinition } from "../host.ts"
import type { Log } from "../log.ts"

const DESCRIPTION =
  "Frees context: from the next model request on, old successful outputs of read, grep, glob and bash are left out once. " +
  "Use it when those outputs are no longer needed, for example after finishing a part of the task. " +
  "The newest steps, failed commands, instruction files and other tools' outputs stay, and nothing stored is changed."

const SCHEDULED =
  "Scheduled: the next request of this session will be sent with placeholders in place of old tool outputs that may be " +
  "cleared. Recent steps and protected outputs stay. The stored session does not change."

const UNAVAILABLE = "Not scheduled: clearing is switched off in this instance until the host is reloaded."

/**
 * Asks for one forced clear on the session's next ordinary request. It says what will happen, never that it has. When
 * nothing can be scheduled the call fails, so that it does not count as one that was served.
 */
export function createPruneTool({ controls, log }: { controls: Controls; log: Log }): ToolDefinition {
  return {
    description: DESCRIPTION,
    args: {},
    execute: async (_args, { sessionID }) => {
      if (controls.halted) throw new Error(UNAVAILABLE)
      const dropped = controls.requestClear(sessionID)
      if (dropped !== undefined) log.warn("too many pending clears: the oldest was dropped", { sessionID: dropped })
      return SCHEDULED
    },
  }
}
