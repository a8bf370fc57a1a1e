import { getBase58Decoder, getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit"
import { ApiError } from "@svc/errors"
import fc from "fast-check"
import { beforeAll, expect, test } from "vitest"
import { checkMessage, checkSigned, checkTransaction, decodeBase64 } from "../src/wire.ts"
import { memo, messageOf, transfer, unsigned } from "@svc/testing/solana"
import { anySigner, signedTransaction } from "./transactions.ts"

const codeOf = async (run: () => unknown): Promise<string> => {
  try {
    await run()
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
  return "ok"
}

type Get = () => Uint8Array
const bytesOf = (wire: string): Uint8Array => Buffer.from(wire, "base64")
const wires: Uint8Array[] = []
const [v0, v1] = [1, 2].map((at) => () => wires[at] ?? new Uint8Array()) as [Get, Get]

beforeAll(async () => {
  const payer = await anySigner()
  const instructions = [transfer(payer.address, payer.address, 1n), memo(new Uint8Array(40))]
  for (const version of ["legacy", 0, 1] as const) {
    wires.push(bytesOf(await signedTransaction(payer, instructions, { version })))
  }
})

test("only canonical base64 is accepted", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const text = Buffer.from(bytes).toString("base64")
      expect(Buffer.from(decodeBase64(text, "x", 64))).toEqual(Buffer.from(bytes))
      for (const other of [` ${text}`, `${text}\n`, `${text}=`, `${text}!`]) {
        expect(() => decodeBase64(other, "x", 64)).toThrow(ApiError)
      }
    }),
  )
  for (const text of ["QQ", "QQ=", "QR==", "Q===", "-_-_", "QQ==QQ=="]) {
    expect(await codeOf(() => decodeBase64(text, "x", 64))).toBe("invalid_base64")
  }
  expect(await codeOf(() => decodeBase64("AAAA", "x", 2))).toBe("transaction_too_large")
  // Of whatever version.
  expect(decodeBase64(Buffer.alloc(4096, 1).toString("base64"), "x", 4096)).toHaveLength(4096)
})

test("the id of a signed transaction is the base58 of its first signature", async () => {
  for (const wire of wires) {
    const signature = Object.values(getTransactionDecoder().decode(wire).signatures)[0] ?? expect.fail("unsigned")
    for (const verify of ["none", "structure", "signatures"] as const) {
      expect(await checkSigned(wire, verify)).toBe(getBase58Decoder().decode(signature))
    }
  }
})

test("bytes with a wrong signature count, or without a message, aren't a transaction", async () => {
  const count = (value: number[], rest = v0().subarray(1)) => Uint8Array.from([...value, ...rest])
  for (const bytes of [
    new Uint8Array(),
    count([0]),
    count([65], new Uint8Array(65 * 64 + 1)),
    // Not minimal: 1 as two bytes.
    count([0x81, 0x00]),
    count([0x80, 0x01]),
    v0().subarray(0, 65),
    v0().subarray(0, 30),
  ]) {
    expect(await codeOf(() => checkSigned(bytes, "none"))).toBe("invalid_transaction")
    expect(await codeOf(() => checkTransaction(bytes, "none"))).toBe("invalid_transaction")
  }
  expect(await codeOf(() => checkSigned(Uint8Array.from([64, ...Array(64 * 64 + 1).fill(1)]), "none"))).toBe("ok")
})

test("bytes that start with neither a count nor version 1 are rejected with the accepted versions", async () => {
  for (const first of [0, 0x41, 0x80, 0x82, 0xff]) {
    for (const verify of ["none", "structure", "signatures"] as const) {
      const refused = checkSigned(Uint8Array.from([first, ...v1().subarray(1)]), verify)
      await expect(refused).rejects.toMatchObject({
        code: "invalid_transaction",
        details: { reason: expect.stringMatching(/legacy and version 0.*0x81 \(version 1\)/) },
      })
    }
  }
})

test("version 1: as many signatures at the end as its header requires, none zero on a send, and no byte missing", async () => {
  for (const verify of ["none", "structure"] as const) {
    const bare = bytesOf(unsigned(Buffer.from(v1()).toString("base64")))
    expect(await codeOf(() => checkSigned(bare, verify))).toBe("unsigned_transaction")
    expect(await codeOf(() => checkTransaction(bare, verify))).toBe("ok")
    for (const count of [0, 65, 255]) {
      const wrong = Uint8Array.from(v1())
      wrong[1] = count
      expect(await codeOf(() => checkTransaction(wrong, verify))).toBe("invalid_transaction")
    }
    expect(await codeOf(() => checkTransaction(v1().subarray(0, 67), verify))).toBe("invalid_transaction")
  }
  // Inside the older envelope: a message that only a newer validator may read.
  const behind = Uint8Array.from([1, ...v1().subarray(-64), ...v1().subarray(0, -64)])
  expect(await codeOf(() => checkTransaction(behind, "structure"))).toBe("invalid_transaction")
  expect(await codeOf(() => checkTransaction(behind, "none"))).toBe("ok")
})

test("a send requires every signature, a simulation none", async () => {
  const two = Uint8Array.from([2, ...Array(64).fill(1), ...Array(64).fill(0), 1])
  expect(await codeOf(() => checkSigned(two, "none"))).toBe("unsigned_transaction")
  expect(await codeOf(() => checkTransaction(two, "none"))).toBe("ok")
  const bare = bytesOf(unsigned(Buffer.from(v0()).toString("base64")))
  expect(await codeOf(() => checkSigned(bare, "structure"))).toBe("unsigned_transaction")
  expect(await codeOf(() => checkTransaction(bare, "structure"))).toBe("ok")
})

test("structure: a message of another version passes only with `none`", async () => {
  for (const version of [0x81, 0x82, 0xff]) {
    const newer = Uint8Array.from(v0())
    newer[65] = version
    expect(await codeOf(() => checkSigned(newer, "none"))).toBe("ok")
    expect(await codeOf(() => checkSigned(newer, "structure"))).toBe("invalid_transaction")
    expect(await codeOf(() => checkMessage(newer.subarray(65), "structure"))).toBe("invalid_transaction")
  }
})

test("the message of a fee must not be empty, and with structure must be whole", async () => {
  const message = bytesOf(messageOf(Buffer.from(v0()).toString("base64")))
  expect(getCompiledTransactionMessageDecoder().decode(message).version).toBe(0)
  expect(await codeOf(() => checkMessage(new Uint8Array(), "none"))).toBe("invalid_transaction")
  expect(await codeOf(() => checkMessage(Uint8Array.of(7), "none"))).toBe("ok")
  expect(await codeOf(() => checkMessage(message, "structure"))).toBe("ok")
  expect(await codeOf(() => checkMessage(message.subarray(1), "structure"))).toBe("invalid_transaction")
  expect(await codeOf(() => checkMessage(Uint8Array.from([...message, 1]), "structure"))).toBe("invalid_transaction")
})

test("signatures: one changed bit anywhere in a signature or the message is detected", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 1, 2), fc.nat(), fc.integer({ min: 0, max: 7 }), async (which, place, bit) => {
      const wire = Uint8Array.from(wires[which] ?? [])
      const at = 1 + (place % (wire.length - 1))
      wire[at] = (wire[at] ?? 0) ^ (1 << bit)
      const code = await codeOf(() => checkSigned(wire, "signatures"))
      expect(["signature_verification_failed", "invalid_transaction"]).toContain(code)
    }),
  )
})
