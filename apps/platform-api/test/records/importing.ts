import { randomBytes } from "node:crypto"
import { sql } from "../../src/db/drizzle.ts"
import type { Queries } from "../../src/db/database.ts"
import { importRecords } from "../../src/records/import/import-records.ts"
import type { TestService } from "../service.ts"

type Ids = Readonly<Record<string, number>>
type Imported = { readonly specs: Ids; readonly builds: Ids; readonly deployments: Ids; readonly runs: Ids }

export const importedAt = new Date("2026-11-21T08:00:00.123Z")

// The service's own connections cut a statement short; the operator's do not.
const patiently = (queries: Queries): Pick<Queries, "transaction"> => ({
  transaction: (work) =>
    queries.transaction(async (tx) => {
      await tx.execute(sql`set local statement_timeout = 0`)
      return work(tx)
    }),
})

/** Imports a document into the service's database, as the operator's command does. */
export const importInto = (service: TestService, document: unknown): Promise<Imported> =>
  importRecords(patiently(service.database()), JSON.stringify(document), {
    at: importedAt,
    randomBytes,
    streamUrl: "wss://streams.example",
  })

/** The id that a reference of the import stands for. */
export const idOf = (ids: Ids, ref: string): number => {
  const id = ids[ref]
  if (id === undefined) throw new Error(`no id for ${ref}`)
  return id
}

const tables = [
  "specs",
  "spec_versions",
  "builds",
  "build_events",
  "deployments",
  "deployment_events",
  "runs",
  "run_events",
  "run_steps",
  "spec_shares",
  "build_shares",
  "deployment_shares",
  "run_shares",
  "audit_log",
]

/** How many rows each table that an import writes to has. */
export const countRows = async (service: TestService): Promise<Readonly<Record<string, number>>> => {
  const counts = tables.map((table) => `(select count(*)::integer from ${table}) as ${table}`)
  const [row] = await service.database().query<Record<string, number>>(`select ${counts.join(", ")} where $1`, [true])
  return row ?? {}
}
