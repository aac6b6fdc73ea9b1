/** What `ask` answers, or `undefined` once the time is over; then its signal tells it to stop. */
export async function withinDeadline<T>(
  deadlineMs: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      controller.abort()
      resolve(undefined)
    }, deadlineMs)
  })
  try {
    return await Promise.race([deadline, ask(controller.signal)])
  } finally {
    clearTimeout(timer)
  }
}
