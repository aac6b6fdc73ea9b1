import assert from "node:assert/strict"
import { describe, it, test } from "node:test"
import type { Host } from "./host.ts"
import { PLACEHOLDER, type ModelRequest } from "./model-request.ts"
import { checkStored } from "./soak/check-stored.ts"
import { compareMemory, describeMemory, findSlope } from "./soak/memory-claims.ts"
import { countPlannedRequests, countSureSteps, nameAct } from "./soak/outcomes.ts"
import type { Plan, PlannedTurn } from "./soak/plan-types.ts"
import { readProgress } from "./soak/progress.ts"
import type { Checked, LogRecord, MemorySample, Trace, TurnRecord } from "./soak/record-types.ts"
import { describeFigures, readFigures, readPage, readResult } from "./soak/result-page.ts"
import { planRun, RUNS, type RunSpec, type SoakScope } from "./soak/runs.ts"
import { judge, type PlayedRun } from "./soak/verdict.ts"
import { hashOf, Watch } from "./soak/watch.ts"
import { readLogRecord } from "./soak/log-record.ts"
import { PROJECT_ROOT } from "./plugin.ts"
import type { StoredMessage } from "./stored.ts"

const SCOPE: SoakScope = { seed: 1, steps: 1_000, sessions: 20 }
const SEEDS = 8
const FAULTS: RunSpec = { kind: "faults", plugin: "on" }
const MEMORY: RunSpec = { kind: "memory-1", plugin: "off" }

const turnsOf = (plan: Plan): PlannedTurn[] => plan.rounds.flatMap((round) => round.turns)

describe("the soak's plan", () => {
  it("is the seed's alone, and another one of another seed", () => {
    const keys = (seed: number): string => JSON.stringify(planRun(FAULTS, { ...SCOPE, seed }, "/project").rounds)
    assert.equal(keys(1), keys(1))
    assert.notEqual(keys(1), keys(2))
  })

  it("holds enough of everything, whatever the seed", () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const plan = planRun(FAULTS, { ...SCOPE, seed }, "/project")
      const turns = turnsOf(plan)
      const acts = plan.rounds.flatMap((round) => round.acts).map(nameAct)
      const count = (kind: string): number => turns.filter(({ ending }) => ending.kind === kind).length
      assert.ok(plan.certainSteps >= SCOPE.steps)
      assert.ok(
        count("kill") >= 10 && count("abort") >= 15 && count("refuse") >= 4 && count("retry") >= 4,
        `seed ${seed}`,
      )
      assert.ok(acts.filter((act) => act === "summarize finish").length >= 10, `seed ${seed}`)
      for (const act of ["summarize abort", "summarize kill", "fork"])
        assert.ok(acts.includes(act), `seed ${seed}: ${act}`)
      assert.ok(turns.filter(({ queued }) => queued).length >= 5, `seed ${seed}`)
      assert.ok([...plan.calls.values()].filter(({ call }) => call.kind === "dcp_prune").length >= 15)
    }
  })

  it("never runs two turns of a session at once, never a fork before it is made, and names each call once", () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const plan = planRun(FAULTS, { ...SCOPE, seed }, "/project")
      const made = new Set(Array.from({ length: SCOPE.sessions }, (_, session) => session))
      for (const { acts, turns } of plan.rounds) {
        for (const act of acts) if (act.kind === "fork") made.add(act.fork)
        const sessions = turns.map(({ session }) => session)
        assert.equal(new Set(sessions).size, sessions.length)
        assert.ok(sessions.every((session) => made.has(session)))
      }
      assert.equal(plan.calls.size, turnsOf(plan).flatMap(({ steps }) => steps.flat()).length)
    }
  })

  it("prompts a session next that was left with an unfinished summary, so that the host can settle it", () => {
    for (let seed = 0; seed < SEEDS; seed++)
      for (const { acts, turns } of planRun(FAULTS, { ...SCOPE, seed }, "/project").rounds)
        for (const act of acts) {
          if (act.kind !== "summarize" || act.ending === "finish") continue
          assert.equal(turns.find(({ session }) => session === act.session)?.ending.kind, "resume")
          assert.ok(!acts.some((other) => other.kind === "fork" && other.session === act.session))
        }
  })

  it("without kills serves everything by one host", () => {
    const plan = planRun(MEMORY, SCOPE, "/project")
    assert.ok(
      turnsOf(plan).every(({ host, ending, isEndangered }) => host === 0 && ending.kind !== "kill" && !isEndangered),
    )
    assert.ok(!plan.rounds.some(({ acts }) => acts.some((act) => act.kind === "summarize" && act.ending === "kill")))
  })
})

