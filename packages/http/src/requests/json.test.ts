import { anyCharacter } from "@svc/testing"
import fc from "fast-check"
import { expect, test } from "vitest"
import { jsonText } from "./json-body.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

test("every JSON value survives", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: anyCharacter }), (text) => {
      expect(jsonText(bytes(text), {}).value).toEqual(JSON.parse(text))
    }),
  )
})

test.each([
  ["a byte order mark", [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
  ["bytes that are not UTF-8", [0x22, 0xff, 0x22]],
  ["nothing", []],
  ["half a document", [0x7b]],
  ["a duplicate key", [...bytes('{"a":1,"\\u0061":2}')]],
])("%s is rejected", (_, list) => {
  expect(() => jsonText(Uint8Array.from(list), {})).toThrow("invalid-json")
})

test("the deepest nesting that fits in a body neither overflows nor hangs", () => {
  const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`
  expect(() => jsonText(bytes(deep), {})).not.toThrow()
})

test("a text with more values than allowed is rejected before it is parsed", () => {
  expect(jsonText(bytes("[1,2]"), { maxValues: 3 })).toEqual({ text: "[1,2]", value: [1, 2] })
  expect(() => jsonText(bytes("[1,2,3"), { maxValues: 3 })).toThrow("invalid")
})
