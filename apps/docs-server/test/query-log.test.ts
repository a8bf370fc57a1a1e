import fc from "fast-check"
import { expect, test } from "vitest"
import { loggedQuery } from "../src/query-log.ts"

test("what readers look for is logged as they wrote it", () => {
  for (const query of ["rate limits", "error -32002", "SVC_DOCS_DIR", "getLatestBlockhash u64", "wie groß 429 /mcp"]) {
    expect(loggedQuery(query).query).toBe(query)
  }
})

const charsOf = (alphabet: string, minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(...alphabet.split("")), { minLength, maxLength }).map((all) => all.join(""))
const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const secrets = fc.oneof(
  charsOf(base58, 32, 88),
  charsOf("0123456789abcdef", 32, 128),
  charsOf(`${base58}-_`, 20, 40).map((text) => `svc_ak_${text}`),
  charsOf(base58, 4, 12).map((text) => `svc_pk_${text}`),
  charsOf(base58, 20, 60).map((text) => `eyJ${text}.eyJ${text}.${text}`),
  fc.emailAddress(),
  charsOf("0123456789", 6, 19),
  fc.webUrl({ withQueryParameters: true }).filter((url) => url.includes(":")),
)

test("no key, token, hash, address of a wallet or a person, or long number is logged, wherever it stands", () => {
  fc.assert(
    fc.property(secrets, fc.constantFrom("%", "my key % fails", "%\trefused", "what is %"), (secret, frame) => {
      const { query } = loggedQuery(frame.replace("%", () => secret))
      expect(query).not.toContain(secret)
      expect(query).toBe(frame.replace("%", "…").replace("\t", " "))
    }),
    { numRuns: 1000 },
  )
})

test("of more than eight words, as a wallet's recovery phrase has, only their number is logged", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("abandon", "zoo", "legal"), { minLength: 9, maxLength: 30 }), (words) => {
      expect(loggedQuery(words.join(" "))).toEqual({ words: words.length })
    }),
  )
})
