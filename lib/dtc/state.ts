/** Sessions that may wait for a one-request clear, and sessions that may hold a compaction guard. */
const CAPACITY = 256

/**
 * Pending controls of one plugin instance, bounded. A pending clear may be dropped; a guard may not, since the summary
 * behind it must see every output: when one cannot be kept, projection stops for good.
 */
export class Controls {
  private readonly guards = new Set<string>()
  private readonly clears = new Set<string>()
  private stopped = false

  /** True once a guard could not be kept. */
  get halted(): boolean {
    return this.stopped
  }

  /** The session's next transform belongs to a native compaction. Answers false when that cannot be remembered. */
  armGuard(sessionID: unknown): boolean {
    if (this.stopped) return false
    if (typeof sessionID !== "string" || sessionID === "" || isFull(this.guards, sessionID)) {
      this.stopped = true
      return false
    }
    this.guards.add(sessionID)
    return true
  }

  /** Consumes the session's guard; answers whether there was one. */
  takeGuard(sessionID: string): boolean {
    return this.guards.delete(sessionID)
  }

  /** Asks for one forced clear. Answers the session whose older request was dropped for it, if one was. */
  requestClear(sessionID: string): string | undefined {
    const dropped = isFull(this.clears, sessionID) ? oldestOf(this.clears) : undefined
    if (dropped !== undefined) this.clears.delete(dropped)
    this.clears.add(sessionID)
    return dropped
  }

  hasPendingClear(sessionID: string): boolean {
    return this.clears.has(sessionID)
  }

  consumeClear(sessionID: string): void {
    this.clears.delete(sessionID)
  }

  forget(sessionID: string): void {
    this.guards.delete(sessionID)
    this.clears.delete(sessionID)
  }

  forgetAll(): void {
    this.guards.clear()
    this.clears.clear()
  }
}

function isFull(sessions: ReadonlySet<string>, sessionID: string): boolean {
  return sessions.size >= CAPACITY && !sessions.has(sessionID)
}

function oldestOf(sessions: ReadonlySet<string>): string | undefined {
  return sessions.values().next().value
}