describe("the soak's memory figures", () => {
  const samples = (values: readonly number[]): MemorySample[] =>
    values.map((value) => ({ residentBytes: value * 2 ** 20, peakResidentBytes: value * 2 ** 20 }))

  it("take the slope of the last steps, and a few leaps for nothing", () => {
    const values = Array.from({ length: 1_000 }, (_, step) =>
      step < 500 ? 9_000 : 600 + step / 50 + (step % 97 === 0 ? 300 : 0),
    )
    assert.equal(describeMemory(samples(values)).slopeMegabytesPer100Steps, 2)
    assert.equal(findSlope([3, 3, 3, 90, 3, 3, 3]), 0)
  })

  it("compare by the median of the pairs", () => {
    const figures = (megabytes: number) => describeMemory(samples([megabytes]))
    const pair = (on: number, off: number) => ({ on: figures(on), off: figures(off) })
    assert.deepEqual(compareMemory([pair(100, 100), pair(120, 100), pair(300, 100)]), { median: 1.2, peak: 1.2 })
  })
})

describe("the soak's watch", () => {
  const request = (results: Record<string, string>, fields: Partial<ModelRequest> = {}): ModelRequest => ({
    number: 1,
    index: 0,
    at: 0,
    api: "openai",
    lane: "main",
    sessionID: "ses_1",
    parentSessionID: undefined,
    headers: {},
    body: {
      messages: Object.entries(results).flatMap(([id, text]) => [
        { role: "assistant", tool_calls: [{ id, function: { name: "read", arguments: "{}" } }] },
        { role: "tool", tool_call_id: id, content: text },
      ]),
    },
    bytes: 0,
    tokens: 0,
    reply: undefined,
    ...fields,
  })
  const faultsOf = (plugin: "on" | "off", ...requests: ModelRequest[]): string[] => {
    const watch = new Watch(plugin, [])
    watch.know("ses_1", 1)
    for (const one of requests) watch.seeRequest(one)
    return watch.takeTrace().faults
  }
  const full = { a: "first", b: "second", c: "third" }

  it("accepts outputs that are cleared from one request to the next", () => {
    assert.deepEqual(faultsOf("on", request(full), request({ ...full, a: PLACEHOLDER })), [])
  })

  it("complains about another text, a recent placeholder, a broken pair, a placeholder in a summary or without the plugin", () => {
    assert.match(faultsOf("on", request(full), request({ ...full, a: "FIRST" })).join(), /session 1: wire a was seen/)
    assert.match(faultsOf("on", request({ ...full, b: PLACEHOLDER })).join(), /b of a recent step/)
    assert.match(faultsOf("off", request({ ...full, a: PLACEHOLDER })).join(), /without the plugin/)
    assert.match(faultsOf("on", request({}, { body: { messages: [{ role: "tool", tool_call_id: "z" }] } })).join(), /z/)
    const summary = { lane: "compaction" as const, body: { messages: [{ role: "user", content: `x ${PLACEHOLDER}` }] } }
    assert.match(faultsOf("on", request({}, summary)).join(), /a summary was given a placeholder/)
  })

  it("complains about a mark in a stored part, and remembers errors and switches of the API", () => {
    const watch = new Watch("on", [])
    const state = { status: "completed", output: "first", time: { compacted: 1 } }
    const part = { type: "tool", sessionID: "ses_1", callID: "a", state }
    watch.seeEvents([
      { at: 0, type: "message.part.updated", properties: { part } },
      { at: 0, type: "session.error", properties: { sessionID: "ses_1", error: { name: "UnknownError" } } },
    ])
    watch.seeRequest(request(full))
    watch.seeRequest(request({}, { api: "anthropic" }))
    const { faults, sessionErrors, switches } = watch.takeTrace()
    assert.match(faults.join(), /was stored with a mark/)
    assert.deepEqual(sessionErrors, ["ses_1 UnknownError"])
    assert.equal(switches, 1)
    assert.equal(watch.recall("event", "ses_1 a"), hashOf("completed first"))
  })
})

