import type { ModelRequest } from "./model-request.ts"
import { findClearedCallIDs, findPairingFaults, findToolResult } from "./model-request.ts"
import { excerpt } from "./json.ts"
import { findStoredChanges, findStoredMarks, findToolParts, storedOutput, type StoredMessage } from "./stored.ts"

/** A claim about one request that turned out false; the request goes into the failure report. */
export class WireFault extends Error {
  override name = "WireFault"
  readonly request: ModelRequest

  constructor(request: ModelRequest, message: string) {
    super(`request ${request.number}: ${message}`)
    this.request = request
  }
}

export function assertWire(request: ModelRequest, holds: boolean, claim: string): asserts holds {
  if (!holds) throw new WireFault(request, `not so: ${claim}`)
}

/** The call's result is the host's placeholder. */
export function assertCleared(request: ModelRequest, callID: string): void {
  const result = findToolResult(request, callID)
  if (result === undefined) throw new WireFault(request, `no result of ${callID}`)
  if (!result.placeholder) throw new WireFault(request, `${callID} was sent: ${excerpt(result.text, 120)}`)
}

/** The call's result is exactly what the host stored for it. */
export function assertSentInFull(request: ModelRequest, callID: string, stored: readonly StoredMessage[]): void {
  const result = findToolResult(request, callID)
  if (result === undefined) throw new WireFault(request, `no result of ${callID}`)
  const output = storedOutput(stored, callID)
  if (result.text === output) return
  throw new WireFault(
    request,
    `${callID} differs from the stored output\nsent:   ${excerpt(result.text, 120)}\nstored: ${excerpt(output, 120)}`,
  )
}

/** Exactly these calls are cleared, in the order of the request. */
export function assertClearedExactly(request: ModelRequest, callIDs: readonly string[]): void {
  const cleared = findClearedCallIDs(request)
  if (cleared.join() === callIDs.join()) return
  throw new WireFault(request, `cleared are [${cleared.join(", ")}], expected [${callIDs.join(", ")}]`)
}

export function assertPaired(requests: readonly ModelRequest[]): void {
  for (const request of requests) {
    const faults = findPairingFaults(request)
    if (faults.length > 0) throw new WireFault(request, faults.join("; "))
  }
}

/** What was stored is still stored, and no mark of ours among it. */
export function assertStoredUnchanged(before: readonly StoredMessage[], after: readonly StoredMessage[]): void {
  const changes = [
    ...findStoredChanges(before, after),
    ...findStoredMarks(after).map((callID) => `the stored output of ${callID} carries a mark`),
  ]
  if (changes.length > 0) throw new Error(`stored history changed:\n${changes.join("\n")}`)
}

/** The session made exactly these calls, in this order, and each succeeded; a shell command proves it with exit code 0. */
export function assertAllSucceeded(stored: readonly StoredMessage[], callIDs: readonly string[]): void {
  const parts = findToolParts(stored)
  const present = parts.map(({ callID }) => callID)
  if (present.join() !== callIDs.join())
    throw new Error(`stored calls are [${present.join()}], expected each once and in this order: [${callIDs.join()}]`)
  for (const { callID, tool, state } of parts) {
    if (state.status !== "completed") throw new Error(`${callID} is ${state.status}`)
    const { exit } = state.metadata
    if (exit === 0 || (exit === undefined && tool !== "bash")) continue
    throw new Error(`${callID} ended with ${JSON.stringify(exit)}`)
  }
}
