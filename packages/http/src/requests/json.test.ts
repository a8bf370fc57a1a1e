import fc from "fast-check"
import { expect, test } from "vitest"
import { parseJson } from "../index.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

test("every JSON value survives", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), (text) => {
      expect(parseJson(bytes(text))).toEqual(JSON.parse(new TextDecoder().decode(bytes(text))))
    }),
  )
})

test.each([
  ["a byte order mark", [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
  ["bytes that are not UTF-8", [0x22, 0xff, 0x22]],
  ["nothing", []],
  ["half a document", [0x7b]],
])("%s is refused", (_, list) => {
  expect(() => parseJson(Uint8Array.from(list))).toThrow(/JSON|encoded/)
})

test("nesting as deep as a body can hold neither overflows nor hangs", () => {
  const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`
  expect(() => parseJson(bytes(deep), { uniqueKeys: true })).not.toThrow()
})

test("a text of more values than allowed is rejected before it is parsed", () => {
  expect(parseJson(bytes("[1,2]"), { maxValues: 3 })).toEqual([1, 2])
  expect(() => parseJson(bytes("[1,2,3"), { maxValues: 3 })).toThrow("must have at most 3 members and elements")
})
