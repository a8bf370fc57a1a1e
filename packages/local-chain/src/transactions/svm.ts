import * as kit from "@solana/kit"
import { Clock, FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from "litesvm"
import { feesOnly, transactionError, type TransactionError } from "./transaction-error.ts"
import { base58 } from "@svc/common/base58"
import { base64, lookupsOf, type Message, type Wire } from "./wire.ts"

export const systemProgram = kit.address("11111111111111111111111111111111")

/**
 * The virtual machine, without its checks of signatures, blockhashes and replays. It knows only one valid blockhash and no
 * commitments, so the ledger does those checks.
 */
export const createSvm = () => {
  const svm = new LiteSVM().withSigverify(false).withBlockhashCheck(false).withTransactionHistory(0n)

  const balance = (account: kit.Address): bigint => svm.getBalance(account) ?? 0n

  const fund = (account: kit.Address, amount: bigint): void => {
    const empty = { data: new Uint8Array(), executable: false, programAddress: systemProgram, space: 0n }
    svm.setAccount({ ...empty, ...svm.getAccount(account), address: account, lamports: kit.lamports(amount) })
  }

  return {
    account: (account: kit.Address): kit.MaybeEncodedAccount => svm.getAccount(account),
    balance,
    fund,
    /** Restores an account's former state. */
    restore: (account: kit.MaybeEncodedAccount): void => {
      if (account.exists) svm.setAccount(account)
      else fund(account.address, 0n)
    },
    latestBlockhash: (): string => svm.latestBlockhash(),

    nextBlockhash: (): string => {
      svm.expireBlockhash()
      return svm.latestBlockhash()
    },

    /** Shows programs this slot, time (Unix seconds) and the hashes of earlier slots, newest first. */
    setTime: (slot: bigint, unixTime: bigint, slotHashes: { slot: bigint; hash: string }[]): void => {
      svm.setClock(new Clock(slot, 0n, 0n, 1n, unixTime))
      svm.setSlotHashes(slotHashes)
    },

    simulate: (transaction: Wire): Run => {
      const result = svm.simulateTransaction(transaction)
      if (result instanceof FailedTransactionMetadata) return run(result.meta(), transactionError(result))
      return run(result.meta(), null, result.postAccounts())
    },

    /** Executes a transaction. `landed`: whether it paid its fee (in lamports). */
    execute: (transaction: Wire, fee: bigint): Run & { landed: boolean } => {
      const payer = transaction.message.staticAccounts[0] ?? systemProgram
      const before = balance(payer)
      const result = svm.sendTransaction(transaction)
      if (!(result instanceof FailedTransactionMetadata)) return { ...run(result, null), landed: true }
      const err = transactionError(result)
      if (feesOnly.has(err) && before >= fee) fund(payer, before - fee)
      return { ...run(result.meta(), err), landed: balance(payer) < before }
    },
  }
}

export type Svm = ReturnType<typeof createSvm>

const run = (meta: TransactionMetadata, err: TransactionError | null, postAccounts: kit.EncodedAccount[] = []) => {
  const returned = meta.returnData()
  return {
    err,
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
    returnData:
      returned.data().length === 0
        ? null
        : { programId: base58(returned.programId()), data: [base64(returned.data()), "base64"] as const },
    innerInstructions: meta
      .innerInstructions()
      .map((list, index) => ({
        index,
        instructions: list.map((inner) => {
          const instruction = inner.instruction()
          return {
            programIdIndex: instruction.programIdIndex(),
            accounts: [...instruction.accounts()],
            data: base58(instruction.data()),
            stackHeight: inner.stackHeight(),
          }
        }),
      }))
      .filter(({ instructions }) => instructions.length > 0),
    postAccounts,
  }
}

/** The result of a transaction. `postAccounts` are the writable accounts afterwards; none if it failed. */
export type Run = ReturnType<typeof run>

/** The accounts of a message in the order of its instructions' indexes: its own, then those of lookup tables. */
export const accountKeys = (svm: Svm, message: Message) => {
  const loaded = { writable: [] as kit.Address[], readonly: [] as kit.Address[] }
  for (const { lookupTableAddress, readonlyIndexes, writableIndexes } of lookupsOf(message) ?? []) {
    const table = svm.account(lookupTableAddress)
    if (!table.exists) continue
    // A table is 56 bytes of settings, then addresses of 32 bytes.
    const at = (index: number) => kit.address(base58(table.data.slice(56 + index * 32, 88 + index * 32)))
    loaded.writable.push(...writableIndexes.map(at))
    loaded.readonly.push(...readonlyIndexes.map(at))
  }
  return { keys: [...message.staticAccounts, ...loaded.writable, ...loaded.readonly], loaded }
}
