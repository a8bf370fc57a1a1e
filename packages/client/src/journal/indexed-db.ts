import type { Store, StoredRecord } from "./store.ts"

// The part of IndexedDB that is used here, because the library is compiled without browser types.
type Emitter = { readonly addEventListener: (event: string, listener: () => void) => void }
type Request<Result> = Emitter & { readonly result: Result; readonly error: unknown }
type Records = {
  readonly get: (id: string) => Request<StoredRecord | undefined>
  readonly getAll: () => Request<StoredRecord[]>
  readonly put: (record: StoredRecord) => unknown
  readonly delete: (id: string) => unknown
}
type Database = Emitter & {
  readonly transaction: (
    name: string,
    mode: string,
    options: { readonly durability: "strict" },
  ) => Emitter & { readonly error: unknown; readonly objectStore: (name: string) => Records }
  readonly createObjectStore: (name: string, options: { readonly keyPath: string }) => unknown
  readonly close: () => void
}
declare const indexedDB: { readonly open: (name: string, version: number) => Request<Database> }
declare const navigator: { readonly storage?: { readonly persist?: () => Promise<boolean> } }

const table = "payments"

/** The store in the IndexedDB database `name`. */
export const openIndexedDb = (name: string): Store => {
  let opened: Promise<Database> | undefined
  const leave = (): void => void (opened = undefined)

  const open = (): Promise<Database> =>
    new Promise((resolve, reject) => {
      const request = indexedDB.open(name, 1)
      request.addEventListener("upgradeneeded", () => request.result.createObjectStore(table, { keyPath: "id" }))
      request.addEventListener("error", () => reject(request.error))
      request.addEventListener("success", () => {
        const database = request.result
        database.addEventListener("close", leave)
        // Another tab deletes the database.
        database.addEventListener("versionchange", () => {
          leave()
          database.close()
        })
        resolve(database)
      })
      navigator.storage?.persist?.().catch(() => {})
    })

  const connect = (): Promise<Database> =>
    (opened ??= open().catch((error: unknown) => {
      leave()
      throw error
    }))

  const begin = (database: Database, mode: string) => database.transaction(table, mode, { durability: "strict" })

  /** A new transaction. Safari closes connections without an event: then it is another connection's. */
  const transact = async (mode: string): Promise<ReturnType<typeof begin>> => {
    const connection = connect()
    const database = await connection
    try {
      return begin(database, mode)
    } catch {
      if (opened === connection) leave()
      return begin(await connect(), mode)
    }
  }

  /** Runs one transaction. Resolves with the value that `work` set, when the transaction is durable. */
  const run = async <Value>(
    first: Value,
    work: (records: Records, set: (value: Value) => void) => void,
    mode = "readwrite",
  ): Promise<Value> => {
    const transaction = await transact(mode)
    return new Promise((resolve, reject) => {
      let value = first
      transaction.addEventListener("complete", () => resolve(value))
      transaction.addEventListener("abort", () => reject(transaction.error))
      work(transaction.objectStore(table), (next) => (value = next))
    })
  }
  /** Passes on the result of a read while the transaction is still open. */
  const after = <Value>(request: Request<Value>, use: (value: Value) => void): void =>
    request.addEventListener("success", () => use(request.result))

  return {
    get: (id) => run<StoredRecord | undefined>(undefined, (records, set) => after(records.get(id), set), "readonly"),
    put: (id, record, expectedVersion) =>
      run(false, (records, set) =>
        after(records.get(id), (found) => {
          if ((found?.version ?? 0) !== expectedVersion) return
          records.put(record)
          set(true)
        }),
      ),
    list: () => run<StoredRecord[]>([], (records, set) => after(records.getAll(), set), "readonly"),
    remove: (id, version) =>
      run<void>(undefined, (records) =>
        after(records.get(id), (found) => {
          if (found !== undefined && found.version <= version) records.delete(id)
        }),
      ),
  }
}
