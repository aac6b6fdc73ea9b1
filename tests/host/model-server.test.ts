import assert from "node:assert/strict"
import { after, before, describe, it } from "node:test"
import { listOf, parseJson, recordOf, utf8Bytes } from "./json.ts"
import { findPairingFaults, findToolResults, PLACEHOLDER, type Api } from "./model-request.ts"
import { ModelServer } from "./model-server.ts"
import { fixedUsage, oneByOne, read } from "./model-script.ts"

const PATHS: Record<Api, string> = { openai: "/chat/completions", anthropic: "/messages" }

const tools = [{ name: "read" }]

const toolRound = {
  openai: [
    { role: "user", content: "look" },
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "a", content: PLACEHOLDER },
  ],
  anthropic: [
    { role: "user", content: [{ type: "text", text: "look" }] },
    { role: "assistant", content: [{ type: "tool_use", id: "a", name: "read", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: PLACEHOLDER }] }],
    },
  ],
}

for (const api of ["openai", "anthropic"] as const)
  describe(`the scripted model endpoint, ${api}`, () => {
    let model: ModelServer
    before(async () => {
      model = await ModelServer.start({ inputLimitTokens: 1_000 })
    })
    after(() => model.close())

    const send = async (messages: readonly unknown[], headers: Record<string, string> = {}) => {
      const body = JSON.stringify({ model: "m", messages, tools })
      const response = await fetch(`${model.baseURL}${PATHS[api]}`, {
        method: "POST",
        headers: { "x-session-id": "one", authorization: "Bearer secret", "x-api-key": "secret", ...headers },
        body,
      })
      const text = await response.text()
      return { status: response.status, text, bytes: utf8Bytes(body) }
    }

    it("answers step by step, then with the lane's default", async () => {
      model.script("main", oneByOne([read("x.txt", "first"), read("y.txt")]))
      assert.match((await send([])).text, /first.*x\.txt/s)
      assert.equal(model.countUnusedSteps("main"), 1)
      assert.match((await send([])).text, /y\.txt/)
      assert.match((await send([])).text, /All steps/)
    })

    it("keeps the scripts of sessions apart and hears the subagent's header", async () => {
      model.script("main", [{ text: "for two" }], "two")
      model.script("sub", [{ text: "for the child" }])
      assert.doesNotMatch((await send([])).text, /for two/)
      assert.match((await send([], { "x-session-id": "two" })).text, /for two/)
      assert.match((await send([], { "x-session-id": "three", "x-parent-session-id": "two" })).text, /for the child/)
      assert.deepEqual(
        model.requestsOf("sub").map((request) => request.parentSessionID),
        ["two"],
      )
    })

    it("reports the bytes of the body / 4 unless a step says otherwise", async () => {
      model.script("main", [{ text: "1" }, { text: "2", usage: { input: 7, cacheRead: 5 } }])
      const honest = await send([{ role: "user", content: "ä" }])
      assert.equal(model.requests.at(-1)?.reply?.usage.input, Math.ceil(honest.bytes / 4))
      assert.match(honest.text, new RegExp(`"(prompt|input)_tokens":${Math.ceil(honest.bytes / 4)}\\b`))
      const reported = await send([])
      assert.match(reported.text, api === "openai" ? /"prompt_tokens":12\b/ : /"input_tokens":7\b/)
    })

    it("refuses what exceeds the input limit and keeps the step for later", async () => {
      model.script("main", [{ text: "kept" }])
      const refused = await send([{ role: "user", content: "x".repeat(5_000) }])
      assert.equal(refused.status, 400)
      assert.match(refused.text, /context_length_exceeded|prompt is too long/)
      assert.match((await send([])).text, /kept/)
    })

    it("hides credentials", () => {
      assert.ok(model.requests.length > 0)
      assert.doesNotMatch(JSON.stringify(model.requests.map((request) => request.headers)), /secret/)
    })

    it("finds results, placeholders and broken pairs in what was sent", async () => {
      const [user, calls, results] = toolRound[api]
      await send([user, calls, results])
      const whole = model.requests.at(-1)
      assert.ok(whole !== undefined)
      assert.deepEqual(findToolResults(whole), [{ callID: "a", text: PLACEHOLDER, placeholder: true, error: false }])
      assert.deepEqual(findPairingFaults(whole), [])
      const broken = [
        [user, calls],
        [user, results],
        [user, calls, user, results],
        [user, calls, results, calls, results],
      ]
      for (const messages of broken) {
        await send(messages)
        const request = model.requests.at(-1)
        assert.ok(request !== undefined && findPairingFaults(request).length > 0, JSON.stringify(messages))
      }
    })
  })

describe("the scripted model endpoint", () => {
  it("sends an error, a fixed usage and parallel calls as scripted", async () => {
    const model = await ModelServer.start({ usage: fixedUsage(123) })
    model.script("main", [{ fail: { status: 503 } }, { tools: [read("a"), read("b")] }])
    const send = (): Promise<Response> =>
      fetch(`${model.baseURL}/chat/completions`, { method: "POST", body: JSON.stringify({ messages: [], tools }) })
    assert.equal((await send()).status, 503)
    const chunks = (await (await send()).text()).split("\n\n").map((line) => recordOf(parseJson(line.slice(6))))
    const indexes = chunks.flatMap((chunk) =>
      listOf(recordOf(recordOf(listOf(chunk["choices"])[0])["delta"])["tool_calls"]),
    )
    assert.deepEqual(
      indexes.map((one) => recordOf(one)["index"]),
      [0, 0, 1, 1],
    )
    assert.equal(model.requests[1]?.reply?.usage.input, 123)
    await model.close()
  })
})
