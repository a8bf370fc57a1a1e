import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { expect, test } from "vitest"
import { normaliseName } from "../src/auth/name.ts"
import { normaliseOrigin } from "../src/auth/origin.ts"
import { normaliseWebsocketUrl } from "../src/registry/websocket-url.ts"

test("a name is normalised and trimmed with single spaces, and joiners of emoji and scripts stay", () => {
  expect(normaliseName("  Data\u00a0\u2003\n\tAgent\u0085 ")).toBe("Data Agent")
  for (const name of ["e\u0301", "👩‍👩‍👧", "❤️", "नी\u200dति", "می\u200cخواهم"])
    expect(normaliseName(name)).toBe(name.normalize("NFC"))
})

test("a name without a visible character, or with control, direction, zero-width or unpaired ones, is rejected", () => {
  for (const text of ["", " \t ", "\u200d", "\ufeffa", "\ud800", "a\udc00b"])
    expect(normaliseName(text), JSON.stringify(text)).toBeUndefined()
  for (const hidden of "\0\u0007\u200b\u202e\u2066\u00ad")
    expect(normaliseName(`a${hidden}b`), JSON.stringify(hidden)).toBeUndefined()
})

test("a name may have 64 code points, but not 65", () => {
  for (const letter of ["x", "😀"]) {
    expect(normaliseName(letter.repeat(64))).toBe(letter.repeat(64))
    expect(normaliseName(letter.repeat(65))).toBeUndefined()
  }
})

test("an accepted name stays the same when passed again, and fits its limits", () => {
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

test("an origin is stored as browsers send it: lower case, without default port or trailing slash", () => {
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

test("an origin must start with http:// or https://", () => {
  const schemes = ["", "ftp://", "//", " https://", "https:/"].map((scheme) => `${scheme}example.com`)
  for (const text of ["*", "null", "", ...schemes])
    expect(normaliseOrigin(text)).toEqual({ fault: "origin-invalid-scheme" })
})

test("an origin with a path, query, fragment, user or wildcard is rejected in any spelling", () => {
  const tails = ["/x", "//", "?", "?a", "#", "#a", "\\", ":99999", " ", "\t", "\0"].map((tail) => `a.com${tail}`)
  const hosts = ["", "u@a.com", "@a.com", "*.a.com", "%2A.a.com", `${"a".repeat(300)}.com`]
  for (const text of [...tails, ...hosts])
    expect(normaliseOrigin(`https://${text}`), text).toEqual({ fault: "invalid-origin" })
})

test("an accepted origin is exactly what a URL parser returns as its origin", () => {
  fc.assert(
    fc.property(fc.webUrl({ validSchemes: ["http", "https"] }), fc.string({ unit: anyCharacter }), (url, text) => {
      for (const candidate of [url, URL.parse(url)?.origin ?? "", `https://${text}`]) {
        const result = normaliseOrigin(candidate)
        if ("origin" in result) expect(URL.parse(result.origin)?.origin).toBe(result.origin)
      }
    }),
  )
})

test("WebSocket URLs of the same stream have one spelling", () => {
  const same = ["wss://Stream.Example.com/a/", "wss://stream.example.com:443/a", "WSS://stream.example.com/a"]
  expect(new Set(same.map(normaliseWebsocketUrl))).toEqual(new Set(["wss://stream.example.com/a"]))
  expect(normaliseWebsocketUrl("ws://h/")).toBe("ws://h")
  expect(normaliseWebsocketUrl("ws://h./%74r%61%2d%c3//?%61=%2f")).toBe("ws://h/tra-%C3?a=%2F")
  expect(normaliseWebsocketUrl("ws://h/a?b=1")).toBe("ws://h/a?b=1")
})

test("a stream URL must use ws:// or wss://, without user or fragment, and be short even with percent signs", () => {
  const long = ["a".repeat(3000), "é".repeat(1000)].map((path) => `a/${path}`)
  const odd = ["u@a", "u:p@a", "a/#x", "a/#", ...long].map((rest) => `ws://${rest}`)
  for (const text of ["", "x", "http://a", "wss://", ...odd]) expect(normaliseWebsocketUrl(text), text).toBeUndefined()
})
