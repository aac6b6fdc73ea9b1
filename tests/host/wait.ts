/** Every wait in these tests has an end, and says what it was waiting for. */

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export class WaitTimeout extends Error {
  override name = "WaitTimeout"
}

/** Settles as `promise` does, or fails after `timeoutMs`. The work itself is not stopped. */
export async function within<T>(what: string, timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new WaitTimeout(`${what}: nothing after ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([promise, expiry])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether `promise` settled within `timeoutMs`. */
export async function settles(timeoutMs: number, promise: Promise<unknown>): Promise<boolean> {
  return within("settling", timeoutMs, promise).then(
    () => true,
    (error: unknown) => !(error instanceof WaitTimeout),
  )
}

/** Asks `probe` until it answers something other than `undefined` or `false`. */
export async function until<T>(
  what: string,
  timeoutMs: number,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  pauseMs = 40,
): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const answer = await probe()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() >= end) throw new WaitTimeout(`${what}: still not so after ${timeoutMs} ms`)
    await sleep(pauseMs)
  }
}
