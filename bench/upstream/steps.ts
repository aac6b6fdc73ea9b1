import { Home } from "../../tests/host/home.ts"
import { oneByOne, read } from "../../tests/host/model-script.ts"
import { filesOfTokens } from "../../tests/host/small-window.ts"
import { readHookTimes } from "./contestants.ts"
import { sumByTransform, TRANSFORM } from "./hook-times.ts"
import { withMeasuredHost, type MeasuredSetup } from "./measured-host.ts"

export const STEPS = 40
/** A quarter of the reads repeat an earlier one. Forty of them are 1.8 MB, and the first twelve reach the target. */
const FILES = filesOfTokens(30, 11_500, "page")
const LIMIT = { context: 200_000, output: 8_000 }

/** What one session cost, step by step; the first request, which no reply came before, is not among them. */
export interface StepTimes {
  /** From the end of a reply to the next request: the host's own work, the tool and what plugins add. */
  betweenMs: number[]
  /** In the hook that changes the messages. */
  transformMs: number[]
  /** In all hooks, from one such call to the end of the next. */
  hooksMs: number[]
}

/** One message that the model answers with forty reads, one after the other. */
export async function measureSteps(setup: Omit<MeasuredSetup, "home" | "limit">): Promise<StepTimes> {
  const home = await Home.create(FILES)
  try {
    return await withMeasuredHost({ ...setup, home, limit: LIMIT }, async ({ host, model, tap }) => {
      const files = Object.keys(FILES)
      const reads = Array.from({ length: STEPS }, (_, step) => read(files[step % files.length] ?? "", `call-${step}`))
      model.script("main", oneByOne(reads))
      const { id } = await host.createSession()
      await host.prompt(id, "Read every page.", { timeoutMs: 400_000 })
      await host.waitUntilIdle(id)
      if (tap.passages.length !== STEPS + 1) throw new Error(`${tap.passages.length} requests for ${STEPS} steps`)
      const times = readHookTimes(home)
      return {
        betweenMs: tap.passages
          .slice(1)
          .map(({ arrivedMs }, index) => arrivedMs - (tap.passages[index]?.repliedMs ?? 0)),
        transformMs: times.flatMap(({ hook, ms }) => (hook === TRANSFORM ? [ms] : [])).slice(1),
        hooksMs: sumByTransform(times).slice(1),
      }
    })
  } finally {
    home.remove()
  }
}
