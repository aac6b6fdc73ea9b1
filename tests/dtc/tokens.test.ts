import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { jsonTokens, textTokens } from "../../lib/dtc/tokens.ts"

const bytes = (text: string): number => Buffer.byteLength(text)
const rate = (text: string): number => textTokens(text) / bytes(text)

/** Any string, lone surrogates included, short ones and ones long enough to be sampled. */
const anyText = fc
  .tuple(
    fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "漢字", "🙂", "0f", "A1b", " word"))),
  )
  .chain(([pieces]) => fc.integer({ min: 1, max: 60 }).map((times) => pieces.join("").repeat(times)))

test("a text has at least a token for four bytes and at most one for each", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const tokens = textTokens(text)
      assert.ok(tokens >= bytes(text) / 4 && tokens <= bytes(text), `${tokens} tokens of ${bytes(text)} bytes`)
      assert.equal(textTokens(text), tokens)
    }),
  )
  assert.equal(textTokens(""), 0)
  assert.equal(textTokens("A1".repeat(40)), 80, "the upper end is reached")
})

test("ordinary text is four bytes per token, exactly", () => {
  const ordinary = {
    "a run of one letter": "x".repeat(10_000),
    "one word": "word ".repeat(2_000),
    "plain lines": "plain words beside the number 7\n".repeat(300),
    prose: "Nobody had expected the bridge to open early, least of all the people who built it. ".repeat(9),
  }
  for (const [kind, text] of Object.entries(ordinary)) {
    assert.equal(textTokens(text), bytes(text) / 4, kind)
  }
})

test("a text of fewer than 64 characters is four bytes per token, whatever it holds", () => {
  assert.equal(textTokens("0f".repeat(31) + "0"), 63 / 4)
  assert.ok(textTokens("0f".repeat(32)) > 64 / 2)
})

/** Made by hand for their kinds; ranges are the references' own, with a margin. */
const dense: Record<string, [text: string, least: number, most: number]> = {
  "hex digits": ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 0.5, 0.75],
  base64: ["grcO7n8aUDm+8H7CNH8GbtCPXcdRJEfjQEMAAmtuVFWUoGVoXWTEmAu41FRKhyGpmgGt", 0.45, 0.85],
  uuids: ["3f2504e0-4f89-41d3-9a0c-0305e82c3301\n7d444840-9dc0-11d1-b245-5ffdce74fad2\n", 0.5, 0.75],
  CSV: ["1001,Ada,Lagos,118.20,2026-04-02\n1002,Bo,Quito,9.75,2026-04-03\n1003,Cy,Lyon,41.00,2026-05-11\n", 0.4, 0.65],
  logs: ["2026-03-01T10:22:31.118Z WARN [pool-7] worker retried id=8842 ms=1290\n", 0.35, 0.6],
  Chinese: ["今天早上的会议推迟到下午三点，请大家提前准备好上周的数据和需要讨论的问题。", 0.265, 0.35],
  Japanese: ["この設定を変更すると、次回の起動時に古いキャッシュがすべて削除されます。", 0.265, 0.35],
  Korean: ["설정을 변경하면 다음에 시작할 때 오래된 캐시가 모두 삭제되므로 미리 저장해 주세요.", 0.265, 0.4],
  emoji: ["🙂🎉🚀🔥🍎🐶🐸🎲🧩🌍🍿🚲🎈🦊🌵🧀🚂", 0.4, 0.7],
  code: ["if (rows[i].id === id) { out.push({ ...rows[i], at: now() }) }\n", 0.25, 0.5],
}

for (const [kind, [text, least, most]] of Object.entries(dense)) {
  test(`tokens per byte of ${kind}, short and sampled`, () => {
    for (const times of [2, 40, 400]) {
      const measured = rate(text.repeat(times))
      assert.ok(measured >= least && measured <= most, `${measured} when repeated ${times} times`)
    }
  })
}

test("a repeated text scales with its length, but for what the sample happens to see", () => {
  for (const [text] of Object.values(dense)) {
    const [once, tenfold] = [textTokens(text.repeat(50)), textTokens(text.repeat(500))]
    assert.ok(Math.abs(tenfold / once / 10 - 1) < 0.35, `${once} and ${tenfold}`)
  }
})

test("a dump in the middle of prose is seen", () => {
  const prose = "The morning was quiet and nobody came to the door before noon. ".repeat(60)
  const dump = "9f86d081884c7d65".repeat(240)
  const apart = textTokens(prose) * 2 + textTokens(dump)
  const together = textTokens(prose + dump + prose)
  assert.ok(together > 1.15 * (bytes(prose + dump + prose) / 4), `${together}`)
  assert.ok(Math.abs(together / apart - 1) < 0.25, `${together} and ${apart}`)
})

test("a window inside a run does not begin a new one", () => {
  assert.ok(rate("1234567890".repeat(100)) < 0.26)
})

test("columns as wide as the distance between windows are all seen", () => {
  for (let width = 96; width <= 160; width++) {
    const row = `${"9f86d081884c7d65".repeat(10).slice(0, width / 2)}${" ".repeat(width)}`.slice(0, width - 1)
    const measured = rate(`${row}\n`.repeat(96))
    assert.ok(measured > 0.28 && measured < 0.52, `${measured} at ${width}`)
  }
})

test("JSON is four bytes per token, with its quotes and separators", () => {
  assert.equal(jsonTokens({ a: "bc", d: [1, true, null] }), JSON.stringify({ a: "bc", d: [1, true, null] }).length / 4)
  assert.equal(jsonTokens("0f".repeat(100)), 202 / 4)
  assert.equal(jsonTokens({}), 0.5)
})
