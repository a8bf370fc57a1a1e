import type { ChainError } from "../relay/relay-answers.ts"
import { readSigned } from "../relay/wire.ts"

const states = ["open", "landed", "expired"] as const

/** A journal's record of a payment: plain JSON, with u64 as decimal strings. */
export type PaymentRecord = {
  readonly id: string
  /** 1 for the first record of an id, plus one with each change. Versions are never reused. */
  readonly version: number
  /** `open`: it may still land. `landed`: finalized. `expired`: this attempt can't land anymore. */
  readonly state: (typeof states)[number]
  /** How many transactions were signed for this id, including this one. */
  readonly attempt: number
  readonly signature: string
  /** The signed bytes, base64. */
  readonly transaction: string
  readonly lastValidBlockHeight: string
  readonly fingerprint: string
  readonly payer: string
  /** The programs that the transaction calls, without the compute budget's. */
  readonly programs: readonly string[]
  /** The caller's `purpose`. */
  readonly purpose?: string
  readonly relayUrl: string
  /** The chain's genesis hash, base58, if the journal could tell it. */
  readonly genesisHash?: string | undefined
  /** The chain's finalized block height when this attempt was stored. */
  readonly finalizedHeight: string
  /** When this attempt was stored, ISO 8601. */
  readonly storedAt: string
  /** Since when it has been in this state, ISO 8601. */
  readonly stateSince: string
  /** The error code, if the first send was refused. */
  readonly refused?: string | undefined
  /** The slot in which it landed. */
  readonly slot?: string | undefined
  /** null: it succeeded. */
  readonly err?: ChainError | null | undefined
}

/** Left behind by `forget`, so that old versions are never reused. */
export type ForgottenRecord = { readonly id: string; readonly version: number; readonly state: "forgotten" }

/** A record that can't be read. */
export type DamagedRecord = {
  /** Missing if the id is unknown. */
  readonly id?: string
  readonly version: number
  readonly state: "damaged"
  readonly file?: string
}

export type StoredRecord = PaymentRecord | ForgottenRecord

type Awaitable<Value> = Value | Promise<Value>

/** Where a journal keeps its records. Processes that share payments must share one store. */
export type Store = {
  /** The newest record of an id, which is durable when this returns it. */
  readonly get: (id: string) => Awaitable<StoredRecord | DamagedRecord | undefined>
  /**
   * Stores a record atomically if the newest version of its id is `expectedVersion` (0: there is none). Resolves when the
   * record is durable. Resolves with false if another version is the newest; then nothing was stored.
   */
  readonly put: (id: string, record: StoredRecord, expectedVersion: number) => Awaitable<boolean>
  /** The newest record of each id. */
  readonly list: () => Awaitable<readonly (StoredRecord | DamagedRecord)[]>
  /** Removes the versions of an id up to this one. */
  readonly remove: (id: string, version: number) => Awaitable<void>
  /** Where a version is stored, such as a file path, for messages. */
  readonly placeOf?: (id: string, version: number) => string
}

/**
 * A store in memory, for tests.
 *
 * @example
 * const journal = createJournal({ relay, store: memoryStore() })
 */
export const memoryStore = (): Store => {
  const records = new Map<string, StoredRecord>()
  return {
    get: (id) => records.get(id),
    put: (id, record, expectedVersion) => {
      if ((records.get(id)?.version ?? 0) !== expectedVersion) return false
      records.set(id, record)
      return true
    },
    list: () => [...records.values()],
    remove: (id, version) => {
      if ((records.get(id)?.version ?? 0) <= version) records.delete(id)
    },
  }
}

const isU64 = (value: unknown): boolean => typeof value === "string" && /^\d{1,20}$/.test(value)

/** Whether a store returned a valid record for this id. */
export const isSound = (record: StoredRecord, id: string): boolean => {
  const { state, version } = record
  const isOfId = record.id === id && version > 0
  if (!isOfId || state === "forgotten") return isOfId
  const { attempt, lastValidBlockHeight, finalizedHeight, slot, transaction, signature } = record
  try {
    return (
      states.includes(state) &&
      attempt > 0 &&
      [lastValidBlockHeight, finalizedHeight, slot ?? "0"].every(isU64) &&
      (slot !== undefined || state !== "landed") &&
      readSigned(transaction).signature === signature
    )
  } catch {
    return false
  }
}
