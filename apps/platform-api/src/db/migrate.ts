import { fileURLToPath } from "node:url"
import { SetupError } from "@svc/config"
import { grant } from "./errors.ts"
import { type Orm, type Queries, readMigrationFiles, sql } from "./database.ts"

const migrationsFolder = fileURLToPath(new URL("../../migrations", import.meta.url))

// Any fixed number, but the same in every version of the service.
const lock = 7_264_911_301

/** The migrations of this version, oldest first. */
export const migrationFiles = (folder = migrationsFolder) => readMigrationFiles({ migrationsFolder: folder })

/** Those of the given migrations that a database lacks which has the table of applied ones. */
export const pendingOf = async (db: Orm, files: ReturnType<typeof migrationFiles>) => {
  const [last] = await db.select({ at: sql<string | null>`max(at)::text` }).from(sql`schema_migrations`)
  return files.filter(({ folderMillis }) => folderMillis > Number(last?.at ?? 0))
}

/** What is wrong if this role doesn't look into the schema of the tables. */
export const tablesElsewhere = async (db: Orm): Promise<SetupError | undefined> => {
  const exists = sql<boolean>`to_regnamespace('public') is not null`
  const isSearched = sql<boolean>`'public' = any(current_schemas(false))`
  const maySee = sql<boolean | null>`has_schema_privilege(to_regnamespace('public'), 'usage')`
  const [found] = await db.select({ exists, isSearched, maySee }).from(sql`(select) nothing`)
  if (found?.isSearched) return undefined
  // A path has only the schemas that the role may use.
  if (found?.maySee === false)
    return new SetupError("the role of DATABASE_URL can't use the schema public", "DATABASE_URL", grant)
  if (!found?.exists)
    return new SetupError(
      "the database has no schema public",
      "DATABASE_URL",
      "As its owner run: create schema public.",
    )
  const reason = "the tables belong to the schema public, which isn't in the search_path of DATABASE_URL's role"
  const next = "Take search_path out of DATABASE_URL's options, and reset it: alter role svc_service reset search_path."
  return new SetupError(reason, "DATABASE_URL", next)
}

const mayCreate = async (db: Orm): Promise<boolean> => {
  const allowed = sql<boolean>`has_schema_privilege(current_schema(), 'create')`
  const [found] = await db.select({ allowed }).from(sql`(select) nothing`)
  return found?.allowed === true
}

/**
 * Applies every new migration in one transaction, one process at a time. Returns their number. A database that is ahead
 * of this version stays as it is.
 * @param folder another version's migrations
 */
export const migrate = (queries: Pick<Queries, "transaction">, folder = migrationsFolder): Promise<number> => {
  return queries.transaction(async (tx) => {
    // First, because the timeout also covers the wait for another process that migrates.
    await tx.execute(sql`set local statement_timeout = 0`)
    await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(lock))})`)
    const elsewhere = await tablesElsewhere(tx)
    if (elsewhere !== undefined) throw elsewhere
    // The role may look into another schema first: by default, into one of its own name.
    await tx.execute(sql`set local search_path = public`)
    // A role that can't create tables can still find that nothing is left to do.
    const name = sql<string | null>`to_regclass('schema_migrations')::text`
    const [made] = await tx.select({ name }).from(sql`(select) nothing`)
    const isNew = made?.name === null
    const pending = isNew ? migrationFiles(folder) : await pendingOf(tx, migrationFiles(folder))
    if (pending.length > 0 && !(await mayCreate(tx))) {
      const reason = `${pending.length} migrations are missing, and the role of DATABASE_URL can't make tables`
      const owner = isNew ? "database" : "tables"
      throw new SetupError(
        reason,
        "DATABASE_URL",
        `Run the command \`migrate\` as the ${owner}'s owner, then start again.`,
      )
    }
    if (isNew) {
      await tx.execute(
        sql`create table schema_migrations (at bigint primary key, hash text not null, applied_at timestamptz not null default now())`,
      )
    }
    for (const file of pending) {
      for (const statement of file.sql) await tx.execute(sql.raw(statement))
      await tx.execute(sql`insert into schema_migrations (at, hash) values (${file.folderMillis}, ${file.hash})`)
    }
    return pending.length
  })
}
