import {
  type Check,
  checkClock,
  checkFolder,
  checkLimitsStore,
  checkPublicUrl,
  fail,
  type Finding,
  isPublic,
  pass,
  warn,
} from "@svc/program"
import { type Config, readConfig } from "../config.ts"
import type { Queries } from "../db/database.ts"
import { sql } from "../db/drizzle.ts"
import { DatabaseUnavailable } from "../db/errors.ts"
import { migrationFiles, pendingOf } from "../db/migrate.ts"
import { openServerDatabase } from "../db/server/server.ts"

const oldestServer = 15
const statementMs = 5_000
// Each replica uses ten connections, and one that listens.
const connectionsPerReplica = 11

const look = (queries: Queries) =>
  queries.run((orm) =>
    orm
      .select({
        version: sql<string>`current_setting('server_version')`,
        now: sql<string>`(extract(epoch from clock_timestamp()) * 1000)::text`,
        isStandby: sql<boolean>`pg_is_in_recovery()`,
        user: sql<string>`current_user::text`,
        isSuperuser: sql<boolean>`(select rolsuper from pg_roles where rolname = current_user)`,
        free: sql<number>`current_setting('max_connections')::int - (select count(*)::int from pg_stat_activity where backend_type = 'client backend')`,
        migrations: sql<string | null>`to_regclass('schema_migrations')::text`,
      })
      .from(sql`(select) nothing`),
  )

const migrationFinding = async (queries: Queries, isMade: boolean): Promise<Finding> => {
  const files = migrationFiles()
  const { length: pending } = isMade ? await queries.run((db) => pendingOf(db, files)) : files
  if (pending === 0) return pass("migrations", `all ${files.length} are applied`)
  return fail(
    "migrations",
    `${pending} of ${files.length} are missing`,
    "Back up the database, then run `platform migrate`.",
  )
}

const rightsFinding = async (queries: Queries, user: string): Promise<Finding> => {
  const lacking = await queries.run((orm) =>
    orm
      .select({ name: sql<string>`c.relname::text` })
      .from(sql`pg_class c`)
      .where(
        sql`c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and not (has_table_privilege(c.oid, 'SELECT') and (c.relname = 'schema_migrations' or has_table_privilege(c.oid, 'INSERT')))`,
      ),
  )
  if (lacking.length === 0) return pass("rights", `${user} can use all tables`)
  const names = lacking.map(({ name }) => name).join(", ")
  return fail("rights", `${user} can't use ${names}`, "Grant the rights as docs/operations.md, The database, says.")
}

const checkDatabase = async (url: string, now: () => number, wallClock: () => number): Promise<readonly Finding[]> => {
  const database = openServerDatabase({ url, statementMs, connections: 1, now })
  try {
    const queries = database.within(statementMs)
    const before = wallClock()
    const [found] = await look(queries)
    if (found === undefined) return []
    const clock = checkClock("the database", Number(found.now), (before + wallClock()) / 2, 0)
    const findings: Finding[] = [...clock]
    const add = (finding: Finding) => void findings.push(finding)
    const isOld = Number.parseInt(found.version, 10) < oldestServer
    if (isOld)
      add(fail("database", `PostgreSQL ${found.version} is too old`, `Use PostgreSQL ${oldestServer} or newer.`))
    else add(pass("database", `PostgreSQL ${found.version} answers`))
    if (found.isStandby) add(fail("database", "it is a read-only standby", "Set DATABASE_URL to the primary server."))
    if (found.isSuperuser)
      add(
        warn(
          "rights",
          `the service runs as the superuser ${found.user}`,
          "Give it a role of its own: docs/operations.md, The database.",
        ),
      )
    if (found.free < connectionsPerReplica)
      add(warn("database", `only ${found.free} connections are free`, "Raise max_connections: each replica uses 11."))
    const migration = await migrationFinding(queries, found.migrations !== null)
    if (migration.verdict === "pass") add(await rightsFinding(queries, found.user))
    return [...findings, migration]
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error
    return [
      fail(
        "database",
        error.message,
        "Start the server, or correct DATABASE_URL (host, role, password, database, TLS).",
      ),
    ]
  } finally {
    await database.close()
  }
}

const checkSigningKey = ({ givenKeys, databaseUrl }: Config): readonly Finding[] => {
  if (givenKeys !== undefined) return [pass("signing-key", "it can be read")]
  const next = "Set SVC_SESSION_SIGNING_KEY_FILE; `platform session-key generate` makes a key."
  return [
    databaseUrl === undefined
      ? pass("signing-key", "it is generated in the data folder")
      : warn("signing-key", "each replica would generate its own, and reject the others' tokens", next),
  ]
}

const checkUrls = ({ publicUrl, docsUrl, streamUrl }: Config): readonly Finding[] => {
  const named = { SVC_DOCS_URL: docsUrl, SVC_STREAM_URL: streamUrl }
  const local = Object.entries(named).flatMap(([name, url]) => (isPublic(url) ? [] : [name]))
  if (!isPublic(publicUrl) || local.length === 0) return [pass("urls", "the other services' URLs fit this one's")]
  return [
    fail(
      "urls",
      `clients are told this machine's address: ${local.join(", ")}`,
      "Set them to the URLs that clients use.",
    ),
  ]
}

/** What the platform needs, as checks. Throws ConfigError. */
export const platformChecks = async (
  env: Readonly<Record<string, string | undefined>>,
  { now, wallClock }: { readonly now: () => number; readonly wallClock: () => number },
): Promise<Readonly<Record<string, Check>>> => {
  const config = await readConfig(env)
  const { databaseUrl, limits, dataFolder } = config
  const embedded = (): readonly Finding[] => [
    config.nodeEnv === "production"
      ? warn(
          "database",
          "an embedded one: one process, and a power failure can lose data",
          "Set DATABASE_URL to a PostgreSQL server.",
        )
      : pass("database", "an embedded one in the data folder; its migrations are applied at start"),
  ]
  const { url: store } = limits
  return {
    database: databaseUrl === undefined ? async () => embedded() : () => checkDatabase(databaseUrl, now, wallClock),
    "signing-key": async () => checkSigningKey(config),
    "data-folder": async () => checkFolder("data-folder", dataFolder),
    urls: async () => checkUrls(config),
    ...(store !== undefined && { "limits-store": () => checkLimitsStore(store, () => import("redis")) }),
    "public-url": () => checkPublicUrl("SVC_API_URL", config.publicUrl, wallClock()),
  }
}
