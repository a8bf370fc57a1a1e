import { blockhashAge } from "@svc/common/chain-constants"
import { z } from "zod"
import { createBlocks, type Block, type Commitment } from "./blocks.ts"
import { createFaucet } from "./faucet.ts"
import { feeOf } from "./transactions/fee.ts"
import { createLedger } from "./ledger.ts"
import * as p from "./params.ts"
import { createRpc, invalidParams, type Method, RpcError } from "./rpc.ts"
import { showAccount, simulation } from "./transactions/simulation.ts"
import { createSvm } from "./transactions/svm.ts"
import { describe, isUnsanitary } from "./transactions/transaction-error.ts"
import { showBlock } from "./transactions/transaction.ts"
import { isSigned, readUnsigned, readWire, withBlockhash } from "./transactions/wire.ts"

const maxStatuses = 256
const maxAccounts = 100
const maxSlotRange = 500_000n

/** A method whose parameters these schemas read, in order. */
const method =
  <const T extends readonly z.ZodType[]>(schemas: T, run: (...params: p.Outputs<T>) => unknown): Method =>
  (params) =>
    run(...p.readParams(schemas, params))

const inContext = (bank: Block, value: unknown) => ({ context: { slot: bank.slot, apiVersion: "4.0.0" }, value })

/**
 * A chain of one node in memory. `now` is Unix time in ms and moves its slots. `handle` returns the response to one parsed
 * JSON-RPC request or a batch (with a bigint for integers beyond 2^53), or undefined if there is none; it never throws.
 */
export const createLocalChain = ({ now }: { now: () => number }) => {
  const svm = createSvm()
  const blocks = createBlocks(svm, now)
  const ledger = createLedger(svm, blocks)
  const faucet = createFaucet(svm)

  const bankFor = (commitment: Commitment, minContextSlot: bigint | undefined): Block => {
    const bank = blocks.at(commitment)
    if (minContextSlot === undefined || bank.slot >= minContextSlot) return bank
    const data = { contextSlot: bank.slot }
    throw new RpcError("minContextSlotNotReached", "Minimum context slot has not been reached", data)
  }
  const bankOf = (options: z.output<typeof p.bankOptions>) => bankFor(options.commitment, options.minContextSlot)

  const methods: Record<string, Method> = {
    getGenesisHash: method([], () => blocks.genesisHash),
    getSlot: method([p.bankOptions], (options) => bankOf(options).slot),
    getBlockHeight: method([p.bankOptions], (options) => bankOf(options).height),
    getLatestBlockhash: method([p.bankOptions], (options) => {
      const bank = bankOf(options)
      return inContext(bank, { blockhash: bank.blockhash, lastValidBlockHeight: bank.height + blockhashAge })
    }),
    getFeeForMessage: method([z.string(), p.bankOptions], (text, options) => {
      const unsigned = readUnsigned(text)
      const bank = bankOf(options)
      const { err } = svm.simulate(unsigned)
      if (err !== null && isUnsanitary(err)) throw invalidParams(`invalid transaction message: ${describe(err)}`)
      const known = blocks.valid(unsigned.message.lifetimeToken, bank) !== undefined
      return inContext(bank, known ? feeOf(unsigned.message) : null)
    }),

    simulateTransaction: method([z.string(), p.simulateOptions], (text, options) => {
      const given = readWire(text)
      const bank = bankOf(options)
      const { innerInstructions, replaceRecentBlockhash, sigVerify } = options
      const accounts = options.accounts?.addresses
      if (replaceRecentBlockhash && sigVerify) {
        throw invalidParams("sigVerify may not be used with replaceRecentBlockhash")
      }
      const { blockhash, height } = bank
      const replacementBlockhash = replaceRecentBlockhash
        ? { blockhash, lastValidBlockHeight: height + blockhashAge }
        : undefined
      const transaction = replaceRecentBlockhash ? withBlockhash(given, blockhash) : given
      const run = ledger.simulate(transaction, bank, sigVerify && !isSigned(transaction))
      return inContext(bank, simulation(svm, transaction, run, { accounts, innerInstructions, replacementBlockhash }))
    }),

    sendTransaction: method([z.string(), p.sendOptions], (text, options) => {
      const transaction = readWire(text)
      const commitment = options.skipPreflight ? "processed" : options.preflightCommitment
      const bank = bankFor(commitment, options.minContextSlot)
      return ledger.send(transaction, options.skipPreflight ? undefined : bank)
    }),

    getSignatureStatuses: method([z.array(p.signature), p.statusOptions], (signatures, options) => {
      if (signatures.length > maxStatuses) throw invalidParams(`Too many inputs provided; max ${maxStatuses}`)
      const statuses = signatures.map((signature) => ledger.status(signature, options.searchTransactionHistory))
      return inContext(blocks.at("processed"), statuses)
    }),

    getFirstAvailableBlock: method([], blocks.firstSlot),
    getBlocks: method([p.u64, p.endSlot, p.blocksOptions], (first, end, options) => {
      const { commitment } = typeof end === "object" && end !== null ? end : options
      const newest = blocks.at(commitment).slot
      const last = typeof end === "bigint" && end < newest ? end : newest
      if (last - first > maxSlotRange) throw invalidParams(`Slot range too large; max ${maxSlotRange}`)
      return blocks.slots(first, last)
    }),
    getBlock: method([p.u64, p.blockOptions], (slot, options) => {
      if (slot > blocks.at(options.commitment).slot) {
        throw new RpcError("blockNotAvailable", `Block not available for slot ${slot}`)
      }
      if (slot < blocks.firstSlot()) {
        const first = `First available block: ${blocks.firstSlot()}`
        throw new RpcError("blockCleanedUp", `Block ${slot} cleaned up, does not exist on node. ${first}`)
      }
      const block = blocks.read(slot)
      if (block === undefined) {
        const why = "was skipped, or missing due to ledger jump to recent snapshot"
        throw new RpcError("slotSkipped", `Slot ${slot} ${why}`)
      }
      return showBlock(block, ledger.inBlock(block), options.maxSupportedTransactionVersion)
    }),

    getBalance: method([p.address, p.bankOptions], (address, options) =>
      inContext(bankOf(options), svm.balance(address)),
    ),
    getMultipleAccounts: method([z.array(p.address), p.accountOptions], (addresses, options) => {
      if (addresses.length > maxAccounts) throw invalidParams(`Too many inputs provided; max ${maxAccounts}`)
      const accounts = addresses.map(svm.account)
      const shown = accounts.map((account) => (account.exists ? showAccount(account) : null))
      return inContext(bankOf(options), shown)
    }),
    requestAirdrop: method([p.address, p.u64, p.airdropOptions], (address, amount) => {
      const bank = blocks.at("processed")
      return ledger.send(faucet.transfer(address, amount, bank), bank)
    }),
  }

  const handle = createRpc(methods)
  return {
    /** Drops the transactions of the newest block, which is only `processed`. Returns how many. For tests. */
    rollback: (): number => {
      blocks.tick()
      return ledger.rollback()
    },
    handle: (request: unknown) => {
      blocks.tick()
      return handle(request)
    },
  }
}
