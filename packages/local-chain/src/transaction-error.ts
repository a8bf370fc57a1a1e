import type { FailedTransactionMetadata } from "litesvm"

/** A transaction's error in the JSON-RPC API: `"BlockhashNotFound"`, `{"InstructionError":[0,{"Custom":1}]}`. */
export type TransactionError = string | { [name: string]: unknown }

// The VM's bindings number their errors: these are the names, in that order.
const transactionErrors =
  `AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee
  InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee
  InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure ClusterMaintenance
  AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount
  WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound
  InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex
  InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit
  MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit
  UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled`.split(/\s+/)

/** A validator's words for those that occur here. */
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

const instructionErrors =
  `GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds
  IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction
  ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified
  DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged
  AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError
  ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth
  MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded
  PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable
  IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner
  MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded
  BuiltinProgramsMustConsumeComputeUnits BorshIoError`.split(/\s+/)

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

export const transactionError = (failed: FailedTransactionMetadata): TransactionError => {
  const error = failed.err()
  if (typeof error === "number") return transactionErrors[error] ?? "SanitizeFailure"
  if ("err" in error) {
    const cause = error.err()
    if (typeof cause === "number")
      return { InstructionError: [error.index, instructionErrors[cause] ?? "GenericError"] }
    return { InstructionError: [error.index, "code" in cause ? { Custom: cause.code } : "BorshIoError"] }
  }
  if ("index" in error) return { DuplicateInstruction: error.index }
  // In the bindings, the two errors that name an account have the same shape.
  const name = String(error).includes("InsufficientFundsForRent")
    ? "InsufficientFundsForRent"
    : "ProgramExecutionTemporarilyRestricted"
  return { [name]: { account_index: error.accountIndex } }
}

const spaced = (name: string) => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()

/** The error in words, as validators write them after "Transaction simulation failed: ". */
export const describe = (error: TransactionError): string => {
  if (typeof error === "string") return words[error] ?? spaced(error)
  if ("InsufficientFundsForRent" in error) return "Transaction results in an account with insufficient funds for rent"
  if ("DuplicateInstruction" in error) return "Transaction contains a duplicate instruction that is not allowed"
  const failure = error["InstructionError"]
  if (!Array.isArray(failure)) return spaced(Object.keys(error).join(" "))
  const [index, cause]: unknown[] = failure
  const reason = typeof cause === "string" ? spaced(cause) : `custom program error: 0x${customCode(cause).toString(16)}`
  return `Error processing Instruction ${String(index)}: ${reason}`
}

const customCode = (cause: unknown): number =>
  cause !== null && typeof cause === "object" && "Custom" in cause ? Number(cause.Custom) : 0
