import { describeConfig, type ModelLimit } from "../../tests/host/host-config.ts"
import type { HostBinary } from "../../tests/host/host-binary.ts"
import { Host } from "../../tests/host/host.ts"
import type { Home } from "../../tests/host/home.ts"
import { ModelServer } from "../../tests/host/model-server.ts"
import { NO_COMPACTION, providerWith } from "../../tests/host/small-window.ts"
import { MODEL } from "../history.ts"
import { describePlugins, forgetHookTimes, writeSettings, type Contestant, type Installed } from "./contestants.ts"
import { Tap } from "./tap.ts"

export interface MeasuredHost {
  host: Host
  model: ModelServer
  tap: Tap
}

/** A host with one contestant, for the time of `play`. */
export async function withMeasuredHost<T>(
  { home, binary, limit, contestant, installed }: MeasuredSetup,
  play: (measured: MeasuredHost) => Promise<T>,
): Promise<T> {
  const model = await ModelServer.start()
  const tap = await Tap.start(model.baseURL)
  let host: Host | undefined
  try {
    forgetHookTimes(home)
    writeSettings(contestant, home)
    const config = describeConfig({
      baseURL: tap.baseURL,
      providers: { [MODEL.providerID]: providerWith("openai", { [MODEL.modelID]: limit }) },
      model: `${MODEL.providerID}/${MODEL.modelID}`,
      plugins: describePlugins(contestant, installed, home),
      extra: NO_COMPACTION,
    })
    host = await Host.start({ home, binary, config })
    return await play({ host, model, tap })
  } finally {
    await host?.stop()
    await tap.close()
    await model.close()
  }
}

export interface MeasuredSetup {
  home: Home
  binary: HostBinary
  limit: ModelLimit
  contestant: Contestant
  installed: Installed
}
