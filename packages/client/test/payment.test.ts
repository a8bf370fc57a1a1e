import { AccountRole, address, createKeyPairSignerFromPrivateKeyBytes, type Instruction } from "@solana/kit"
import { signTransaction, systemProgram as system } from "@svc/testing/solana"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createJournal, createRelay, memoryStore, settle, signatureOf, submit, SvcError } from "../src/index.ts"
import { readPayment } from "../src/journal/payment.ts"
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

/** What kit signs, as the library reads it. */
const read = async (
  instructions: readonly Instruction[],
  {
    version = 0,
    by = payer,
    hash = blockhash,
    inTable = false,
    fee = 0n,
  }: { version?: "legacy" | 0 | 1; by?: typeof payer; hash?: string; inTable?: boolean; fee?: bigint } = {},
) => {
  const config = { computeUnitLimit: 1000, priorityFeeLamports: fee }
  const tables = inTable ? { [table]: [two, one] } : {}
  return readPayment((await signTransaction(by, instructions, { blockhash: hash, version, tables, config })).base64)
}

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

test("payer, accounts, programs and blockhash of every version are read as kit wrote them", async () => {
  for (const version of ["legacy", 0, 1] as const) {
    const { facts, blockhash: found } = await read([pay(), pay([], two)], { version })
    expect({ ...facts, found }).toEqual({
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      payer: payer.address,
      accounts: [payer.address, one, two],
      programs: [system],
      found: blockhash,
    })
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

test("every function that sends or settles rejects bytes that changed after signing, before any request", async () => {
  const signed = createPayer().transfer({ recipient: one, lamports: 5n, blockhash })
  const relay = createRelay({
    relayUrl: "http://127.0.0.1:1",
    session: { token: () => Promise.reject(new Error("asked")) },
  })
  const journal = createJournal({ relay, store: memoryStore() })
  const code = "signature_verification_failed"
  // Another amount, another recipient, another blockhash, another payer.
  for (const at of [signed.length - 8, 65 + 40, 65 + 110, 65 + 6]) {
    const transaction = Uint8Array.from(signed).with(at, (signed[at] ?? 0) ^ 1)
    expect(signatureOf(transaction)).toBe(signatureOf(signed))
    await expect(journal.submitOnce("a", transaction)).rejects.toMatchObject({ code, submissionState: "not_submitted" })
    const ended = await submit(relay, { transaction, lastValidBlockHeight: 1n })
    expect(ended).toMatchObject({ state: "not-submitted", error: { code } })
    const settling = settle(relay, { signature: signatureOf(signed), resend: transaction, lastValidBlockHeight: 1n })
    await expect(settling).rejects.toMatchObject({ code })
  }
  expect(await journal.list()).toEqual([])
})

test("any bytes are a payment, or an error that proves that nothing was sent", async () => {
  const whole = createPayer().transfer({ recipient: one, lamports: 1n, blockhash })
  const changed = fc
    .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((changes) => changes.reduce((bytes, [at, byte]) => bytes.with(at, byte), Uint8Array.from(whole)))
  const cut = fc.nat(whole.length).map((size) => Uint8Array.from(whole.subarray(0, size)))
  // One signature, and a legacy message that claims 2^35 accounts, more than an array can have.
  const hugeCount = Uint8Array.of(1, ...new Uint8Array(64).fill(1), 1, 0, 0, 255, 255, 255, 255, 255, 127, 1)
  const version1 = fc.uint8Array({ minLength: 130, maxLength: 300 }).map((rest) => Uint8Array.of(0x81, 1, ...rest))
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, cut, version1), async (bytes) => {
      try {
        expect((await readPayment(bytes)).facts.fingerprint).toHaveLength(64)
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        expect(error).toMatchObject({
          submissionState: "not_submitted",
          code: expect.stringMatching(/^(in|un|signature_)/),
        })
      }
    }),
    { numRuns: process.env["SVC_FUZZ"] === "full" ? 100_000 : 1000, examples: [[hugeCount]] },
  )
})
