import { asSvcError, ownError, type SvcError } from "../http/error.ts"
import { type DamagedRecord, isSound, type PaymentRecord, type Store, type StoredRecord } from "./store.ts"
import { stoppedError } from "../relay/wire.ts"

const damaged = (id: string, { file, version }: DamagedRecord): SvcError =>
  stoppedError(
    "journal-damaged",
    `the record of "${id}" is damaged (${file ?? version}): look on the chain whether it was paid, then forget it by force`,
    { file, version },
  )

/** Reads and checks the records of a store, and replaces only the version that was read. */
export const createRecords = (store: Store) => {
  const inStore = async <Value>(work: () => Value | Promise<Value>): Promise<Value> => {
    try {
      return await work()
    } catch (thrown) {
      throw asSvcError(thrown, "journal-unavailable", "This call sent nothing that can land: the store failed")
    }
  }

  const inspect = (record: StoredRecord | DamagedRecord, id: string): StoredRecord | DamagedRecord => {
    if (record.state === "damaged" || isSound(record, id)) return record
    const { version } = record
    return { id, version, state: "damaged", ...(store.placeOf && { file: store.placeOf(id, version) }) }
  }

  const look = async (id: string): Promise<StoredRecord | DamagedRecord | undefined> => {
    const record = await inStore(() => store.get(id))
    return record ? inspect(record, id) : undefined
  }

  const read = async (id: string): Promise<StoredRecord | undefined> => {
    const record = await look(id)
    if (record?.state === "damaged") throw damaged(id, record)
    return record
  }

  /** Stores the next version of a record. Returns false if another process has stored one first. */
  const write = async (record: StoredRecord): Promise<boolean> => {
    const { id, version } = record
    if (await inStore(() => store.put(id, record, version - 1))) return true
    if (((await look(id))?.version ?? 0) >= version) return false
    return inStore(() => Promise.reject(Error(`It refuses "${id}"`)))
  }

  const list = async ({ open }: { readonly open?: boolean | undefined } = {}) => {
    const records = (await inStore(store.list)).map((record) => inspect(record, record.id ?? ""))
    return records.flatMap((record): readonly (PaymentRecord | DamagedRecord)[] =>
      record.state === "forgotten" || (open && record.state !== "open") ? [] : [record],
    )
  }

  const forget = async (id: string, { force }: { readonly force?: boolean | undefined } = {}): Promise<void> => {
    const record = await look(id)
    if (record === undefined) return
    const { state, version } = record
    if (state === "damaged" && !force) throw damaged(id, record)
    if (state === "open" && !force) throw ownError("payment-open", `"${id}" may still land: settle it first`)
    if (state !== "forgotten" && !(await write({ id, version: version + 1, state: "forgotten" }))) {
      return forget(id, { force })
    }
    await inStore(() => store.remove(id, state === "forgotten" ? version - 1 : version))
  }

  return { read, write, list, forget }
}

export type Records = ReturnType<typeof createRecords>
