// drizzle-orm's ESM build costs 400 ms and 120 MB more than its CommonJS build, so it is loaded through `require`.
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

type Load = {
  <T>(id: string): T
}
const load: Load = (id) => require(id)

export const pg = load<typeof import("drizzle-orm/pg-core")>("drizzle-orm/pg-core")
export const { and, asc, count, desc, eq, gt, inArray, isNull, lt, sql } =
  load<typeof import("drizzle-orm")>("drizzle-orm")
/** Loaded only by the process that needs it. */
export const loadPostgresDriver = () => load<typeof import("drizzle-orm/postgres-js")>("drizzle-orm/postgres-js")
export const loadEmbeddedDriver = () => load<typeof import("drizzle-orm/pglite")>("drizzle-orm/pglite")
export const { readMigrationFiles } = load<typeof import("drizzle-orm/migrator")>("drizzle-orm/migrator")
