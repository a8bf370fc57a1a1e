import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { expect, test } from "vitest"
import { normaliseName } from "../src/auth/name.ts"
import { normaliseOrigin } from "../src/auth/origin.ts"
import { normaliseWebsocketUrl } from "../src/registry/websocket-url.ts"

test("a name is composed, trimmed, and every run of white space is one space", () => {
  expect(normaliseName("  Data\u00a0\u2003\n\tAgent\u0085 ")).toBe("Data Agent")
  expect(normaliseName("e\u0301")).toBe("é")
})

test("emoji and scripts that need joiners keep them", () => {
  for (const name of ["👩‍👩‍👧", "❤️", "नी\u200dति", "می\u200cخواهم"])
    expect(normaliseName(name)).toBe(name.normalize("NFC"))
})

test("a name without a visible character, or with control, direction, zero-width or unpaired ones, is refused", () => {
  const bad = [
    "",
    " \t ",
    "\0",
    "a\u0007b",
    "\u200d",
    "a\u200bb",
    "\ufeffa",
    "a\u202eb",
    "\u2066a",
    "a\u00adb",
    "\ud800",
    "a\udc00b",
  ]
  for (const name of bad) expect(normaliseName(name), JSON.stringify(name)).toBeUndefined()
})

test("the length of a name is counted in code points: 64 are taken, 65 are not", () => {
  for (const letter of ["x", "😀"]) {
    expect(normaliseName(letter.repeat(64))).toBe(letter.repeat(64))
    expect(normaliseName(letter.repeat(65))).toBeUndefined()
  }
})

test("whatever is given, a name that is taken stays the same when given again, and fits its bounds", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 80 }), (text) => {
      const name = normaliseName(text)
      if (name === undefined) return
      expect(normaliseName(name)).toBe(name)
      expect(Array.from(name).length).toBeLessThanOrEqual(64)
      expect(name.isWellFormed()).toBe(true)
    }),
  )
})

test("an origin is kept as browsers send it: lower case, without default port or trailing slash", () => {
  const good = {
    "https://App.Example.COM": "https://app.example.com",
    "HTTPS://example.com:443/": "https://example.com",
    "http://example.com:80": "http://example.com",
    "http://localhost:3000/": "http://localhost:3000",
    "https://[::1]:8443": "https://[::1]:8443",
    "https://münchen.example": "https://xn--mnchen-3ya.example",
  }
  for (const [given, origin] of Object.entries(good)) expect(normaliseOrigin(given)).toEqual({ origin })
})

test("text without http:// or https:// in front is no origin's scheme", () => {
  for (const text of [
    "*",
    "null",
    "",
    "example.com",
    "ftp://example.com",
    "//example.com",
    " https://a.com",
    "https:/a.com",
  ]) {
    expect(normaliseOrigin(text)).toEqual({ fault: "origin-invalid-scheme" })
  }
})

test("an origin with a path, query, fragment, user or wildcard is refused, however it is spelled", () => {
  const bad = ["/x", "//", "?", "?a", "#", "#a", "\\", ":99999", " ", "\t", "\0"].map((tail) => `https://a.com${tail}`)
  bad.push(
    "https://",
    "https://u@a.com",
    "https://@a.com",
    "https://*.a.com",
    "https://%2A.a.com",
    `https://${"a".repeat(300)}.com`,
  )
  for (const text of bad) expect(normaliseOrigin(text), text).toEqual({ fault: "invalid-origin" })
})

test("an origin that is taken is exactly what a URL parser gives as its origin", () => {
  fc.assert(
    fc.property(fc.webUrl({ validSchemes: ["http", "https"] }), fc.string({ unit: anyCharacter }), (url, text) => {
      for (const candidate of [url, URL.parse(url)?.origin ?? "", `https://${text}`]) {
        const result = normaliseOrigin(candidate)
        if ("origin" in result) expect(URL.parse(result.origin)?.origin).toBe(result.origin)
      }
    }),
  )
})

test("websocket URLs that mean the same stream have one spelling", () => {
  const same = ["wss://Stream.Example.com/a/", "wss://stream.example.com:443/a", "WSS://stream.example.com/a"]
  expect(new Set(same.map(normaliseWebsocketUrl))).toEqual(new Set(["wss://stream.example.com/a"]))
  expect(normaliseWebsocketUrl("ws://h/")).toBe("ws://h")
  expect(normaliseWebsocketUrl("ws://h/a?b=1")).toBe("ws://h/a?b=1")
})

test("what is no ws:// or wss:// URL, or carries a user or a fragment, is no stream", () => {
  for (const text of [
    "",
    "x",
    "http://a",
    "wss://",
    "ws://u@a",
    "ws://u:p@a",
    "ws://a/#x",
    "ws://a/#",
    `ws://a/${"a".repeat(3000)}`,
  ]) {
    expect(normaliseWebsocketUrl(text), text).toBeUndefined()
  }
})
