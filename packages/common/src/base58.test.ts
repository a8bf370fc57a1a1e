import { getBase58Decoder } from "@solana/kit"
import fc from "fast-check"
import { expect, test } from "vitest"
import { base58 } from "./base58.ts"

test("base58 matches the Solana library's", () => {
  const kit = getBase58Decoder()
  const zeros = fc.nat(5).map((count) => new Uint8Array(count))
  const parts = fc.tuple(zeros, fc.uint8Array({ maxLength: 64 })).map(([a, b]) => Uint8Array.from([...a, ...b]))
  fc.assert(
    fc.property(parts, (bytes) => {
      expect(base58(bytes)).toBe(kit.decode(bytes))
    }),
    { numRuns: 1000 },
  )
})
