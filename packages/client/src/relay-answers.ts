import { commitments } from "@svc/common/chain-constants"
import { isObject, type Json, strange, text, u64, u64OrNull } from "./json.ts"
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

const chainError = (value: Json): ChainError | null => {
  const { err } = value
  if (err === null || typeof err === "string" || isObject(err)) return err
  throw strange("err")
}

const statusOf = (value: Json): Status => {
  const said = value["confirmationStatus"]
  const confirmations = u64OrNull(value, "confirmations")
  return {
    slot: u64(value, "slot"),
    confirmations,
    // Old validators omit it. A rooted transaction is finalized.
    confirmationStatus: commitments.find((one) => one === said) ?? (confirmations === null ? "finalized" : null),
    err: chainError(value),
  }
}

/** Only `null` means that the transaction wasn't found. */
export const readStatus = (answer: Json) => {
  const { status } = answer
  if (status !== null && !isObject(status)) throw strange("status")
  return { status: status === null ? null : statusOf(status), contextSlot: u64(answer, "contextSlot") }
}

const listOf = (value: unknown, name: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw strange(name)
  return value
}

const strings = (value: unknown, name: string): readonly string[] =>
  listOf(value, name).map((item) => {
    if (typeof item !== "string") throw strange(name)
    return item
  })

const orNull = <Value>(value: unknown, reader: (value: unknown) => Value): Value | null =>
  value === null || value === undefined ? null : reader(value)

const within = (value: unknown, name: string): Json => {
  if (!isObject(value)) throw strange(name)
  return value
}

const accountOf = (value: unknown): Account => {
  const account = within(value, "accounts")
  return {
    lamports: u64(account, "lamports"),
    owner: text(account, "owner"),
    data: strings(account["data"], "data"),
    executable: account["executable"] === true,
    ...(account["rentEpoch"] === undefined ? {} : { rentEpoch: u64(account, "rentEpoch") }),
    ...(account["space"] === undefined ? {} : { space: u64(account, "space") }),
  }
}

export const readSimulation = (answer: Json): Simulation => ({
  contextSlot: u64(answer, "contextSlot"),
  err: chainError(answer),
  logs: orNull(answer["logs"], (logs) => strings(logs, "logs")),
  unitsConsumed: u64OrNull(answer, "unitsConsumed"),
  loadedAccountsDataSize: u64OrNull(answer, "loadedAccountsDataSize"),
  returnData: orNull(answer["returnData"], (value) => {
    const returned = within(value, "returnData")
    return { programId: text(returned, "programId"), data: strings(returned["data"], "returnData") }
  }),
  innerInstructions: orNull(answer["innerInstructions"], (value) => listOf(value, "innerInstructions")),
  accounts: orNull(answer["accounts"], (value) => listOf(value, "accounts").map((one) => orNull(one, accountOf))),
  replacementBlockhash: orNull(answer["replacementBlockhash"], (value) => {
    const replaced = within(value, "replacementBlockhash")
    return { blockhash: text(replaced, "blockhash"), lastValidBlockHeight: u64(replaced, "lastValidBlockHeight") }
  }),
})