test("a host's log tells skipped requests, warnings, and stacks that name the plugin", () => {
  const log = [
    'timestamp=1 level=DEBUG message="request left as it was" reason=failed sessionID=ses_1',
    'timestamp=1 level=DEBUG message="request projected" sessionID=ses_1 cleared=[]',
    'timestamp=1 level=WARN message="opencode-dcp: requests are left as they were: failed"',
    `    at transform (file://${PROJECT_ROOT}/dist/lib/hooks.js:1:1)`,
    `timestamp=1 level=INFO message="loading plugin" path=file://${PROJECT_ROOT}/dist/index.js`,
  ].join("\n")
  const record = readLogRecord(log, "")
  assert.equal(record.projected, 1)
  assert.deepEqual(record.skipped, { failed: 1 })
  assert.equal(record.warnings.length, 1)
  assert.equal(record.errors.length, 1)
})

/** Floors are a tenth of the whole soak's. */
const SMALL_SCOPE: SoakScope = { seed: 1, steps: 100, sessions: 4 }

/** A run in which everything goes as planned. */
function playIdeally(spec: RunSpec, change: Partial<IdealRun> = {}): PlayedRun {
  const plan = planRun(spec, SMALL_SCOPE, "/project")
  const turns = turnsOf(plan).map((turn): TurnRecord => {
    const outcomes = { finish: "finished", retry: "finished", refuse: "error APIError", resume: "summary" }
    const interrupted = { abort: "error MessageAbortedError", kill: "cut" }
    const outcome = { ...outcomes, ...interrupted }[turn.ending.kind]
    return { key: turn.key, outcome, requests: countPlannedRequests(turn) ?? 0 }
  })
  const acts = plan.rounds.flatMap((round) =>
    round.acts.map((act) => ({
      key: `r${round.index} ${nameAct(act)} s${act.session}`,
      kind: act.kind,
      outcome: nameAct(act) === "summarize kill" ? "cut" : "done",
    })),
  )
  const queued = turnsOf(plan).flatMap(({ key, queued: one }) =>
    one ? [{ key: `${key} queue`, kind: "queue" as const, outcome: "done" }] : [],
  )
  const ideal: IdealRun = {
    turns,
    trace: { requests: { main: 110 }, placeholders: 900, switches: 200, sessionErrors: [], faults: [], logs: [] },
    checked: {
      sessions: 5,
      forks: 1,
      calls: 120,
      right: { dcp_prune: 20 },
      interrupted: 5,
      equalToEvent: 110,
      equalToWire: 110,
      cleared: 40,
      faults: [],
    },
    residentMegabytes: () => 600,
  }
  const run = { ...ideal, ...change }
  const kills = turnsOf(plan).filter(({ ending }) => ending.kind === "kill").length
  return {
    spec,
    progress: readProgress([
      { type: "stage", at: "", hostVersion: "1.18.33" },
      { type: "begun", round: 0 },
      { type: "round", record: { round: 0, acts: [...acts, ...queued], turns: run.turns, kills } },
      { type: "trace", trace: run.trace },
      { type: "checked", checked: run.checked },
    ]),
    samples: Array.from({ length: 100 }, (_, step) => {
      const residentBytes = run.residentMegabytes(step) * 2 ** 20
      return { residentBytes, peakResidentBytes: residentBytes }
    }),
  }
}

interface IdealRun {
  turns: TurnRecord[]
  trace: Trace
  checked: Checked
  residentMegabytes: (step: number) => number
}

const log = (fields: Partial<LogRecord>): LogRecord => ({
  projected: 0,
  skipped: {},
  warnings: [],
  errors: [],
  ...fields,
})

