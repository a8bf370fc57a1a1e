import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  createSolanaRpc,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  lamports,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageConfig,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit"
import type { Address, Instruction, KeyPairSigner, V1TransactionConfig } from "@solana/kit"
import { startLocalChain } from "../src/index.ts"

const slotMs = 400
export const systemProgram = address("11111111111111111111111111111111")
const memoProgram = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
const computeBudget = address("ComputeBudget111111111111111111111111111111")

/** A chain on a free port whose clock stands still until `pass` moves it by so many slots. */
export const startChain = async () => {
  let now = Date.parse("2026-01-01T00:00:00Z")
  const chain = await startLocalChain({ host: "127.0.0.1", port: 0, now: () => now })
  const post = (body: string, headers: Record<string, string> = { "content-type": "application/json" }) =>
    fetch(chain.url, { method: "POST", headers, body })
  return {
    ...chain,
    rpc: createSolanaRpc(chain.url),
    pass: (slots: number) => {
      now += slots * slotMs
    },
    post,
    /** A call as it stands on the wire, for what a client hides. */
    call: async (method: string, ...params: unknown[]) => {
      const answer = await post(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }))
      return (await answer.json()) as { result?: any; error?: any } // oxlint-disable-line typescript/no-explicit-any
    },
  }
}

export type Chain = Awaited<ReturnType<typeof startChain>>

export const fundedSigner = async ({ rpc }: Chain, amount = 5_000_000_000n) => {
  const signer = await generateKeyPairSigner()
  await rpc.requestAirdrop(signer.address, lamports(amount)).send()
  return signer
}

const bytes = (...parts: (number | bigint)[]) => {
  const data = new Uint8Array(parts.reduce<number>((size, part) => size + (typeof part === "bigint" ? 8 : 4), 0))
  const view = new DataView(data.buffer)
  let at = 0
  for (const part of parts) {
    if (typeof part === "bigint") view.setBigUint64(at, part, true)
    else view.setUint32(at, part, true)
    at += typeof part === "bigint" ? 8 : 4
  }
  return data
}

export const transfer = (from: Address, to: Address, amount: bigint): Instruction => ({
  programAddress: systemProgram,
  accounts: [
    { address: from, role: AccountRole.WRITABLE_SIGNER },
    { address: to, role: AccountRole.WRITABLE },
  ],
  data: bytes(2, amount),
})

export const memo = (text: string): Instruction => ({
  programAddress: memoProgram,
  data: new TextEncoder().encode(text),
})

export const unitPrice = (microLamports: bigint): Instruction => ({
  programAddress: computeBudget,
  data: Uint8Array.of(3, ...bytes(microLamports)),
})

export const unitLimit = (units: number): Instruction => ({
  programAddress: computeBudget,
  data: Uint8Array.of(2, ...bytes(units)),
})

/** A transaction signed by its payer alone, as base64 wire text; a v0 message may use lookup tables. */
export const signed = async (
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
  hash: string,
  version: "legacy" | 0 = 0,
  tables: Record<Address, Address[]> = {},
) => {
  const lifetime = { blockhash: blockhash(hash), lastValidBlockHeight: 0n }
  const legacy = pipe(
    createTransactionMessage({ version: "legacy" }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions([...instructions], timed),
  )
  const v0 = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions([...instructions], timed),
    (whole) => compressTransactionMessageUsingAddressLookupTables(whole, tables),
  )
  return getBase64EncodedWireTransaction(await partiallySignTransactionMessageWithSigners(version === 0 ? v0 : legacy))
}

export const v1Limits = { computeUnitLimit: 200_000, loadedAccountsDataSizeLimit: 1_000_000 }

/** A version 1 transaction signed by its payer alone, with the chain's latest blockhash. */
export const signedV1 = async (
  { rpc }: Chain,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
  config: V1TransactionConfig = v1Limits,
): Promise<string> => {
  const { value } = await rpc.getLatestBlockhash().send()
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(value, paid),
    (timed) => appendTransactionMessageInstructions([...instructions], timed),
    (whole) => setTransactionMessageConfig(config, whole),
  )
  return getBase64EncodedWireTransaction(await partiallySignTransactionMessageWithSigners(message))
}

/** The same wire text with every signature zeroed, and the message alone. */
export const stripped = (wire: string) => {
  const raw = Buffer.from(wire, "base64")
  const end = 1 + (raw[0] ?? 0) * 64
  return {
    unsigned: Buffer.concat([raw.subarray(0, 1), Buffer.alloc(end - 1), raw.subarray(end)]).toString("base64"),
    message: raw.subarray(end).toString("base64"),
  }
}
