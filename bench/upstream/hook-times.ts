import type { HookTime } from "./timed-plugin.ts"

/** The hook that changes the messages; it ends right before the request goes out. */
export const TRANSFORM = "experimental.chat.messages.transform"
/** The host does not wait for this one. */
const UNAWAITED = "event"

/** For each request: the time in all hooks that the host waited for since the one before. */
export function sumByTransform(times: readonly HookTime[]): number[] {
  const sums: number[] = []
  let sum = 0
  for (const { hook, ms } of times) {
    if (hook !== UNAWAITED) sum += ms
    if (hook !== TRANSFORM) continue
    sums.push(sum)
    sum = 0
  }
  return sums
}
