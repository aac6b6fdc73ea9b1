import { chooseHostBinary } from "../host-binary.ts"
import { describeConfig } from "../host-config.ts"
import { Home, type ProjectFiles } from "../home.ts"
import { findProcessesOf } from "../leftovers.ts"
import { ModelServer } from "../model-server.ts"
import { pluginByFile, withOptions } from "../plugin.ts"
import { NO_COMPACTION, PRESSURE_OPTIONS, providerWith, SMALL_LIMIT } from "../small-window.ts"
import { checkStored } from "./check-stored.ts"
import { Hosts } from "./hosts.ts"
import { Journal } from "./journal.ts"
import { MemorySampler } from "./memory-sampler.ts"
import { MODELS } from "./plan.ts"
import { readProgress } from "./progress.ts"
import { projectTextsOf } from "./project-files.ts"
import { playRound } from "./round.ts"
import { countHosts, isMemoryRun, planRun, type RunSpec, type SoakScope } from "./runs.ts"
import { StageContext } from "./stage-context.ts"
import { Watch } from "./watch.ts"

export interface StageInput {
  spec: RunSpec
  scope: SoakScope
  folder: string
  /** Whether a further round may begin. */
  hasTime: () => boolean
}

/** Goes on with one run until the time or the run is over, and checks it in the latter case. Answers whether it was. */
export async function playStage({ spec, scope, folder, hasTime }: StageInput): Promise<boolean> {
  const journal = new Journal(folder)
  const home = await Home.keep(journal.homeFolder, projectFiles(scope.seed))
  const progress = readProgress(journal.readLines())
  const watch = new Watch(spec.plugin, journal.readSights())
  const sampler = new MemorySampler()
  const model = await ModelServer.start({
    onRequest: (request) => {
      watch.seeRequest(request)
      sampler.see(request)
    },
  })
  let hosts: Hosts | undefined
  try {
    const binary = await chooseHostBinary(home)
    const setup = { home, binary, config: describeSoakConfig(spec, model.baseURL) }
    const plan = planRun(spec, scope, home.project)
    hosts = await Hosts.start({ ...setup, count: countHosts(spec) })
    const stage = new StageContext({ plan, plugin: spec.plugin, home, hosts, model, watch, journal, progress })
    sampler.attach(stage)
    stage.write({ type: "stage", at: new Date().toISOString(), hostVersion: binary.version })
    const isOver = await playRounds(stage, sampler, hasTime)
    await hosts.stop()
    stage.writeTrace()
    if (!isOver) return false
    // What a host that has seen nothing of all this reads is what is stored.
    hosts = await Hosts.start({ ...setup, count: 1 })
    const checked = await checkStored(stage.rooms, hosts.at(0))
    await hosts.stop()
    stage.write({ type: "checked", checked })
    // What is as it should be needs no second look.
    if (checked.faults.length === 0) home.remove()
    return true
  } finally {
    await hosts?.stop()
    await model.close()
    for (const pid of findProcessesOf(home.root)) process.kill(pid, "SIGKILL")
  }
}

async function playRounds(stage: StageContext, sampler: MemorySampler, hasTime: () => boolean): Promise<boolean> {
  const { journal, plan, progress } = stage.rooms
  for (const round of plan.rounds) {
    if (progress.begun.has(round.index)) continue
    if (!hasTime()) return false
    stage.write({ type: "begun", round: round.index })
    stage.write({ type: "round", record: await playRound(stage, round) })
    stage.writeTrace()
    journal.appendSamples(sampler.take())
  }
  return true
}

function projectFiles(seed: number): ProjectFiles {
  const { texts, large } = projectTextsOf(seed)
  return Object.fromEntries([...texts, ...large].map(({ path, content }) => [path, content]))
}

/** Two providers of two APIs with the same small window. The plugin's own log would be part of what is measured. */
function describeSoakConfig(spec: RunSpec, baseURL: string): Record<string, unknown> {
  const limits = { small: SMALL_LIMIT }
  const options = { ...PRESSURE_OPTIONS, debug: !isMemoryRun(spec) }
  return describeConfig({
    baseURL,
    providers: { chat: providerWith("openai", limits), claude: providerWith("anthropic", limits) },
    model: MODELS[0],
    plugins: spec.plugin === "on" ? [withOptions(pluginByFile(), options)] : [],
    extra: NO_COMPACTION,
  })
}
