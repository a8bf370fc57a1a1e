import { commitments } from "@svc/common/chain-constants"
import { isObject, list, nullable, object, type Reader, strange, text, u64 } from "../http/json.ts"
import type { Commitment } from "./relay.ts"

/** Why a transaction failed, as the chain reports it: `"AccountNotFound"`, `{InstructionError: [0, {Custom: 1}]}`. */
export type ChainError = string | Readonly<Record<string, unknown>>

/** A transaction's status. */
export type Status = {
  readonly slot: bigint
  /** The number of blocks after its block; null: rooted. */
  readonly confirmations: bigint | null
  readonly confirmationStatus: Commitment | null
  /** null: it succeeded. */
  readonly err: ChainError | null
}

/** An account's state; `data` is `[base64, "base64"]`. */
export type Account = {
  readonly lamports: bigint
  readonly owner: string
  readonly data: readonly string[]
  readonly executable: boolean
  readonly rentEpoch?: bigint
  readonly space?: bigint
}

/** What a transaction would do. Fields that the provider omitted are null. */
export type Simulation = {
  readonly contextSlot: bigint
  /** null: it would succeed. */
  readonly err: ChainError | null
  readonly logs: readonly string[] | null
  /** Compute units. */
  readonly unitsConsumed: bigint | null
  /** Bytes. */
  readonly loadedAccountsDataSize: bigint | null
  readonly returnData: { readonly programId: string; readonly data: readonly string[] } | null
  readonly innerInstructions: readonly unknown[] | null
  readonly accounts: readonly (Account | null)[] | null
  readonly replacementBlockhash: { readonly blockhash: string; readonly lastValidBlockHeight: bigint } | null
}

const chainError: Reader<ChainError | null> = (err, name) => {
  if (err === null || typeof err === "string" || isObject(err)) return err
  throw strange(name)
}

const status: Reader<Status> = (value, name) => {
  const read = object({
    slot: u64,
    confirmations: nullable(u64),
    confirmationStatus: (said) => commitments.find((one) => one === said) ?? null,
    err: chainError,
  })(value, name)
  // Old validators omit it. A rooted transaction is finalized.
  return { ...read, confirmationStatus: read.confirmationStatus ?? (read.confirmations === null ? "finalized" : null) }
}

/** Only `null` means that the transaction wasn't found. */
export const readStatus = object({ status: nullable(status), contextSlot: u64 })

const orNull =
  <Value>(reader: Reader<Value>): Reader<Value | null> =>
  (value, name) =>
    nullable(reader)(value ?? null, name)

const optional =
  <Value>(reader: Reader<Value>): Reader<Value | undefined> =>
  (value, name) =>
    value === undefined ? undefined : reader(value, name)

const account = object<Account>({
  lamports: u64,
  owner: text,
  data: list(text),
  executable: (value) => value === true,
  rentEpoch: optional(u64),
  space: optional(u64),
})

export const readSimulation = object<Simulation>({
  contextSlot: u64,
  err: chainError,
  logs: orNull(list(text)),
  unitsConsumed: nullable(u64),
  loadedAccountsDataSize: nullable(u64),
  returnData: orNull(object({ programId: text, data: list(text) })),
  innerInstructions: orNull(list((one) => one)),
  accounts: orNull(list(orNull(account))),
  replacementBlockhash: orNull(object({ blockhash: text, lastValidBlockHeight: u64 })),
})
