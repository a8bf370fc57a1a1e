import { AccountRole, address, generateKeyPairSigner, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit"
import type { Address } from "@solana/kit"
import { afterAll, expect, test } from "vitest"
import { call, littleEndian, memo, systemProgram, transfer, unsigned } from "@svc/testing/solana"
import { signed, startChain } from "./fixture.ts"

const chain = await startChain()
afterAll(chain.close)

const unknownHash = "11111111111111111111111111111111"
const latest = async () => (await chain.rpc.getLatestBlockhash().send()).value.blockhash
const simulate = (wire: string, options: object = {}) =>
  chain.call("simulateTransaction", wire, { encoding: "base64", commitment: "confirmed", ...options })

test("an unsigned transaction is simulated and changes nothing", async () => {
  const payer = await chain.fund()
  const to = (await generateKeyPairSigner()).address
  const bare = unsigned(await signed(payer, [transfer(payer.address, to, 1_000_000_000n)], await latest()))
  const { value } = await chain.rpc.simulateTransaction(bare, { encoding: "base64" }).send()
  expect(value).toMatchObject({
    err: null,
    unitsConsumed: 150n,
    fee: 5000n,
    accounts: null,
    replacementBlockhash: null,
  })
  expect(value.logs?.at(-1)).toBe(`Program ${systemProgram} success`)
  expect(value.preBalances).toEqual([5_000_000_000n, 0n, 1n])
  expect(value.postBalances).toEqual([3_999_995_000n, 1_000_000_000n, 1n])
  expect((await chain.rpc.getBalance(payer.address).send()).value).toBe(5_000_000_000n)
})

test("accounts are returned in their state after the simulation, with every digit of their u64 values", async () => {
  const payer = await chain.fund()
  const to = (await generateKeyPairSigner()).address
  const wire = await signed(payer, [transfer(payer.address, to, 1_000_000_000n)], await latest())
  const missing = (await generateKeyPairSigner()).address
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "simulateTransaction",
    params: [
      wire,
      { encoding: "base64", commitment: "confirmed", accounts: { encoding: "base64", addresses: [to, missing] } },
    ],
  })
  const text = await (await chain.post(body)).text()
  expect(text).toContain(
    `"accounts":[{"lamports":1000000000,"data":["","base64"],"owner":"${systemProgram}","executable":false,` +
      `"rentEpoch":18446744073709551615,"space":0},null]`,
  )
})

test("a failed simulation returns no account, and more accounts than the transaction has are rejected", async () => {
  const payer = await chain.fund()
  const wire = await signed(payer, [transfer(payer.address, payer.address, 9_000_000_000n)], await latest())
  const accounts = { encoding: "base64", addresses: [payer.address] }
  const { result } = await simulate(wire, { accounts })
  expect(result.value).toMatchObject({ err: { InstructionError: [0, { Custom: 1 }] }, accounts: [null] })
  const { error } = await simulate(wire, { accounts: { addresses: Array(3).fill(payer.address) } })
  expect(error).toMatchObject({ code: -32602, message: "Too many accounts provided; max 2" })
})

test("an unknown blockhash fails the simulation unless it is replaced", async () => {
  const payer = await chain.fund()
  const wire = await signed(payer, [memo("whenever")], unknownHash)
  expect((await simulate(wire)).result.value).toMatchObject({
    err: "BlockhashNotFound",
    logs: [],
    unitsConsumed: 0,
    fee: null,
  })
  const { result } = await simulate(wire, { replaceRecentBlockhash: true })
  const { value } = await chain.rpc.getLatestBlockhash().send()
  expect(result.value).toMatchObject({
    err: null,
    replacementBlockhash: { blockhash: value.blockhash, lastValidBlockHeight: Number(value.lastValidBlockHeight) },
  })
})

test("signatures are checked only on request, and never with a replaced blockhash", async () => {
  const payer = await chain.fund()
  const wire = await signed(payer, [memo("signed")], await latest())
  const bare = unsigned(wire)
  expect((await simulate(wire, { sigVerify: true })).result.value.err).toBeNull()
  expect((await simulate(bare)).result.value.err).toBeNull()
  expect((await simulate(bare, { sigVerify: true })).result.value).toMatchObject({
    err: "SignatureFailure",
    logs: [],
  })
  expect((await simulate(wire, { sigVerify: true, replaceRecentBlockhash: true })).error).toMatchObject({
    code: -32602,
    message: "sigVerify may not be used with replaceRecentBlockhash",
  })
})

