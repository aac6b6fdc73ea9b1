import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { describePage } from "../../lib/tools/page.ts"

const WHOLE = { offset: 0, limit: 0 }
const FOOTER = /\n\n\(Lines (\d+)-(\d+) of (\d+)\.(?: Call again with offset (\d+) for more\.)?\)$/

/** As the host judges a plugin's answer before it cuts it. */
const isCutByHost = (text: string): boolean => text.split("\n").length > 2_000 || Buffer.byteLength(text) > 51_200

/** Every page, read in the order that the footers give. */
function readAll(text: string, limit: number): string[] {
  const pages: string[] = []
  for (let offset: number | undefined = 1; offset !== undefined;) {
    const page = describePage(text, { offset, limit })
    assert.ok(!isCutByHost(page), "the host would cut this page")
    const [, , , , next] = FOOTER.exec(page) ?? []
    pages.push(page)
    offset = next === undefined ? undefined : Number(next)
    assert.ok(pages.length < 1_000, "the pages do not end")
  }
  return pages
}

/** The pages in turn must be the text: a line's own end stands before the footer where it has one. */
function assertTogether(pages: readonly string[], text: string): void {
  let rest = text
  for (const page of pages) {
    const body = page.replace(FOOTER, "")
    assert.ok(rest.startsWith(body), "a page holds something else than the text that is due")
    rest = rest.slice(body.length + (FOOTER.test(page) && rest.startsWith("\n", body.length) ? 1 : 0))
  }
  assert.equal(rest, "", "something is missing")
}

const exact: [what: string, text: string][] = [
  ["a short text", "a\r\nb\n"],
  ["an empty text", ""],
  ["2,000 lines", "x\n".repeat(1_999)],
  ["51,200 bytes", `${"漢".repeat(17_066)}ab`],
]
for (const [what, text] of exact)
  test(`${what} comes whole, byte for byte`, () => {
    assert.ok(!isCutByHost(text))
    assert.equal(describePage(text, WHOLE), text)
    assert.equal(describePage(text, { offset: 1, limit: 5_000 }), text)
  })

const long: [what: string, text: string][] = [
  ["2,001 lines by the host's count", "x\n".repeat(2_000)],
  ["5,000 lines", Array.from({ length: 5_000 }, (_, index) => `line ${index}`).join("\n")],
  ["51,201 bytes", `${"a".repeat(100)}\n`.repeat(507) + "b"],
  ["lines that fill a page to the last byte", `${"a".repeat(99)}\n`.repeat(600)],
  ["one line of 200,000 bytes", "abcdefghij".repeat(20_000)],
  ["one line of emoji", "🙂".repeat(30_000)],
  ["one line of emoji, one off", `a${"🙂".repeat(30_000)}`],
  ["CJK", "漢字\n".repeat(9_000)],
]
for (const [what, text] of long)
  test(`${what}: pages that the host does not cut, together the text`, () => {
    const pages = readAll(text, 0)
    assert.ok(pages.length > 1)
    for (const page of pages) assert.equal(Buffer.from(page).toString(), page, "a character is cut in two")
    assertTogether(pages, text)
  })

test("a page says which lines it holds and how to go on", () => {
  const text = "a\nb\nc\n"
  assert.equal(
    describePage(text, { offset: 0, limit: 2 }),
    "a\nb\n\n(Lines 1-2 of 3. Call again with offset 3 for more.)",
  )
  assert.equal(describePage(text, { offset: 3, limit: 2 }), "c\n\n(Lines 3-3 of 3.)")
  assert.equal(describePage(text, { offset: 2, limit: 0 }), "b\nc\n\n(Lines 2-3 of 3.)")
  assert.equal(describePage(text, { offset: 4, limit: 0 }), "(There is no line 4: the output has 3 lines.)")
  assert.equal(describePage("a\nb", { offset: 2, limit: 1 }), "b\n\n(Lines 2-2 of 2.)")
})

test("the first page of a long text has as many lines as fit beside the footer", () => {
  const [, last] = /\(Lines 1-(\d+) of/.exec(describePage("x\n".repeat(3_000), WHOLE)) ?? []
  assert.equal(last, "1998")
  assert.equal(/\(Lines 1-(\d+) of/.exec(describePage("x\n".repeat(3_000), { offset: 1, limit: 2_900 }))?.[1], "1998")
})

test("any text in any pages: nothing is lost, nothing is cut by the host", () => {
  const texts = fc
    .array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("\n", "\r\n", "\n\n", "", "x".repeat(12_000))), {
      maxLength: 40,
    })
    .map((pieces) => pieces.join("\n"))
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 7 }), (text, limit) => assertTogether(readAll(text, limit), text)),
    { numRuns: 300 },
  )
})
