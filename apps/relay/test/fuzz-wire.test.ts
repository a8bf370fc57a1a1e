import { full } from "@svc/testing"
import {
  addSignersToInstruction,
  getCompiledTransactionMessageDecoder,
  getShortU16Decoder,
  getTransactionDecoder,
} from "@solana/kit"
import { ApiError } from "@svc/errors"
import fc from "fast-check"
import { beforeAll, expect, test } from "vitest"
import { checkMessage, checkSigned, checkTransaction } from "../src/wire.ts"
import { memo, transfer } from "@svc/testing/solana"
import { anySigner, signedTransaction } from "./transactions.ts"

const runs = full ? 1_000_000 : 2_000
const transactions = getTransactionDecoder()
const messages = getCompiledTransactionMessageDecoder()
const length = getShortU16Decoder()

const does = (run: () => unknown): boolean => {
  try {
    run()
    return true
  } catch {
    return false
  }
}

/** The end of a legacy or v0 message, found without the tested decoder; undefined if bytes are missing. */
const messageEnd = (bytes: Uint8Array): number | undefined => {
  const versioned = ((bytes[0] ?? 0) & 0x80) !== 0
  let at = versioned ? 1 : 0
  const list = (each: () => void): void => {
    const [count, next] = length.read(bytes, at)
    at = next
    for (let i = 0; i < count && at <= bytes.length; i++) each()
  }
  const skip = (count: number) => (): void => void (at += count)
  try {
    at += 3
    list(skip(32))
    at += 32
    list(() => {
      at += 1
      list(skip(1))
      list(skip(1))
    })
    if (versioned) {
      list(() => {
        at += 32
        list(skip(1))
        list(skip(1))
      })
    }
  } catch {
    return undefined
  }
  return at > bytes.length ? undefined : at
}

/** The same for a version 1 message, in which all lengths come before the lists. */
const messageEndV1 = (bytes: Uint8Array): number | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const mask = view.getUint32(4, true)
    const [instructions, addresses] = [view.getUint8(40), view.getUint8(41)]
    let at = 42 + addresses * 32
    for (const [bits, size] of [
      [0b11, 8],
      [0b100, 4],
      [0b1000, 4],
      [0b10000, 4],
    ] as const) {
      if ((mask & bits) === bits) at += size
    }
    let payloads = 0
    for (let i = 0; i < instructions; i++)
      payloads += view.getUint8(at + i * 4 + 1) + view.getUint16(at + i * 4 + 2, true)
    const end = at + instructions * 4 + payloads
    return end > bytes.length ? undefined : end
  } catch {
    return undefined
  }
}

const mayPassV1 = (bytes: Uint8Array): boolean => {
  const count = bytes[1] ?? 0
  if (count < 1 || count > 64 || bytes.length < count * 64 + 4) return false
  const message = bytes.subarray(0, -count * 64)
  if (!does(() => transactions.decode(bytes)) || !does(() => messages.decode(message))) return false
  return messageEndV1(message) === message.length && (message[41] ?? 0) >= count
}

/** Whether `structure` must accept the bytes: if kit does, apart from the named checks. */
const mayPass = (bytes: Uint8Array): boolean => {
  if (bytes[0] === 0x81) return mayPassV1(bytes)
  const count = bytes[0] ?? 0
  if (count < 1 || count > 64 || bytes.length <= 1 + count * 64) return false
  const message = bytes.subarray(1 + count * 64)
  const first = message[0] ?? 0
  if (!does(() => transactions.decode(bytes)) || !does(() => messages.decode(message))) return false
  const signers = (first & 0x80) === 0 ? first : (message[1] ?? 0)
  return first !== 0x81 && messageEnd(message) === message.length && signers === count
}

const codes = new Set(["invalid_transaction", "unsigned_transaction"])
const accepts = async (run: () => unknown): Promise<boolean> => {
  try {
    await run()
    return true
  } catch (error) {
    if (!(error instanceof ApiError) || !codes.has(error.code)) throw error
    return false
  }
}

let seeds: Buffer[]
beforeAll(async () => {
  const [payer, other] = [await anySigner(), await anySigner()]
  const byBoth = addSignersToInstruction([other], transfer(other.address, payer.address, 1n))
  const wires = await Promise.all([
    signedTransaction(payer, [memo(new Uint8Array(1))], { version: "legacy" }),
    signedTransaction(payer, [transfer(payer.address, other.address, 1n), memo(new Uint8Array(300))]),
    signedTransaction(payer, []),
    signedTransaction(payer, [byBoth], { version: "legacy" }),
    signedTransaction(payer, [transfer(payer.address, other.address, 1n), memo(new Uint8Array(9))], { version: 1 }),
    signedTransaction(payer, [byBoth], { version: 1 }),
  ])
  seeds = wires.map((wire) => Buffer.from(wire, "base64"))
  // A v0 message with an address lookup table.
  const plain = seeds[2] ?? Buffer.alloc(0)
  seeds.push(
    Buffer.concat([plain.subarray(0, -1), Buffer.from([1]), Buffer.alloc(32, 7), Buffer.from([2, 0, 1, 1, 2])]),
  )
})

type Mutation = {
  readonly kind: "set" | "cut" | "insert" | "remove" | "append"
  readonly at: number
  readonly byte: number
}

const mutate = (bytes: Uint8Array, { kind, at, byte }: Mutation): Uint8Array => {
  // Half of the places are in the message, which has the most structure.
  const start = at % 2 === 0 || bytes[0] === 0x81 ? 0 : Math.min(1 + (bytes[0] ?? 0) * 64, bytes.length)
  const place = start + (Math.floor(at / 2) % Math.max(1, bytes.length - start))
  switch (kind) {
    case "set":
      return Uint8Array.from(bytes).fill(byte, place, place + 1)
    case "cut":
      return bytes.subarray(0, place)
    case "insert":
      return Uint8Array.from([...bytes.subarray(0, place), byte, ...bytes.subarray(place)])
    case "remove":
      return Uint8Array.from([...bytes.subarray(0, place), ...bytes.subarray(place + 1)])
    case "append":
      break
  }
  return Uint8Array.from([...bytes, byte])
}

const mutation = fc.record({
  kind: fc.constantFrom("set", "set", "set", "cut", "insert", "remove", "append"),
  at: fc.nat(3000),
  byte: fc.oneof(fc.nat(4), fc.constantFrom(0x7f, 0x80, 0x81, 0xff), fc.nat(255)),
}) satisfies fc.Arbitrary<Mutation>

test(`${runs} mutated transactions: no crash, and structure rejects exactly what kit or a named check rejects`, async () => {
  let passed = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(6), fc.array(mutation, { maxLength: 3 }), async (which, mutations) => {
      const bytes = mutations.reduce<Uint8Array>(mutate, seeds[which] ?? new Uint8Array())
      const expected = mayPass(bytes)
      const got = await accepts(() => checkTransaction(bytes, "structure"))
      if (got !== expected) expect([got, Buffer.from(bytes).toString("hex")]).toEqual([expected, ""])
      if (got) passed++
      const signed = await accepts(() => checkSigned(bytes, "structure"))
      if (signed && !got) expect.fail("a send passed that its simulation did not")
      await accepts(() => checkMessage(bytes, "structure"))
    }),
    { numRuns: runs },
  )
  expect(passed).toBeGreaterThan(runs / 50)
  expect(passed).toBeLessThan(runs)
})
