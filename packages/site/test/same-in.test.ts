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
/** What a program is given when a reader pastes a command. */
const wordsOf = (command: string): readonly string[] => {
  const programs = String.raw`curl() { :; }; jq() { :; }; npx() { printf '%s\0' "$@"; }; websocat() { printf '%s\0' "$@"; }`
  return execFileSync("bash", ["-c", `${programs}\n${command}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1)
}
const special = "a1 ;|&$(){}<>'\"`\\!*~#\n"
const word = fc.string({ unit: fc.constantFrom(...special.split("")), minLength: 1, maxLength: 12 })

test("a pasted command runs nothing that a stack's owner or a record wrote into a URL, a view or a key", () => {
  fc.assert(
    fc.property(word, word, word, (path, view, recordKey) => {
      const websocketUrl = `wss://streams.example.com/${path}`
      const texts = sameIn({ ...watching, websocketUrl, view, recordKey })
      const words = wordsOf(texts["Command line"])
      expect([words[3], words[5]]).toEqual([view, recordKey])
      // The last line is the message to send.
      expect(wordsOf(texts.WebSocket.slice(0, texts.WebSocket.lastIndexOf("\n")))[0]).toBe(websocketUrl)
    }),
    { numRuns: 50 },
  )
})
