import fc from "fast-check"
import { expect, test } from "vitest"
import { isSafeForKeys, normaliseUrl } from "./api-url.ts"

test.each([
  ["http://LOCALHOST:4003/", "http://localhost:4003"],
  ["https://api.example:443//", "https://api.example"],
  ["https://api.example/v1/", "https://api.example/v1"],
  ["http://127.1:80", "http://127.0.0.1"],
  ["https://user@api.example", undefined],
  ["https://api.example?x", undefined],
  ["https://api.example/#", undefined],
  ["ftp://api.example", undefined],
  ["api.example", undefined],
  ["", undefined],
])("%j becomes %j", (text, url) => {
  expect(normaliseUrl(text)).toBe(url)
})

test("a normalised URL stays the same when normalised again", () => {
  fc.assert(
    fc.property(fc.webUrl({ withFragments: false }), (text) => {
      const url = normaliseUrl(text)
      expect(url).toBeDefined()
      expect(normaliseUrl(url ?? "")).toBe(url)
    }),
  )
})

test("keys are sent only over https, or unencrypted to this machine", () => {
  for (const url of ["https://a.example", "http://localhost:1", "http://127.9.9.9", "http://[::1]:1"]) {
    expect(isSafeForKeys(url)).toBe(true)
  }
  for (const host of [
    "a.example",
    "localhost.example",
    "127.0.0.1.example",
    "127.a.b.c",
    "[::2]",
    "0.0.0.0",
    "10.0.0.1",
  ]) {
    expect(isSafeForKeys(`http://${host}`)).toBe(false)
  }
})
