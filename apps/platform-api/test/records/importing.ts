import { randomBytes } from "node:crypto"
import { importRecords } from "../../src/operator/records-import.ts"
import type { TestService } from "../service.ts"

type Ids = Readonly<Record<string, number>>
type Imported = { readonly specs: Ids; readonly builds: Ids; readonly deployments: Ids; readonly runs: Ids }

export const importedAt = new Date("2026-11-21T08:00:00.123Z")

/** Imports a document into the service's database, as the operator's command does. */
export const importInto = (service: TestService, document: unknown): Promise<Imported> =>
  importRecords(service.database(), JSON.stringify(document), {
    at: importedAt,
    randomBytes,
    relayUrl: "https://relay.example",
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
