import { full } from "@svc/testing"
import { AccountRole, address, createKeyPairSignerFromPrivateKeyBytes, type Instruction } from "@solana/kit"
import { isSignature } from "@svc/common/transaction-parts"
import { signTransaction, systemProgram as system } from "@svc/testing/solana"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createJournal, createRelay, memoryStore, settle, signatureOf, submit, SvcError } from "../src/index.ts"
import { readPayment } from "../src/journal/payment.ts"
import { readSigned } from "../src/relay/wire.ts"
import { createPayer, newAddress } from "./payments.ts"

const payer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(7))
const other = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(8))
const [one, two] = [address(newAddress()), address(newAddress())]
const table = address(newAddress())
const blockhash = newAddress()

const pay = (data: readonly number[] = [2, 0, 0, 0, 5], to = one, role = AccountRole.WRITABLE): Instruction => ({
  programAddress: system,
  accounts: [
    { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
    { address: to, role },
  ],
  data: Uint8Array.from(data),
})
const bare: Instruction = { programAddress: system, accounts: [{ address: one, role: AccountRole.WRITABLE }] }
const limit: Instruction = {
  programAddress: address("ComputeBudget111111111111111111111111111111"),
  data: Uint8Array.of(2, 1, 2, 3, 4),
}

type Signing = { version?: "legacy" | 0 | 1; by?: typeof payer; hash?: string; inTable?: boolean; fee?: bigint }

/** What kit signs. */
const sign = (
  instructions: readonly Instruction[],
  { version = 0, by = payer, hash = blockhash, inTable = false, fee = 0n }: Signing = {},
) => {
  const config = { computeUnitLimit: 1000, priorityFeeLamports: fee }
  const tables = inTable ? { [table]: [two, one] } : {}
  return signTransaction(by, instructions, { blockhash: hash, version, tables, config })
}

/** The same, as the library reads it. */
const read = async (...signing: Parameters<typeof sign>) => readPayment((await sign(...signing)).base64)

const fingerprintOf = async (...args: Parameters<typeof read>): Promise<string> =>
  (await read(...args)).facts.fingerprint

test("version, blockhash, compute budget and fees don't change the fingerprint", async () => {
  const same = await Promise.all([
    fingerprintOf([pay()]),
    fingerprintOf([pay()], { hash: newAddress() }),
    fingerprintOf([limit, pay()]),
    fingerprintOf([pay(), limit], { version: "legacy" }),
    fingerprintOf([pay()], { version: "legacy" }),
    fingerprintOf([pay()], { version: 1 }),
    fingerprintOf([pay()], { version: 1, fee: 900n }),
  ])
  expect(new Set(same).size).toBe(1)
})

test("payer, program, accounts, their flags, their order, data and lookup tables change it", async () => {
  const different = await Promise.all([
    fingerprintOf([pay()]),
    fingerprintOf([bare]),
    fingerprintOf([bare], { by: other }),
    fingerprintOf([pay([2, 0, 0, 0, 6])]),
    fingerprintOf([pay([2, 0, 0, 0, 5], two)]),
    fingerprintOf([pay([2, 0, 0, 0, 5], one, AccountRole.READONLY)]),
    fingerprintOf([pay(), pay()]),
    fingerprintOf([pay(), pay([], two)]),
    fingerprintOf([pay([], two), pay()]),
    fingerprintOf([{ ...pay(), programAddress: two }]),
    fingerprintOf([{ ...pay(), accounts: (pay().accounts ?? []).toReversed() }]),
    fingerprintOf([pay()], { inTable: true }),
    fingerprintOf([pay([2, 0, 0, 0, 5], two)], { inTable: true }),
  ])
  expect(new Set(different).size).toBe(different.length)
})

test("signature, payer, accounts, programs and blockhash of every version are read as kit wrote them", async () => {
  for (const version of ["legacy", 0, 1] as const) {
    const { base64, signature } = await sign([pay(), pay([], two)], { version })
    for (const form of [base64, Uint8Array.from(Buffer.from(base64, "base64"))]) {
      expect(await readPayment(form)).toMatchObject({
        base64,
        signature,
        blockhash,
        facts: {
          fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
          payer: payer.address,
          accounts: [payer.address, one, two],
          programs: [system],
        },
      })
    }
  }
  const { facts } = await read([pay()], { inTable: true })
  expect(facts.accounts).toEqual([payer.address, `${table}[1]`])
})

test("a transaction with a durable nonce is recognised by its first instruction, in every version", async () => {
  const advance = pay([4, 0, 0, 0])
  const nonce = { code: "durable-nonce", submissionState: "not_submitted" }
  for (const version of ["legacy", 0, 1] as const) {
    await expect(read([advance, pay()], { version })).rejects.toMatchObject(nonce)
    await expect(read([pay([4, 0, 0, 0, 9])], { version })).rejects.toMatchObject(nonce)
    await read([pay(), advance], { version })
    await read([limit, advance], { version })
  }
})

test("every function that sends or settles rejects a nonce, and bytes that changed after signing, before any request", async () => {
  const signed = createPayer().transfer({ recipient: one, lamports: 5n, blockhash })
  const nonce = await sign([pay([4, 0, 0, 0])])
  const relay = createRelay({
    relayUrl: "http://127.0.0.1:1",
    session: { token: () => Promise.reject(new Error("asked")) },
  })
  const journal = createJournal({ relay, store: memoryStore() })
  // Another amount, another recipient, another blockhash, another payer.
  const changed = [signed.length - 8, 65 + 40, 65 + 110, 65 + 6].map((at) =>
    Uint8Array.from(signed).with(at, (signed[at] ?? 0) ^ 1),
  )
  for (const transaction of [...changed, nonce.base64]) {
    const code = transaction === nonce.base64 ? "durable-nonce" : "signature_verification_failed"
    const signature = transaction === nonce.base64 ? nonce.signature : signatureOf(signed)
    expect(signatureOf(transaction)).toBe(signature)
    const refusal = { code, submissionState: "not_submitted" }
    await expect(journal.submitOnce("a", transaction)).rejects.toMatchObject(refusal)
    const ended = await submit(relay, { transaction, lastValidBlockHeight: 1n })
    expect(ended).toMatchObject({ state: "not-submitted", error: refusal })
    const settling = settle(relay, { signature, resend: transaction, lastValidBlockHeight: 1n })
    await expect(settling).rejects.toMatchObject(refusal)
  }
  expect(await journal.list()).toEqual([])
})

test("any bytes or text are a payment, or an error that proves that nothing was sent", async () => {
  const whole = createPayer().transfer({ recipient: one, lamports: 1n, blockhash })
  const changed = fc
    .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((changes) => changes.reduce((bytes, [at, byte]) => bytes.with(at, byte), Uint8Array.from(whole)))
  const cut = fc.nat(whole.length).map((size) => Uint8Array.from(whole.subarray(0, size)))
  // One signature, and a legacy message that claims 2^35 accounts, more than an array can have.
  const hugeCount = Uint8Array.of(1, ...new Uint8Array(64).fill(1), 1, 0, 0, 255, 255, 255, 255, 255, 127, 1)
  const version1 = fc.uint8Array({ minLength: 130, maxLength: 300 }).map((rest) => Uint8Array.of(0x81, 1, ...rest))
  const tagged = fc
    .tuple(fc.constantFrom(0, 1, 2, 64, 65, 0x80, 0x81, 0x82), fc.uint8Array({ maxLength: 1400 }))
    .map(([tag, rest]) => Uint8Array.of(tag, ...rest))
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, cut, version1, tagged, fc.string(), fc.base64String()), async (given) => {
      try {
        expect(isSignature(readSigned(given).signature)).toBe(true)
        expect((await readPayment(given)).facts.fingerprint).toHaveLength(64)
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        expect(error).toMatchObject({
          status: 0,
          submissionState: "not_submitted",
          retryable: false,
          code: expect.stringMatching(/^(?:invalid_|un|signature_|transaction_too_large|durable-nonce)/),
        })
      }
    }),
    { numRuns: full ? 100_000 : 2000, examples: [[hugeCount]] },
  )
})
