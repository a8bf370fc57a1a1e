import { AccountRole, address, getAddressEncoder, getProgramDerivedAddress, type Instruction } from "@solana/kit"
import { startLocalChain } from "@svc/local-chain"
import { expect, test, vi } from "vitest"
import { createClosing, createFollow, mintToken, openRaw, sampleAst, startPlatform, startStream } from "./fixture.ts"
import { call, littleEndian, systemProgram, transfer } from "@svc/testing/solana"
import { startChain } from "../../local-chain/test/fixture.ts"

const closing = createClosing()

const start = async (rpcUrl: string) => {
  const platform = closing(await startPlatform({ transfers: sampleAst("transfers") }))
  return { platform, stream: closing(await startStream({ apiUrl: platform.url, rpcUrl })) }
}

type Wallet = { sent: { count: string | null; lamports: string | null } }

const follow = createFollow(closing)
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 20 })

const lookupTableProgram = address("AddressLookupTab1e1111111111111111111111111")

/** Creates a lookup table, for which the program itself transfers the rent from the payer. */
const createTable = async (payer: string, slot: bigint): Promise<Instruction> => {
  const seeds = [getAddressEncoder().encode(address(payer)), littleEndian(slot)]
  const [table, bump] = await getProgramDerivedAddress({ programAddress: lookupTableProgram, seeds })
  const { READONLY, WRITABLE, WRITABLE_SIGNER } = AccountRole
  return call(
    lookupTableProgram,
    [...littleEndian(0, slot), bump],
    [table, WRITABLE],
    [payer, READONLY],
    [payer, WRITABLE_SIGNER],
    [systemProgram, READONLY],
  )
}

test("every transfer instruction counts once, including inner but not failed ones; a transaction is one record", async () => {
  const chain = closing(await startChain())
  const { stream } = await start(chain.url)
  const payer = await chain.fund()
  const to = (await chain.fund()).address
  chain.pass(3)
  const slot = await chain.rpc.getSlot({ commitment: "confirmed" }).send()
  const pay = (amount: bigint) => transfer(payer.address, to, amount)
  const signature = await chain.send(payer, pay(1_000n), pay(2_000n))
  await chain.send(payer, pay(4_000n), pay(90_000_000_000n))
  await chain.send(payer, await createTable(payer.address, slot))
  chain.pass()
  const wallets = follow<Wallet>(stream.url(), "Wallet/list")
  const transfers = follow<{ amount: object; id: object }>(stream.url(), "SolTransfer/list")
  await until(() => expect(wallets.records.get(payer.address)?.sent.count).toBe("3"))
  const rent = 1_280_640n
  expect(wallets.records.get(payer.address)?.sent.lamports).toBe(String(3_000n + rent))
  // The faucet's two airdrops are transfers, too.
  await until(() => expect(transfers.records.size).toBe(4))
  expect(transfers.records.get(signature)).toMatchObject({
    id: { signature, instruction_index: 1 },
    amount: { lamports: "2000" },
  })
})

test("a source that restarts is another chain: clients are closed with 1012, and reconnect to its records", async () => {
  const clock = { now: Date.parse("2026-01-01T00:00:00Z") }
  const first = await startChain(clock)
  const port = Number(new URL(first.url).port)
  const { stream } = await start(first.url)
  const [payer, to] = [await first.fund(), (await first.fund()).address]
  const old = await first.send(payer, transfer(payer.address, to, 1n))
  first.pass(20)
  const transfers = follow(stream.url(), "SolTransfer/list")
  await until(() => expect([...transfers.records.keys()]).toContain(old))
  const raw = closing(await openRaw(stream.url(), { token: await mintToken() }))
  await first.close()
  clock.now += 60_000
  const second = closing(await startLocalChain({ host: "127.0.0.1", port, now: () => clock.now }))
  expect(await raw.closed()).toEqual({ code: 1012, reason: expect.any(String) })
  expect(second.url).toBe(first.url)
  await until(() => expect([transfers.snapshots, transfers.records.size]).toEqual([2, 0]))
  await first.fund()
  clock.now += 400
  await until(() => expect(transfers.records.size).toBe(1))
})

test("a block on which a stack's AST fails counts once in the other stacks, and those after it too", async () => {
  const chain = closing(await startChain())
  const ast = sampleAst("transfers") as { readonly entities: readonly { readonly state_name: string }[] }
  const Binary = { op: "Contains", left: { Literal: {} }, right: "None" }
  const fails = { computed_field_specs: [{ target_path: "sent.count", expression: { Binary } }] }
  const failing = { ...ast, entities: ast.entities.map((entity) => ({ ...entity, ...fails })) }
  const platform = closing(await startPlatform({ transfers: ast, failing }))
  const stream = closing(await startStream({ apiUrl: platform.url, rpcUrl: chain.url }))
  const wallets = follow<Wallet>(stream.url(), "Wallet/list")
  const payer = await chain.fund()
  for (const count of ["1", "2"]) {
    await chain.send(payer, transfer(payer.address, (await chain.fund()).address, 1_000n))
    chain.pass()
    await until(() => expect(wallets.records.get(payer.address)?.sent.count).toBe(count))
  }
})

test("a new version of a stack is served, starting empty; a withdrawn one ends", async () => {
  const chain = closing(await startChain())
  const { platform, stream } = await start(chain.url)
  await chain.fund()
  chain.pass()
  const transfers = follow(stream.url(), "SolTransfer/list")
  await until(() => expect(transfers.records.size).toBe(1))
  const raw = closing(await openRaw(stream.url(), { token: await mintToken() }))
  platform.publish("transfers", sampleAst("transfers"))
  await until(async () => expect((await stream.health())["stacks"].transfers.version).toBe(2))
  expect(await raw.closed()).toMatchObject({ code: 1012 })
  await until(() => expect([transfers.snapshots, transfers.records.size]).toEqual([2, 0]))
  const again = closing(await openRaw(stream.url(), { token: await mintToken() }))
  platform.withdraw("transfers")
  expect(await again.closed()).toMatchObject({ code: 1008, reason: expect.stringMatching(/^stack-not-found: /) })
  // An AST that nobody can read is no reason to end.
  platform.publish("broken", { entities: 7 })
  platform.publish("transfers", sampleAst("transfers"))
  await until(async () => expect(Object.keys((await stream.health())["stacks"])).toEqual(["transfers"]))
})
