// Reads blocks and accounts of a chain over RPC.
import * as kit from "@solana/kit"

type Instruction = {
  readonly program: string
  readonly accounts: readonly string[]
  readonly writable: readonly kit.Address[]
  readonly data: kit.ReadonlyUint8Array
  /** The index of its outermost instruction in the transaction. */
  readonly index: number
}

export type Block = {
  readonly slot: bigint
  /** Unix seconds. */
  readonly time: bigint | null
  /** Differs for the same slot's block of another chain. */
  readonly identity: string
  /** Successful transactions only. Inner instructions follow the instruction that called them. */
  readonly transactions: readonly { readonly signature: string; readonly instructions: readonly Instruction[] }[]
}

export type Account = { readonly address: string; readonly owner: string; readonly data: kit.ReadonlyUint8Array }

/** The node has dropped a block that we haven't read yet. */
export class BlockGone extends Error {}

const commitment = "confirmed"
const timeoutMs = 10_000
const accountsAtOnce = 100
const base64 = kit.getBase64Encoder()

const isSkipped = (error: unknown): boolean =>
  kit.isSolanaError(error, kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED) ||
  kit.isSolanaError(error, kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_LONG_TERM_STORAGE_SLOT_SKIPPED)

type Response = {
  readonly transaction: kit.Base64EncodedDataResponse
  readonly meta: (NonNullable<Parameters<typeof kit.walkInstructions>[0]["meta"]> & { readonly err: unknown }) | null
}

const transactionOf = (response: Response): Block["transactions"] => {
  if (response.meta === null || response.meta.err !== null) return []
  const { transaction, ...decoded } = kit.decodeTransactionFromRpcResponse(response)
  const instructions = kit.walkInstructions({ ...decoded, meta: response.meta }).map((instruction): Instruction => {
    const { programAddress: program, accounts = [], data = new Uint8Array(), trace } = instruction
    const writable = accounts.filter(({ role }) => kit.isWritableRole(role)).map(({ address }) => address)
    const index = trace.kind === "outer" ? trace.index : trace.outerIndex
    return { program, accounts: accounts.map(({ address }) => address), writable, data, index }
  })
  return [{ signature: kit.getSignatureFromTransaction(transaction), instructions }]
}

/** Reads confirmed blocks and accounts at an RPC URL. Every call may throw and ends within 10 s. */
export const createChain = (rpcUrl: string) => {
  const rpc = kit.createSolanaRpc(rpcUrl)
  const inTime = () => ({ abortSignal: AbortSignal.timeout(timeoutMs) })
  const options = { commitment, encoding: "base64" } as const

  return {
    slot: (): Promise<bigint> => rpc.getSlot({ commitment }).send(inTime()),
    firstSlot: (): Promise<bigint> => rpc.getFirstAvailableBlock().send(inTime()),
    /** The slots from `first` to `last`, both included, that have a block. */
    slots: (first: bigint, last: bigint): Promise<readonly bigint[]> =>
      rpc.getBlocks(first, last, { commitment }).send(inTime()),
    /** Returns an empty list for a slot without a block. Throws BlockGone. */
    block: async (slot: bigint): Promise<readonly Block[]> => {
      const details = {
        ...options,
        maxSupportedTransactionVersion: 1,
        rewards: false,
        transactionDetails: "full",
      } as const
      try {
        const block = await rpc.getBlock(slot, details).send(inTime())
        if (block === null) throw new Error(`the block of slot ${slot} is not there yet`)
        const { blockhash, blockTime: time, transactions } = block
        return [{ slot, time, identity: `${blockhash} ${time}`, transactions: transactions.flatMap(transactionOf) }]
      } catch (error) {
        if (isSkipped(error)) return []
        const isGone = kit.isSolanaError(error, kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_CLEANED_UP)
        throw isGone ? new BlockGone() : error
      }
    },
    /** The accounts that exist, in their state at this slot or later. */
    accounts: async (addresses: readonly kit.Address[], minContextSlot: bigint): Promise<readonly Account[]> => {
      const accounts: Account[] = []
      for (let start = 0; start < addresses.length; start += accountsAtOnce) {
        const part = addresses.slice(start, start + accountsAtOnce)
        const { value } = await rpc.getMultipleAccounts(part, { ...options, minContextSlot }).send(inTime())
        for (const [index, address] of part.entries()) {
          const account = value[index]
          if (account) accounts.push({ address, owner: account.owner, data: base64.encode(account.data[0]) })
        }
      }
      return accounts
    },
  }
}

export type Chain = ReturnType<typeof createChain>
