import { execFileSync } from "node:child_process"
import fc from "fast-check"
import { expect, test } from "vitest"
import { sameIn } from "../browser/live/same-in.ts"

const watching = {
  base: "https://docs.example.com",
  api: "https://api.example.com",
  stack: "transfers",
  websocketUrl: "wss://streams.example.com/transfers",
  view: "SolTransfer/list",
  recordKey: "",
  take: 5,
}
const programs = String.raw`curl() { :; }; jq() { :; }; npx() { printf '%s\0' "$@"; }; websocat() { printf '%s\0' "$@"; }`
/** What a program is given when a reader pastes each command: one shell runs them all, and a line of `\x01` ends each. */
const wordsOf = (commands: readonly string[]): readonly (readonly string[])[] => {
  const script = commands.map((command) => `${command}\nprintf '\\1'`).join("\n")
  const printed = execFileSync("bash", ["-c", `${programs}\n${script}`], { encoding: "utf8" })
  return printed.split("\x01").map((words) => words.split("\0").slice(0, -1))
}
const special = "a1 ;|&$(){}<>'\"`\\!*~#\n"
const word = fc.string({ unit: fc.constantFrom(...special.split("")), minLength: 1, maxLength: 12 })

test("a pasted command runs nothing that a stack's owner or a record put into a URL, a view or a key", () => {
  const written = fc.array(fc.tuple(word, word, word), { minLength: 50, maxLength: 50 })
  fc.assert(
    fc.property(written, (cases) => {
      const texts = cases.map(([path, view, recordKey]) =>
        sameIn({ ...watching, websocketUrl: `wss://streams.example.com/${path}`, view, recordKey }),
      )
      const words = wordsOf(texts.map((text) => text["Command line"]))
      // The last line is the message to send.
      const sockets = wordsOf(texts.map(({ WebSocket: text }) => text.slice(0, text.lastIndexOf("\n"))))
      for (const [index, [path, view, recordKey]] of cases.entries()) {
        expect([words[index]?.[4], words[index]?.[6]]).toEqual([view, recordKey])
        expect(sockets[index]?.[0]).toBe(`wss://streams.example.com/${path}`)
      }
    }),
    { numRuns: 1 },
  )
})