describe("the soak's verdict", () => {
  const ideal = new Map(RUNS.map((spec) => [spec, playIdeally(spec)]))
  const judgeWith = (matches: (spec: RunSpec) => boolean, change: (run: IdealRun) => Partial<IdealRun>): string[] => {
    const runs = [...ideal].map(([spec, run]) => {
      if (!matches(spec)) return run
      const { turns, traces, checked } = run.progress
      const [trace] = traces
      assert.ok(trace && checked)
      const given = { turns: [...turns.values()], trace, checked, residentMegabytes: () => 600 }
      return playIdeally(spec, change(given))
    })
    return judge(SMALL_SCOPE, runs).violations
  }
  const isFaultsOn = ({ kind, plugin }: RunSpec): boolean => kind === "faults" && plugin === "on"
  const isFaults = ({ kind }: RunSpec): boolean => kind === "faults"
  const withOutcome =
    (outcome: string, requests?: number) =>
    (run: IdealRun): Partial<IdealRun> => ({
      turns: run.turns.map((turn) =>
        turn.key === firstFinished ? { ...turn, outcome, requests: requests ?? turn.requests } : turn,
      ),
    })
  const firstFinished = turnsOf(planRun(FAULTS, SMALL_SCOPE, "")).find(
    (turn) => turn.ending.kind === "finish" && !turn.isEndangered,
  )?.key

  it("finds nothing where nothing is", () =>
    assert.deepEqual(
      judgeWith(
        () => false,
        () => ({}),
      ),
      [],
    ))

  it("counts a run that is not there", () => {
    assert.match(judge(SMALL_SCOPE, [...ideal.values()].slice(1)).violations.join(), /faults-on is not finished/)
  })

  it("blames the plugin for what happens only with it", () => {
    for (const outcome of ["http 500", "error UnknownError", "no answer", "finished, still busy", "cut"])
      assert.match(judgeWith(isFaultsOn, withOutcome(outcome)).join(), /only with the plugin: s\d+r0: finish came to/)
    assert.match(judgeWith(isFaultsOn, withOutcome("finished", 2)).join(), /2 requests, \d planned/)
    assert.match(judgeWith(isFaultsOn, ({ turns }) => ({ turns: turns.slice(1) })).join(), /never played to its end/)
    assert.deepEqual(judgeWith(isFaults, withOutcome("error UnknownError")), [])
  })

  it("counts errors of sessions and of the log that the other run has not", () => {
    const told = (trace: Partial<Trace>) =>
      judgeWith(isFaultsOn, (run) => ({ trace: { ...run.trace, ...trace } })).join()
    assert.match(told({ sessionErrors: ["3 UnknownError"] }), /session\.error: 3 UnknownError/)
    assert.match(told({ logs: [log({ errors: ['level=ERROR message="plugin failed"'] })] }), /log: "plugin failed"/)
    assert.match(told({ logs: [log({ skipped: { failed: 1 } })] }), /1 requests were left as they were: failed/)
    assert.match(told({ logs: [log({ skipped: { "unavailable-budget": 500 } })] }), /500 requests had no budget/)
    assert.match(
      told({ logs: [log({ warnings: ["opencode-dcp: requests are left as they were: failed"] })] }),
      /failed/,
    )
    assert.match(told({ faults: ["session 1: a is lost"] }), /a is lost/)
  })

  it("proves nothing by what never happened", () => {
    const changed = (checked: Partial<Checked>) =>
      judgeWith(isFaultsOn, (run) => ({ checked: { ...run.checked, ...checked } })).join()
    assert.match(changed({ cleared: 29 }), /29 cleared, at least 30/)
    assert.match(changed({ equalToWire: 3 }), /3 equalToWire/)
    assert.match(changed({ sessions: 3, forks: 1 }), /2 sessions of 4/)
    assert.match(changed({ faults: ["lost"] }), /faults-on: lost/)
  })

  it("holds the memory against the run without the plugin", () => {
    type Matches = (spec: RunSpec) => boolean
    const isPairOn: Matches = ({ kind, plugin }) => kind.startsWith("memory") && plugin === "on"
    const isPair: Matches = ({ kind }) => kind.startsWith("memory")
    const isGrowthOn: Matches = ({ kind, plugin }) => kind === "growth" && plugin === "on"
    const violationsOf = (matches: Matches, residentMegabytes: (step: number) => number): string =>
      judgeWith(matches, () => ({ residentMegabytes })).join()
    assert.match(
      violationsOf(isPairOn, () => 661),
      /the median is 1\.102/,
    )
    assert.equal(
      violationsOf(isPairOn, () => 659),
      "",
    )
    assert.match(
      violationsOf(isPairOn, (step) => 600 + step / 20),
      /slopes of 5, 5, 5 MB per 100 steps, without the plugin 0, 0, 0/,
    )
    assert.equal(
      violationsOf(isPair, (step) => 600 + step / 20),
      "",
    )
    assert.match(
      violationsOf(isGrowthOn, (step) => 600 + step / 50),
      /grows by 2 MB per 100 steps, without the plugin by 0/,
    )
    assert.equal(
      violationsOf(isGrowthOn, (step) => 600 + step / 200),
      "",
    )
  })
})

test("the page about the soak holds the figures of the kept verdict, in which nothing is violated", () => {
  const verdict = readResult()
  const words = (text: string): string => text.replaceAll(/[\s|]+|-{3,}/g, " ").trim()
  assert.deepEqual(verdict.violations, [])
  assert.equal(words(readFigures(readPage())), words(describeFigures(verdict)))
})

