import { fileURLToPath } from "node:url"
import type { Queries } from "./database.ts"
import { readMigrationFiles, sql } from "./drizzle.ts"

const migrationsFolder = fileURLToPath(new URL("../../migrations", import.meta.url))

// Any fixed number will do, as long as every version of the service takes the same.
const lock = 7_264_911_301

/**
 * Brings the tables up to date: every migration that is newer than the last one applied, all in one transaction, one
 * process at a time. Gives the number applied. A database that is ahead (a newer version runs beside this one) stays.
 * @param folder another version's migrations
 */
export const migrate = (queries: Pick<Queries, "transaction">, folder = migrationsFolder): Promise<number> => {
  const files = readMigrationFiles({ migrationsFolder: folder })
  return queries.transaction(async (tx) => {
    // First of all: the limit also counts the wait for another process that migrates.
    await tx.execute(sql`set local statement_timeout = 0`)
    await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(lock))})`)
    // Looked for first: a role that may not make tables can still find that nothing is left to do.
    const name = sql<string | null>`to_regclass('schema_migrations')::text`
    const [made] = await tx.select({ name }).from(sql`(select) nothing`)
    if (made?.name === null) {
      await tx.execute(
        sql`create table schema_migrations (at bigint primary key, hash text not null, applied_at timestamptz not null default now())`,
      )
    }
    const [last] = await tx.select({ at: sql<string | null>`max(at)::text` }).from(sql`schema_migrations`)
    const pending = files.filter((file) => file.folderMillis > Number(last?.at ?? 0))
    for (const file of pending) {
      for (const statement of file.sql) await tx.execute(sql.raw(statement))
      await tx.execute(sql`insert into schema_migrations (at, hash) values (${file.folderMillis}, ${file.hash})`)
    }
    return pending.length
  })
}
