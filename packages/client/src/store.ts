import type { Commitment } from "./relay.ts"
import type { ChainError } from "./relay-answers.ts"
import { readSigned } from "./wire.ts"

/** What a journal keeps of one payment: plain JSON, u64 as decimal strings. */
export type PaymentRecord = {
  readonly id: string
  /** 1 for the first record of an id, one more with each change. A version is never used again. */
  readonly version: number
  /** `open`: it may still land. `landed`: finalized. `expired`: this attempt can't land anymore. */
  readonly state: "open" | "landed" | "expired"
  /** How many transactions were signed for this id so far, this one included. */
  readonly attempt: number
  readonly signature: string
  /** The signed bytes, base64. */
  readonly transaction: string
  readonly lastValidBlockHeight: string
  readonly fingerprint: string
  /** What the caller said that it is for. */
  readonly purpose?: string
  readonly relayUrl: string
  /** The chain's finalized block height when this attempt was stored. */
  readonly finalizedHeight: string
  /** When this attempt was stored, ISO 8601. */
  readonly storedAt: string
  /** The code of the refusal that the first send got. */
  readonly refused?: string
  /** Where it landed. */
  readonly slot?: string
  /** null: it succeeded. */
  readonly err?: ChainError | null
}

/** What `forget` leaves: it keeps old versions from being used again. */
export type ForgottenRecord = { readonly id: string; readonly version: number; readonly state: "forgotten" }

/** A record that can't be read. */
export type DamagedRecord = {
  /** Missing where even that is lost. */
  readonly id?: string
  readonly version: number
  readonly state: "damaged"
  readonly file?: string
}

export type StoredRecord = PaymentRecord | ForgottenRecord

type Awaitable<Value> = Value | Promise<Value>

/** Where a journal keeps its records. Whoever shares payments shares one store. */
export type Store = {
  /** The newest record of an id. A record that it returns is durable. */
  readonly get: (id: string) => Awaitable<StoredRecord | DamagedRecord | undefined>
  /**
   * Stores a record if the newest version of its id is `expectedVersion` (0: there is none), all in one step. Resolves when
   * the record is durable; false: another version is the newest one, and nothing was stored.
   */
  readonly put: (id: string, record: StoredRecord, expectedVersion: number) => Awaitable<boolean>
  /** The newest record of each id. */
  readonly list: () => Awaitable<readonly (StoredRecord | DamagedRecord)[]>
  /** Removes the versions of an id up to this one. */
  readonly remove: (id: string, version: number) => Awaitable<void>
  /** Where a version is, for people: a file's path. */
  readonly placeOf?: (id: string, version: number) => string
}

/** A store for tests: it ends with the process. */
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

/** Whether a store returned what a journal wrote for this id. */
export const isSound = (record: StoredRecord, id: string): boolean => {
  const { state, version } = record
  if (record.id !== id || !(version > 0) || state === "forgotten") return record.id === id && version > 0
  const { attempt, lastValidBlockHeight, finalizedHeight, slot, transaction, signature } = record
  try {
    return (
      ["open", "landed", "expired"].includes(state) &&
      attempt > 0 &&
      [lastValidBlockHeight, finalizedHeight, slot ?? "0"].every(isU64) &&
      (slot !== undefined || state !== "landed") &&
      readSigned(transaction).signature === signature
    )
  } catch {
    return false
  }
}

/** The outcome that a landed record stands for. */
export const landedOutcome = ({ signature, slot = "0", err = null }: PaymentRecord) => ({
  state: "landed" as const,
  signature,
  slot: BigInt(slot),
  commitment: "finalized" satisfies Commitment as Commitment,
  err,
})