describe("the soak's look at the stored sessions", () => {
  const scope = { seed: 5, steps: 20, sessions: 2 }
  const plan = planRun(FAULTS, scope, "/project")
  const turn = turnsOf(plan).find(({ ending, steps }) => ending.kind === "finish" && steps.flat().some(isCat))
  assert.ok(turn)
  const calls = turn.steps.slice(0, countSureSteps(turn, "finished")).flat()
  const cat = calls.find(isCat)
  assert.ok(cat)

  function isCat(call: PlannedTurn["steps"][number][number]): boolean {
    return call.kind === "read what is not there" || call.kind === "bash without output" || call.kind === "todowrite"
  }

  /** Each call of one turn as an isolated part; `change` tampers with that of the chosen one. */
  const storedParts = (change: (state: Record<string, unknown>) => unknown): unknown[] =>
    calls.map((call) => {
      const text = knownText(call.kind, call.id)
      const status = call.expectedWith.status
      const state = {
        status,
        input: {},
        [status === "completed" ? "output" : "error"]: text,
        metadata: { exit: 0 },
        time: {},
      }
      return {
        type: "tool",
        callID: call.id,
        tool: call.expectedWith.tool,
        state: call === cat ? change(state) : state,
      }
    })

  const knownText = (kind: string, id: string): string => {
    if (kind === "read what is not there") return `File not found: /project/nowhere-${id}`
    return kind === "bash without output"
      ? "(no output)"
      : JSON.stringify([{ content: "Go on", status: "in_progress", priority: "high" }], null, 2)
  }

  const check = async (parts: unknown[], seen = (_watch: Watch): void => {}): Promise<string[]> => {
    const watch = new Watch("on", [])
    seen(watch)
    const progress = readProgress([
      { type: "session", session: { session: turn.session, id: "ses_1" } },
      {
        type: "round",
        record: { round: 0, acts: [], turns: [{ key: turn.key, outcome: "finished", requests: 1 }], kills: 0 },
      },
    ])
    const host = {
      listSessions: async () => [{ id: "ses_1" }],
      readMessages: async () => [{ info: { id: "m", role: "assistant" }, parts }] as unknown as StoredMessage[],
    } as unknown as Pick<Host, "listSessions" | "readMessages">
    const checked = await checkStored({ plan, plugin: "on", progress, watch }, host)
    return checked.faults.filter((fault) => fault.includes(cat.id))
  }

  it("accepts what the tool put out", async () => assert.deepEqual(await check(storedParts((state) => state)), []))

  it("finds another text, another status, a mark, and a call that is lost", async () => {
    const field = cat.expectedWith.status === "completed" ? "output" : "error"
    assert.match(
      (await check(storedParts((state) => ({ ...state, [field]: "x" })))).join(),
      /is not what its tool put out/,
    )
    assert.match(
      (await check(storedParts((state) => ({ ...state, status: "running" })))).join(),
      /is not what its tool/,
    )
    const marked = storedParts((state) => ({ ...state, status: "completed", output: "", time: { compacted: 1 } }))
    assert.match((await check(marked)).join(), /has a mark/)
    const others = storedParts((state) => state).filter((part) => (part as { callID: string }).callID !== cat.id)
    assert.match((await check(others)).join(), /is lost/)
  })

  it("finds what differs from its event or from the first request in full, and clears that nobody allowed", async () => {
    const parts = storedParts((state) => state)
    const seeing = (where: "event" | "wire" | "placeholder", key: string) => {
      const watch = new Watch("on", [{ where, key, hash: hashOf("another") }])
      return watch
    }
    const checkSeen = async (watch: Watch): Promise<string> => {
      const progress = readProgress([{ type: "session", session: { session: turn.session, id: "ses_1" } }])
      const host = {
        listSessions: async () => [{ id: "ses_1" }],
        readMessages: async () => [{ info: { id: "m", role: "assistant" }, parts }],
      } as unknown as Pick<Host, "listSessions" | "readMessages">
      return (await checkStored({ plan, plugin: "on", progress, watch }, host)).faults.join("\n")
    }
    assert.match(await checkSeen(seeing("event", `ses_1 ${cat.id}`)), /is not what the event of its end said/)
    assert.match(await checkSeen(seeing("wire", cat.id)), /is not what the first request in full carried/)
    assert.match(await checkSeen(seeing("placeholder", "ses_1 gone")), /gone was cleared/)
  })
})
