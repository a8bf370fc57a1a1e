import fc from "fast-check"
import { expect, test } from "vitest"
import { SvcError } from "../src/index.ts"
import { isSignature } from "@svc/common/transaction-parts"
import { readSigned } from "../src/relay/wire.ts"
import { signedMemo } from "./transactions.ts"

const runs = process.env["SVC_FUZZ"] === "full" ? 100_000 : 2_000

test("the signature of every version is kit's, from bytes and from base64", async () => {
  for (const version of ["legacy", 0, 1] as const) {
    for (const text of ["", "a", "some more text"]) {
      const { base64, signature } = await signedMemo(version, text)
      expect(readSigned(base64)).toMatchObject({ base64, signature })
      expect(readSigned(Uint8Array.from(Buffer.from(base64, "base64")))).toMatchObject({ base64, signature })
      expect(isSignature(signature)).toBe(true)
    }
  }
})

test("any bytes or text give a signed transaction with its signature, or an error that proves that nothing was sent", () => {
  const bytes = fc.uint8Array({ maxLength: 1400 })
  const tagged = fc
    .tuple(fc.constantFrom(0, 1, 2, 64, 65, 0x80, 0x81, 0x82), bytes)
    .map(([tag, rest]) => Uint8Array.of(tag, ...rest))
  fc.assert(
    fc.property(fc.oneof(bytes, tagged, fc.string(), fc.base64String()), (value) => {
      try {
        expect(isSignature(readSigned(value).signature)).toBe(true)
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        expect(error).toMatchObject({ status: 0, submissionState: "not_submitted", retryable: false })
      }
    }),
    { numRuns: runs },
  )
})