const { READONLY, READONLY_SIGNER, WRITABLE, WRITABLE_SIGNER } = AccountRole
const key = (of: Address) => getAddressEncoder().encode(of)

test("inner instructions and return data of programs that call others are returned on request", async () => {
  const tokenProgram = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
  const associatedTokenProgram = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
  const payer = await chain.fund()
  const mint = (await generateKeyPairSigner()).address
  const [tokens] = await getProgramDerivedAddress({
    programAddress: associatedTokenProgram,
    seeds: [key(payer.address), key(tokenProgram), key(mint)],
  })
  // The rent exemption of 82 bytes.
  const rent = 1_461_600n
  const wire = await signed(
    payer,
    [
      // Create the mint's account, make it a mint, …
      call(
        systemProgram,
        [...littleEndian(0, rent, 82n), ...key(tokenProgram)],
        [payer.address, WRITABLE_SIGNER],
        [mint, WRITABLE_SIGNER],
      ),
      call(tokenProgram, [20, 6, ...key(payer.address), 0], [mint, WRITABLE]),
      // … create the payer's account for its tokens, and get the size of an account for this mint.
      call(
        associatedTokenProgram,
        [],
        [payer.address, WRITABLE_SIGNER],
        [tokens, WRITABLE],
        [payer.address, READONLY],
        [mint, READONLY],
        [systemProgram, READONLY],
        [tokenProgram, READONLY],
      ),
      call(tokenProgram, [21], [mint, READONLY]),
    ],
    await latest(),
  )
  const plain = (await simulate(wire)).result.value
  expect(plain).toMatchObject({ err: null, innerInstructions: null })
  expect(plain.loadedAccountsDataSize).toBeGreaterThan(100_000)

  const accounts = { addresses: [tokens], encoding: "base64" }
  const { value } = (await simulate(wire, { innerInstructions: true, accounts })).result
  expect(value.returnData).toEqual({
    programId: tokenProgram,
    data: [Buffer.from(littleEndian(165n)).toString("base64"), "base64"],
  })
  expect(value.innerInstructions).toHaveLength(1)
  expect(value.innerInstructions[0]).toMatchObject({ index: 2 })
  expect(value.innerInstructions[0].instructions).toContainEqual({
    programId: systemProgram,
    accounts: [payer.address, tokens],
    data: expect.any(String),
    stackHeight: 2,
  })
  const [account] = value.accounts
  expect(account).toMatchObject({ owner: tokenProgram, space: 165 })
  expect(Buffer.from(account.data[0], "base64")).toHaveLength(165)
})

test("addresses are loaded from a lookup table created on this chain", async () => {
  const program = address("AddressLookupTab1e1111111111111111111111111")
  const payer = await chain.fund()
  const to = (await generateKeyPairSigner()).address
  chain.pass(2)
  const slot = await chain.rpc.getSlot().send()
  const [table, bump] = await getProgramDerivedAddress({
    programAddress: program,
    seeds: [key(payer.address), littleEndian(slot)],
  })
  const accounts = [
    [table, WRITABLE],
    [payer.address, READONLY_SIGNER],
    [payer.address, WRITABLE_SIGNER],
    [systemProgram, READONLY],
  ] as const
  const create = call(program, [...littleEndian(0, slot), bump], ...accounts)
  const extend = call(program, [...littleEndian(2, 1n), ...key(to)], ...accounts)
  const made = await chain.call("sendTransaction", await signed(payer, [create, extend], await latest()), {
    encoding: "base64",
    preflightCommitment: "confirmed",
  })
  expect(made.error).toBeUndefined()
  chain.pass(1)

  const wire = await signed(payer, [transfer(payer.address, to, 1_000_000_000n)], await latest(), 0, { [table]: [to] })
  const { value } = (await simulate(wire, { accounts: { addresses: [to] } })).result
  expect(value).toMatchObject({
    err: null,
    loadedAddresses: { writable: [to], readonly: [] },
    accounts: [{ lamports: 1_000_000_000 }],
  })
  const missing = await signed(payer, [transfer(payer.address, to, 1n)], await latest(), 0, { [to]: [to] })
  expect((await simulate(missing)).error).toMatchObject({ code: -32602 })
})
