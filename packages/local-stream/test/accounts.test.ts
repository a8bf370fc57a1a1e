// Accounts as real programs write them: stake and token accounts of a Solana virtual machine.
import {
  type AccountMeta,
  AccountRole,
  type Address,
  address,
  generateKeyPairSigner,
  getAddressEncoder,
  type Instruction,
  type KeyPairSigner,
} from "@solana/kit"
import { expect, test, vi } from "vitest"
import { mintToken, openRaw, startTogether } from "./fixture.ts"
import { call, littleEndian, systemProgram } from "@svc/testing/solana"

const { chain, stream } = await startTogether("transfers", "stake-accounts")
const payer = await chain.fund(100_000_000_000n)

const [writable, readonly, signer] = [AccountRole.WRITABLE, AccountRole.READONLY, AccountRole.WRITABLE_SIGNER]
const rentSysvar = address("SysvarRent111111111111111111111111111111111")
const stakeProgram = address("Stake11111111111111111111111111111111111111")
const tokenProgram = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
const pubkey = (of: Address) => [...getAddressEncoder().encode(of)]

const create = (account: KeyPairSigner, space: bigint, owner: Address): Instruction => {
  const { accounts, ...rest } = call(
    systemProgram,
    [...littleEndian(0, 3_000_000n, space), ...pubkey(owner)],
    [payer.address, signer],
  )
  return {
    ...rest,
    accounts: [...accounts, { address: account.address, role: signer, signer: account } as AccountMeta],
  }
}

/** The record with a key, as a state view shows it once it is there. */
const recordOf = async (stack: string, entity: string, key: string) => {
  const client = await openRaw(stream.url(stack), { token: await mintToken({ aud: stack }) })
  try {
    return await vi.waitFor(
      async () => {
        client.messages.splice(0)
        client.send({ type: "subscribe", view: `${entity}/state`, key })
        const { data } = await client.message({ op: "snapshot" })
        expect(data).toHaveLength(1)
        return data[0].data
      },
      { timeout: 10_000, interval: 100 },
    )
  } finally {
    client.close()
  }
}

test("a stake account is decoded by its owner, with its enum's variant; a lockup is appended to its history", async () => {
  const stake = await generateKeyPairSigner()
  const lockup = [...littleEndian(1_900_000_000n, 7n), ...pubkey(payer.address)]
  const authorized = [...pubkey(payer.address), ...pubkey(payer.address)]
  await chain.send(
    payer,
    create(stake, 200n, stakeProgram),
    call(
      stakeProgram,
      [...littleEndian(0), ...authorized, ...lockup],
      [stake.address, writable],
      [rentSysvar, readonly],
    ),
  )
  chain.pass()
  const record = await recordOf("stake-accounts", "StakeAccount", stake.address)
  expect(record).toMatchObject({
    id: { address: stake.address },
    authority: {
      staker: payer.address,
      withdrawer: payer.address,
      lockup: { until: "1900000000", until_epoch: "7", custodian: payer.address },
    },
    delegation: { voter: null, sol: null },
    state: { state: { Initialized: { meta: { rent_exempt_reserve: expect.stringMatching(/^\d+$/) } } } },
  })
  const setLockup = [...littleEndian(6), 1, ...littleEndian(2_000_000_000n), 0, 0]
  await chain.send(payer, call(stakeProgram, setLockup, [stake.address, writable], [payer.address, signer]))
  chain.pass()
  await expect
    .poll(() => recordOf("stake-accounts", "StakeAccount", stake.address))
    .toMatchObject({
      authority: { lockup: { until: "2000000000" } },
      lockup_changes: [{ unix_timestamp: "2000000000", epoch: null, custodian: null }],
    })
})

test("a token account is decoded by its exact size, with the decimals from its mint", async () => {
  const [mint, account] = [await generateKeyPairSigner(), await generateKeyPairSigner()]
  await chain.send(
    payer,
    create(mint, 82n, tokenProgram),
    call(tokenProgram, [20, 6, ...pubkey(payer.address), 0], [mint.address, writable]),
    create(account, 165n, tokenProgram),
    call(tokenProgram, [18, ...pubkey(payer.address)], [account.address, writable], [mint.address, readonly]),
    call(
      tokenProgram,
      [7, ...littleEndian(18_000_000_000_000_000_001n)],
      [mint.address, writable],
      [account.address, writable],
      [payer.address, AccountRole.READONLY_SIGNER],
    ),
  )
  chain.pass()
  expect(await recordOf("transfers", "TokenAccount", account.address)).toMatchObject({
    id: { address: account.address, mint: mint.address, owner: payer.address },
    balance: { amount: "18000000000000000001", delegated_amount: "0", native_reserve: null, decimals: 6 },
    status: { state: "Initialized", delegate: null },
    mint_snapshot: { mint_authority: payer.address, decimals: 6, is_initialized: true, freeze_authority: null },
    account_snapshot: { amount: "18000000000000000001", close_authority: null },
  })
})
