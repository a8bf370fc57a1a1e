import { blockhashAge } from "@svc/common/chain-constants"
import type { MaybeEncodedAccount } from "@solana/kit"
import type { Block, Blocks } from "./blocks.ts"
import { rootDepth } from "./blocks.ts"
import { invalidParams, RpcError } from "./rpc.ts"
import { feeOf } from "./transactions/fee.ts"
import { simulation } from "./transactions/simulation.ts"
import { accountKeys, type Run, type Svm } from "./transactions/svm.ts"
import { describe, isUnsanitary, type TransactionError } from "./transactions/transaction-error.ts"
import { firstSignature, isSigned, type Wire } from "./transactions/wire.ts"

/** A transaction in a block, with the balances (lamports) of its accounts before and after. */
export type Landed = {
  readonly block: Block
  readonly transaction: Wire
  readonly run: Omit<Run, "postAccounts">
  readonly fee: bigint
  readonly balances: { readonly pre: bigint[]; readonly post: bigint[] }
  readonly loaded: ReturnType<typeof accountKeys>["loaded"]
}

/** Only the newest transactions are kept, to limit memory. */
const historySize = 20_000

const failure = (err: TransactionError): Run => ({
  err,
  logs: [],
  unitsConsumed: 0n,
  returnData: null,
  innerInstructions: [],
  postAccounts: [],
})

export const resultOf = (err: TransactionError | null) => (err === null ? { Ok: null } : { Err: err })

const messageKey = ({ messageBytes }: Wire) => Buffer.from(messageBytes).toString("latin1")

export const createLedger = (svm: Svm, blocks: Blocks) => {
  const history = new Map<string, Landed>()
  /** Only for the newest block: its transactions, and their accounts before each. */
  let newest: {
    readonly signature: string
    readonly before: readonly MaybeEncodedAccount[]
    readonly undo: () => void
  }[] = []
  let newestBlock: Block | undefined

  /** Why a bank rejects this transaction: an unknown or expired blockhash, or a replay. */
  const refusal = (transaction: Wire, bank: Block): TransactionError | undefined => {
    const origin = blocks.valid(transaction.message.lifetimeToken, bank)
    if (origin === undefined) return "BlockhashNotFound"
    return origin.landed.has(messageKey(transaction)) ? "AlreadyProcessed" : undefined
  }

  /** Simulates a transaction at `bank`. Throws RpcError for one that no bank would accept. */
  const simulate = (transaction: Wire, bank: Block, badSignature = false): Run => {
    const run = svm.simulate(transaction)
    if (run.err !== null && isUnsanitary(run.err)) throw invalidParams(`invalid transaction: ${describe(run.err)}`)
    const refused = badSignature ? "SignatureFailure" : refusal(transaction, bank)
    return refused === undefined ? run : failure(refused)
  }

  /** Adds a transaction to the newest block. Silently drops one that can't land there, as leaders do. */
  const land = (transaction: Wire): void => {
    const bank = blocks.at("processed")
    const origin = blocks.valid(transaction.message.lifetimeToken, bank)
    if (origin === undefined || refusal(transaction, bank) !== undefined || !isSigned(transaction)) return
    const { keys, loaded } = accountKeys(svm, transaction.message)
    const fee = feeOf(transaction.message)
    const pre = keys.map(svm.balance)
    const before = keys.map(svm.account)
    const run = svm.execute(transaction, fee)
    if (!run.landed) return
    if (newestBlock !== bank) newest = []
    newestBlock = bank
    const key = messageKey(transaction)
    newest.push({ signature: firstSignature(transaction), before, undo: () => origin.landed.delete(key) })
    origin.landed.add(key)
    const balances = { pre, post: keys.map(svm.balance) }
    history.set(firstSignature(transaction), { block: bank, transaction, run, fee, balances, loaded })
    bank.signatures.push(firstSignature(transaction))
    // Dropped by age, not by use: look-ups must not change which transactions a node knows.
    for (const [oldest, { block }] of history) {
      if (history.size <= historySize) break
      history.delete(oldest)
      blocks.forget(block)
    }
  }

  /** Sends a transaction and returns its signature; with a `preflight` bank only if the simulation succeeds. Throws RpcError. */
  const send = (transaction: Wire, preflight: Block | undefined): string => {
    if (preflight !== undefined && !isSigned(transaction)) {
      throw new RpcError("signatureVerificationFailure", "Transaction signature verification failure")
    }
    const run = simulate(transaction, preflight ?? blocks.at("processed"))
    if (preflight !== undefined && run.err !== null) {
      const message = `Transaction simulation failed: ${describe(run.err)}`
      throw new RpcError("preflightFailure", message, simulation(svm, transaction, run))
    }
    land(transaction)
    return firstSignature(transaction)
  }

  const depth = ({ block }: Landed): bigint => blocks.at("processed").height - block.height

  const status = (signature: string, searchHistory: boolean) => {
    const landed = history.get(signature)
    if (landed === undefined) return null
    const confirmations = depth(landed)
    // Without a search of the history a validator uses only its status cache: 150 blocks from the root.
    if (!searchHistory && confirmations > rootDepth + blockhashAge) return null
    const { err } = landed.run
    const rooted = confirmations >= rootDepth
    return {
      slot: landed.block.slot,
      confirmations: rooted ? null : confirmations,
      err,
      status: resultOf(err),
      confirmationStatus: rooted ? "finalized" : confirmations > 0n ? "confirmed" : "processed",
    }
  }

  /** Drops the transactions of the newest block, as when a validator leaves a fork. Returns how many. */
  const rollback = (): number => {
    if (newestBlock !== blocks.at("processed")) return 0
    const dropped = newest.toReversed()
    for (const { signature, before, undo } of dropped) {
      history.delete(signature)
      newestBlock?.signatures.pop()
      undo()
      for (const account of before) svm.restore(account)
    }
    newest = []
    return dropped.length
  }

  return {
    simulate,
    send,
    status,
    rollback,
    /** The transactions of a block that can be read back. */
    inBlock: ({ signatures }: Block): Landed[] => signatures.flatMap((signature) => history.get(signature) ?? []),
  }
}
