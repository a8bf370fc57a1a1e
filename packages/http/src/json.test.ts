import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { BodyError, duplicateKey, parseJson, validate } from "./index.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

test("every JSON value survives, and none is said to have a key twice", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), (text) => {
      expect(parseJson(bytes(text))).toEqual(JSON.parse(new TextDecoder().decode(bytes(text))))
      expect(duplicateKey(JSON.stringify(JSON.parse(text)))).toBeUndefined()
    }),
  )
})

test("a key that stands twice is found wherever it stands and however it is escaped", () => {
  fc.assert(
    fc.property(fc.string(), fc.json(), fc.nat(4), (key, value, depth) => {
      const inner = `{"x${key.length}":[],${JSON.stringify(key)}:${value}, ${JSON.stringify(key)} :1}`
      expect(duplicateKey(`${'[{"a":'.repeat(depth)}${inner}${"}]".repeat(depth)}`)).toBe(key)
    }),
  )
  expect(duplicateKey(String.raw`{"ab":1,"\u0061b":2}`)).toBe("ab")
  expect(duplicateKey(String.raw`{"a\"":1,"a\\":{"a":1},"a":["a","a"]}`)).toBeUndefined()
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
  expect(() => parseJson(bytes(deep), true)).not.toThrow()
})

test("the first failure is named by its path, an unknown key by its own", () => {
  const schema = z.strictObject({ a: z.array(z.strictObject({ b: z.string() })), c: z.number().optional() })
  const faultOf = (value: unknown) => {
    try {
      validate(schema, value)
    } catch (error) {
      if (error instanceof BodyError) return error.fault
    }
    throw new Error("not refused")
  }
  expect(faultOf({ a: [{ b: "x" }, { b: 7 }] })).toMatchObject({ kind: "invalid", path: "a[1].b" })
  expect(faultOf({ a: [], extra: 1 })).toMatchObject({ path: "extra", reason: "is not a known field" })
  expect(faultOf([])).toMatchObject({ path: "" })
  expect(validate(schema, { a: [] })).toEqual({ a: [] })
})
