import { isObject } from "@svc/common/json-object"
import { instructionErrors, transactionErrors } from "@svc/common/runtime-errors"
import type { FailedTransactionMetadata } from "litesvm"

/** A transaction's error in the JSON-RPC API: `"BlockhashNotFound"`, `{"InstructionError":[0,{"Custom":1}]}`. */
export type TransactionError = string | { [name: string]: unknown }

const forms: Readonly<Record<string, string>> = {
  ...transactionErrors,
  AlreadyProcessed: "This transaction has already been processed",
}
const causes: Readonly<Record<string, string>> = instructionErrors

/** Errors that are found before a transaction reaches a bank. A validator rejects such a transaction as an invalid parameter. */
const unsanitary: ReadonlySet<unknown> = new Set([
  "SanitizeFailure",
  "AddressLookupTableNotFound",
  "InvalidAddressLookupTableOwner",
  "InvalidAddressLookupTableData",
  "InvalidAddressLookupTableIndex",
])

/** Errors of loading programs, after the payer was checked. Such a transaction lands and pays its fee. */
export const feesOnly: ReadonlySet<unknown> = new Set([
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

// The bindings return most errors as a number, but print the name: `err: InstructionError(0, Custom(1)), meta: …`.
const written = /\berr: (\w+)(?:\((\d+)(?:, (\w+)(?:\((\d+)\))?)?| \{ account_index: (\d+))?/

export const transactionError = (failed: FailedTransactionMetadata): TransactionError => {
  const [, name = "SanitizeFailure", index, cause, code, account] = written.exec(failed.toString()) ?? []
  if (account !== undefined) return { [name]: { account_index: Number(account) } }
  if (index === undefined) return name
  if (cause === undefined) return { [name]: Number(index) }
  return { [name]: [Number(index), code === undefined ? cause : { Custom: Number(code) }] }
}

/** The error in words, as validators write them after "Transaction simulation failed: ". */
export const describe = (error: TransactionError): string => {
  if (typeof error === "string") return forms[error] ?? error
  const [name = "", value] = Object.entries(error)[0] ?? []
  if (!Array.isArray(value)) {
    const number = isObject(value) ? value["account_index"] : value
    return (forms[name] ?? name).replace("<n>", String(number))
  }
  const [index, cause]: unknown[] = value
  const code = isObject(cause) ? Number(cause["Custom"] ?? 0) : 0
  const reason = typeof cause === "string" ? (causes[cause] ?? cause) : `custom program error: 0x${code.toString(16)}`
  return `Error processing Instruction ${String(index)}: ${reason}`
}
