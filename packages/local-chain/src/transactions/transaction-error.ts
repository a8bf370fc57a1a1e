import { isObject } from "@svc/common/json-object"
import type { FailedTransactionMetadata } from "litesvm"

/** A transaction's error in the JSON-RPC API: `"BlockhashNotFound"`, `{"InstructionError":[0,{"Custom":1}]}`. */
export type TransactionError = string | { [name: string]: unknown }

/** A validator's texts for the errors that occur here. */
const words: Readonly<Record<string, string>> = {
  AccountNotFound: "Attempt to debit an account but found no record of a prior credit.",
  ProgramAccountNotFound: "Attempt to load a program that does not exist",
  InsufficientFundsForFee: "Insufficient funds for fee",
  InvalidAccountForFee: "This account may not be used to pay transaction fees",
  AlreadyProcessed: "This transaction has already been processed",
  BlockhashNotFound: "Blockhash not found",
  InvalidAccountIndex: "Transaction contains an invalid account reference",
  SignatureFailure: "Transaction did not pass signature verification",
  InvalidProgramForExecution: "This program may not be used for executing instructions",
  SanitizeFailure: "Transaction failed to sanitize accounts offsets correctly",
  TooManyAccountLocks: "Transaction locked too many accounts",
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  InvalidAddressLookupTableOwner: "Transaction loads an address table account with an invalid owner",
  InvalidAddressLookupTableData: "Transaction loads an address table account with invalid data",
  InvalidAddressLookupTableIndex: "Transaction address table lookup uses an invalid index",
  MaxLoadedAccountsDataSizeExceeded: "Transaction exceeded max loaded accounts data size cap",
}

/** Errors that are found before a transaction reaches a bank. A validator rejects such a transaction as an invalid parameter. */
const unsanitary: ReadonlySet<unknown> = new Set([
  "SanitizeFailure",
  "AddressLookupTableNotFound",
  "InvalidAddressLookupTableOwner",
  "InvalidAddressLookupTableData",
  "InvalidAddressLookupTableIndex",
])

/** Errors of loading programs, after the payer was checked. Such a transaction lands and pays its fee. */
const feesOnly: ReadonlySet<unknown> = new Set([
  "ProgramAccountNotFound",
  "InvalidProgramForExecution",
  "MaxLoadedAccountsDataSizeExceeded",
])

export const isUnsanitary = (error: TransactionError | null) => unsanitary.has(error)
/** Whether a transaction with this error pays its fee. */
export const paysFee = (error: TransactionError | null): boolean =>
  typeof error === "object"
    ? error === null || "InstructionError" in error || "InsufficientFundsForRent" in error
    : feesOnly.has(error)
export const isFeesOnly = (error: TransactionError | null) => feesOnly.has(error)

// The bindings return most errors as a number, but print the name: `err: InstructionError(0, Custom(1)), meta: …`.
const written = /\berr: (\w+)(?:\((\d+)(?:, (\w+)(?:\((\d+)\))?)?| \{ account_index: (\d+))?/

export const transactionError = (failed: FailedTransactionMetadata): TransactionError => {
  const [, name = "SanitizeFailure", index, cause, code, account] = written.exec(failed.toString()) ?? []
  if (account !== undefined) return { [name]: { account_index: Number(account) } }
  if (index === undefined) return name
  if (cause === undefined) return { [name]: Number(index) }
  return { [name]: [Number(index), code === undefined ? cause : { Custom: Number(code) }] }
}

const spaced = (name: string) => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()

/** The error in words, as validators write them after "Transaction simulation failed: ". */
export const describe = (error: TransactionError): string => {
  if (typeof error === "string") return words[error] ?? spaced(error)
  const { InsufficientFundsForRent: rent, DuplicateInstruction: copy } = error
  if (isObject(rent)) {
    return `Transaction results in an account (${String(rent["account_index"])}) with insufficient funds for rent`
  }
  if (typeof copy === "number") return `Transaction contains a duplicate instruction (${copy}) that is not allowed`
  const failure = error["InstructionError"]
  if (!Array.isArray(failure)) return spaced(Object.keys(error).join(" "))
  const [index, cause]: unknown[] = failure
  const code = isObject(cause) ? Number(cause["Custom"] ?? 0) : 0
  const reason = typeof cause === "string" ? spaced(cause) : `custom program error: 0x${code.toString(16)}`
  return `Error processing Instruction ${String(index)}: ${reason}`
}
