import { address, type Address, type EncodedAccount } from "@solana/kit"
import { invalidParams } from "../rpc.ts"
import { feeOf } from "./fee.ts"
import { accountKeys, type Run, type Svm } from "./svm.ts"
import { paysFee } from "./transaction-error.ts"
import { base58 } from "@svc/common/base58"
import { base64, lookupsOf, type Wire } from "./wire.ts"

export type SimulationOptions = {
  innerInstructions?: boolean
  accounts?: readonly Address[] | undefined
  replacementBlockhash?: { blockhash: string; lastValidBlockHeight: bigint } | undefined
}

// Rent is no longer collected, so every account on the network has this value.
const rentEpoch = 18_446_744_073_709_551_615n
/** The bytes that an account counts in addition to its data, and those of a lookup table, if a transaction loads it. */
const accountOverhead = 64
const lookupTableSize = 8248
const upgradeableLoader = "BPFLoaderUpgradeab1e11111111111111111111111"

/** An account as the JSON-RPC API shows it. */
export const showAccount = (account: EncodedAccount) => ({
  lamports: account.lamports,
  data: [base64(account.data), "base64"],
  owner: account.programAddress,
  executable: account.executable,
  rentEpoch,
  space: account.space,
})

/** The result of simulateTransaction, and the data of a failed preflight. Throws RpcError. */
export const simulation = (svm: Svm, { message }: Wire, run: Run, options: SimulationOptions = {}) => {
  const { keys, loaded } = accountKeys(svm, message)
  const reached = paysFee(run.err)
  const fee = feeOf(message)
  const after = new Map(run.postAccounts.map((account) => [account.address, account]))
  const preBalances = keys.map(svm.balance)
  const postBalances = keys.map((key, index) => {
    if (run.err !== null) return (preBalances[index] ?? 0n) - (index === 0 ? fee : 0n)
    return after.get(key)?.lamports ?? preBalances[index] ?? 0n
  })
  return {
    err: run.err,
    logs: run.logs,
    accounts: options.accounts === undefined ? null : shownAccounts(svm, keys, run, options.accounts, after),
    unitsConsumed: run.unitsConsumed,
    loadedAccountsDataSize: reached ? loadedSize(svm, message, keys) : 0,
    returnData: run.returnData,
    innerInstructions: options.innerInstructions === true ? named(run.innerInstructions, keys) : null,
    replacementBlockhash: options.replacementBlockhash ?? null,
    fee: reached ? fee : null,
    preBalances: reached ? preBalances : null,
    postBalances: reached ? postBalances : null,
    preTokenBalances: null,
    postTokenBalances: null,
    loadedAddresses: reached ? loaded : null,
  }
}

const shownAccounts = (
  svm: Svm,
  keys: readonly Address[],
  run: Run,
  addresses: readonly Address[],
  after: ReadonlyMap<Address, EncodedAccount>,
) => {
  if (addresses.length > keys.length) throw invalidParams(`Too many accounts provided; max ${keys.length}`)
  return addresses.map((wanted) => {
    if (run.err !== null) return null
    const current = svm.account(wanted)
    const account = after.get(wanted) ?? (current.exists ? current : undefined)
    return account === undefined ? null : showAccount(account)
  })
}

/** Inner instructions with addresses in place of indexes. */
const named = (lists: Run["innerInstructions"], keys: readonly Address[]) =>
  lists.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map(({ programIdIndex, accounts, data, stackHeight }) => ({
      programId: keys[programIdIndex],
      accounts: accounts.map((account) => keys[account]),
      data,
      stackHeight,
    })),
  }))

/** The bytes that a transaction loads, as its limit counts them: every account once, and the code of its programs. */
const loadedSize = (svm: Svm, message: Wire["message"], keys: readonly Address[]): number => {
  const seen = new Set(keys)
  let size = 0
  for (const key of seen) {
    const account = svm.account(key)
    if (!account.exists) continue
    size += account.data.length + accountOverhead
    // A program account of this loader (tag 2) names the account with its code, which the set contains once.
    if (account.programAddress === upgradeableLoader && account.data[0] === 2)
      seen.add(address(base58(account.data.slice(4, 36))))
  }
  return size + (lookupsOf(message)?.length ?? 0) * lookupTableSize
}
