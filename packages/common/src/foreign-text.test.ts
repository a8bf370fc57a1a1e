import { expect, test } from "vitest"
import { oneLine, shellWord, visibleJson, withoutUnseen } from "./foreign-text.ts"

const hidden = [
  ["direction marks and tags", "\u061c\u200b\u200e\u202e\u2066\u{e0041}"],
  ["fillers and signs that are shown as nothing", "\u00ad\u034f\u115f\u17b4\u180e\u3164\uffa0\ufff9\u{1d173}\u{e0fff}"],
  ["bytes as variation selectors", "\ufe00\ufe0f\u{e0100}\u{e01ef}"],
  ["bits as joiners", "\u200c\u200d\u200d\u200c"],
  ["bits as joiners between selectors", "\u200d\ufe0f\u200c\ufe0f\u200d\ufe0f"],
] as const

test.each(hidden)("text has no %s, and JSON and commands show them", (_, signs) => {
  expect(withoutUnseen(`a${signs}b`)).toBe("ab")
  const apart = Array.from(signs, (sign) => `a${sign}`)
  expect(withoutUnseen(apart.join(""))).toBe("a".repeat(apart.length))
  const json = JSON.stringify({ a: `a${signs}b` })
  expect(visibleJson(json)).toMatch(/^[\x20-\x7e]*$/)
  expect(JSON.parse(visibleJson(json))).toEqual(JSON.parse(json))
  expect(shellWord(`a${signs}b`)).toMatch(/^[\x20-\x7e]*$/)
})

test("joiners and selectors of scripts and emoji stay", () => {
  for (const text of ["👩‍👩‍👧", "❤️‍🔥", "1️⃣", "नी\u200dति", "می\u200cخواهم", "葛\u{e0100}", "ᠠ\u180b"]) {
    expect(withoutUnseen(text)).toBe(text)
    expect(oneLine(text)).toBe(text)
  }
})
