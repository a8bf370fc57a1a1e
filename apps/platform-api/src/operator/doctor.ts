import { statSync } from "node:fs"
import {
  ask,
  type Check,
  checkFolder,
  checkOtherService,
  checkPublicUrl,
  checkReachable,
  fail,
  type Finding,
  isPublic,
  limitsStoreChecks,
  lookupFailure,
  pass,
  serviceChecks,
  stepAfter,
  warn,
} from "@svc/program"
import { validateTelemetry } from "@svc/telemetry"
import type { SQL } from "drizzle-orm"
import { type Config, readConfig } from "../config.ts"
import { orm, type Queries, sql } from "../db/database.ts"
import * as schema from "../db/schema/index.ts"
import { DatabaseUnavailable, pooling, stepFor, grant } from "../db/errors.ts"
import { migrationFiles, pendingOf, tablesElsewhere } from "../db/migrate.ts"
import { compareClocks } from "../db/server/clock.ts"
import { openServerDatabase } from "../db/server/server.ts"
import { readServerUrl } from "../db/server/session.ts"
import { keyAdvice } from "../signing-keys.ts"
import { unreachable } from "./failure.ts"

const oldestServer = 15
const statementMs = 5_000
// Each replica uses ten connections, and one that listens.
const connectionsPerReplica = 11

const look = (queries: Queries) =>
  queries.run((db) =>
    db
      .select({
        version: sql<string>`current_setting('server_version')`,
        process: sql<number>`pg_backend_pid()`,
        encoding: sql<string>`current_setting('server_encoding')`,
        isStandby: sql<boolean>`pg_is_in_recovery()`,
        isReadOnly: sql<boolean>`current_setting('transaction_read_only') = 'on'`,
        maySee: sql<boolean | null>`has_schema_privilege(to_regnamespace('public'), 'usage')`,
        isOwner: sql<boolean>`coalesce((select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass('audit_log')), false)`,
        user: sql<string>`current_user::text`,
        isSuperuser: sql<boolean>`(select rolsuper from pg_roles where rolname = current_user)`,
        free: sql<number>`current_setting('max_connections')::int - (select count(*)::int from pg_stat_activity where backend_type = 'client backend')`,
        // What the role or the database has. A session of the service sets its own limit of a statement in its first one.
        short: sql<
          string | null
        >`(select min(name) from pg_settings where name in ('statement_timeout', 'transaction_timeout') and reset_val::int between 1 and case name when 'statement_timeout' then 99 else 999 end)`,
        replicationRole: sql<string>`current_setting('session_replication_role')`,
        // Each replica has one session that listens.
        replicas: sql<number>`(select count(*)::int from pg_stat_activity where datname = current_database() and query ilike 'listen %')`,
        migrations: sql<string | null>`to_regclass('schema_migrations')::text`,
      })
      .from(sql`(select) nothing`),
  )

/** A restore that went on after an error leaves them out. A newer version's tables have them all. */
const missingColumns = async (queries: Queries): Promise<readonly string[]> => {
  const found = await queries.run((db) =>
    db
      .select({ name: sql<string>`relname || '.' || attname` })
      .from(sql`pg_attribute join pg_class c on c.oid = attrelid`)
      .where(sql`relnamespace = to_regnamespace('public') and not attisdropped`),
  )
  const there = new Set(found.map(({ name }) => name))
  const wanted = Object.values(schema).flatMap((table) =>
    orm.isTable(table)
      ? Object.values(orm.getTableColumns(table)).map(({ name }) => `${orm.getTableName(table)}.${name}`)
      : [],
  )
  return wanted.filter((name) => !there.has(name))
}

const migrationFinding = async (queries: Queries, isMade: boolean): Promise<Finding> => {
  const files = migrationFiles()
  const { length: pending } = isMade ? await queries.run((db) => pendingOf(db, files)) : files
  if (pending === 0) {
    const missing = await missingColumns(queries)
    if (missing.length === 0) return pass("migrations", `all ${files.length} are applied`)
    const text = `all ${files.length} are applied, but these columns are missing: ${missing.join(", ")}`
    return fail(
      "migrations",
      text,
      "Restore a backup into a new, empty database: docs/operations.md, Back up and restore.",
    )
  }
  const elsewhere = isMade ? undefined : await queries.run(tablesElsewhere)
  if (elsewhere !== undefined) return fail("migrations", elsewhere.message, elsewhere.next)
  const next = "Back up the database, then run the command `migrate` as the tables' owner."
  return fail("migrations", `${pending} of ${files.length} are missing`, next)
}

const relations = sql`(select oid, relname as name, relnamespace as namespace, relkind as kind from pg_class) c`
const functions = sql`(select oid, proname as name, pronamespace as namespace, prorettype as type from pg_proc) c`

/** The names of what has this fault, among what the migrations made. */
const namesWith = async (queries: Queries, from: SQL, fault: SQL): Promise<string> => {
  const found = await queries.run((db) =>
    db
      .select({ name: sql<string>`name::text` })
      .from(from)
      .where(
        sql`namespace = to_regnamespace('public') and not exists (select from pg_depend where objid = c.oid and deptype = 'e') and ${fault}`,
      )
      .orderBy(sql`name`),
  )
  return found.map(({ name }) => name).join(", ")
}

// The rights of infra/database-roles.sql. Only a backup reads sequences: an identity's row needs no right on its own.
const lacksRight = sql`case kind when 'r' then not (has_table_privilege(oid, 'SELECT') and (name = 'schema_migrations' or has_table_privilege(oid, 'INSERT')) and (name in ('schema_migrations', 'audit_log') or (has_table_privilege(oid, 'UPDATE') and has_table_privilege(oid, 'DELETE')))) when 'S' then not has_sequence_privilege(oid, 'SELECT') else false end`
const cannotRun = sql`type <> 'trigger'::regtype and not has_function_privilege(oid, 'EXECUTE')`
// A backup fails on these tables, even where a policy shows the service all rows.
const hidesRows = sql`kind = 'r' and row_security_active(oid)`
const isQuiet = sql`exists (select from pg_trigger where tgrelid = c.oid and tgenabled in ('D', 'R'))`

const tableFindings = async (queries: Queries, user: string): Promise<readonly Finding[]> => {
  const lacking = [await namesWith(queries, relations, lacksRight), await namesWith(queries, functions, cannotRun)]
  const names = lacking.filter((some) => some !== "").join(", ")
  const hidden = await namesWith(queries, relations, hidesRows)
  const quiet = await namesWith(queries, relations, isQuiet)
  const found: Finding[] = []
  if (names !== "") found.push(fail("rights", `${user} can't use ${names}`, grant))
  if (hidden !== "") {
    const next = "As the tables' owner, run for each: alter table … disable row level security."
    found.push(fail("rights", `row security hides rows from ${user}: ${hidden}`, next))
  }
  if (quiet !== "") {
    const next = "As a superuser, run for each: alter table … enable trigger all."
    found.push(fail("migrations", `triggers that keep the data sound are switched off: ${quiet}`, next))
  }
  return found.length > 0 ? found : [pass("rights", `${user} can use all tables`)]
}

const failed = (error: unknown): Finding => {
  const { message } = error as Error
  const { code, next = stepAfter(code, unreachable) } = stepFor(error)
  if (code === "42501") return fail("rights", `DATABASE_URL's role lacks rights: ${message}`, next)
  return fail("database", message, next)
}

/** The step after a setting of the server was found that the service can't work with, wherever it was set. */
const reset = (user: string, setting: string): string =>
  `Reset it where it is set: alter role ${user} reset ${setting}, alter database … reset ${setting}, or alter system reset ${setting} and a reload.`

const checkDatabase = async (
  url: string,
  isShared: boolean,
  now: () => number,
  wallClock: () => number,
): Promise<readonly Finding[]> => {
  const { host } = readServerUrl(url)
  const unknown = host && !host.startsWith("/") ? await lookupFailure(host) : undefined
  if (unknown !== undefined) {
    const next = stepAfter(unknown, "Correct the host in DATABASE_URL.")
    return [fail("database", `its host name can't be looked up (${unknown})`, next)]
  }
  const open = () => openServerDatabase({ url, statementMs, openMs: statementMs, connections: 1, now })
  const [database, second] = [open(), open()]
  try {
    const queries = database.within(statementMs)
    const [found] = await look(queries)
    if (found === undefined) return []
    const [other] = await look(second.within(statementMs))
    if (other?.process === found.process)
      return [fail("database", "a pooler in front of PostgreSQL shares a connection between transactions", pooling)]
    const { version, encoding, user, short, free, replicas } = found
    const findings = [...(await compareClocks(queries, wallClock))]
    const add = (finding: Finding) => void findings.push(finding)
    const wrong = (text: string, next: string) => add(fail("database", text, next))
    if (Number.parseInt(version, 10) < oldestServer)
      wrong(`PostgreSQL ${version} is too old`, `Use PostgreSQL ${oldestServer} or newer.`)
    else add(pass("database", `PostgreSQL ${version} responds`))
    if (encoding !== "UTF8") {
      const next =
        "Make a new database (create database … encoding 'UTF8' locale 'C' template template0), and restore a backup into it."
      wrong(`its encoding is ${encoding}, which can't keep every name and text`, next)
    }
    if (found.isStandby) wrong("it is a read-only standby", "Set DATABASE_URL to the primary server.")
    else if (found.isReadOnly) {
      const first = "First let the session write: set default_transaction_read_only = off."
      wrong(`the role ${user} can only read`, `${first} ${reset(user, "default_transaction_read_only")}`)
    }
    if (found.replicationRole !== "origin")
      wrong(`the role ${user} or the database switches triggers off`, reset(user, "session_replication_role"))
    if (short !== null) {
      const what = `the role ${user} or the database has a ${short} below a second`
      wrong(`${what}, which ends statements or transactions of the service`, reset(user, short))
    }
    if (found.isSuperuser) {
      const next = "Give it a role of its own: docs/operations.md, The database."
      add(warn("rights", `the service runs as the superuser ${user}`, next))
    } else if (found.isOwner) {
      const next = "Set DATABASE_URL to the service's role: docs/operations.md, The database."
      add(warn("rights", `the service runs as ${user}, the tables' owner, who can change the audit trail`, next))
    }
    if (found.maySee === false) return [...findings, fail("rights", `${user} can't use the schema public`, grant)]
    if (free < connectionsPerReplica)
      add(warn("database", `only ${free} connections are free`, "Raise max_connections: each replica uses 11."))
    if (replicas > 1 && !isShared) {
      const text = `${replicas} platform processes use this database, and SVC_LIMITS_URL isn't set: each counts limits for itself, so a client has them ${replicas} times`
      const next = `Set SVC_LIMITS_URL to one store for all of them, and SVC_LIMITS_REPLICAS to ${replicas}.`
      add(warn("limits-store", text, next))
    }
    const migration = await migrationFinding(queries, found.migrations !== null)
    if (migration.verdict === "pass") findings.push(...(await tableFindings(queries, user)))
    return [...findings, migration]
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable) && !/^(?:42501|42P05)$/.test(String(Object(error).code))) throw error
    return [failed(error)]
  } finally {
    await Promise.all([database.close(), second.close()])
  }
}

const checkSigningKey = async (config: Config): Promise<Finding> => {
  const check = "signing-key"
  const { givenKeys, databaseUrl, publicUrl, signingKeyFile } = config
  if (givenKeys === undefined) {
    if (databaseUrl === undefined) return pass(check, "it is generated in the data folder")
    return warn(check, "each replica would generate its own, and reject the others' tokens", `For all: ${keyAdvice}.`)
  }
  const isOpen = signingKeyFile !== undefined && (statSync(signingKeyFile).mode & 0o004) !== 0
  if (isOpen) return fail(check, "every user can read SVC_SESSION_SIGNING_KEY_FILE", "Set its mode to 0600.")
  const ids = givenKeys.publicKeys.map(({ kid }) => kid)
  if (new Set(ids).size < ids.length) {
    const text = "SVC_SESSION_SIGNING_KEY or its file has one key twice, and many verifiers reject such a set"
    return fail(check, text, "Remove one of the two. During a rotation, the set has the old key and the new one.")
  }
  // A proxy gives several connections to several replicas.
  const asked = publicUrl === undefined ? [] : Array.from({ length: 4 }, () => `${publicUrl}/.well-known/jwks.json`)
  const served = await Promise.all(asked.map((url) => ask(url)))
  const sets = served.map((answer) => Object("body" in answer ? answer.body : {}).keys as unknown)
  const lacks = (keys: unknown): boolean =>
    Array.isArray(keys) && !keys.some((key) => Object(key).kid === givenKeys.signing.kid)
  if (!sets.some(lacks)) return pass(check, "it can be read")
  const text = "a platform at SVC_API_URL doesn't serve this key, so tokens of this replica are rejected"
  const next =
    "Set SVC_SESSION_SIGNING_KEY_FILE to the same keys everywhere, and restart all. A new key is the second one at first."
  return fail(check, text, next)
}

const checkUrls = ({ publicUrl, docsUrl, streamUrl }: Config): Finding => {
  const named = { SVC_DOCS_URL: docsUrl, SVC_STREAM_URL: streamUrl }
  const local = Object.entries(named).flatMap(([name, url]) => (isPublic(url) ? [] : [name]))
  if (!isPublic(publicUrl) || local.length === 0) return pass("urls", "the other services' URLs fit this one's")
  const text = `clients are told this machine's address: ${local.join(", ")}`
  return fail("urls", text, "Set them to the URLs that clients use.")
}

const checkEmbedded = ({ nodeEnv }: Config): Finding => {
  if (nodeEnv !== "production")
    return pass("database", "an embedded one in the data folder; its migrations are applied at start")
  const text = "an embedded one: one process, and a power failure can lose data"
  return warn("database", text, "Set DATABASE_URL to a PostgreSQL server.")
}

/** What the platform needs, as checks. Throws ConfigError. */
export const platformChecks = async (
  env: Readonly<Record<string, string | undefined>>,
  { now, wallClock }: { readonly now: () => number; readonly wallClock: () => number },
): Promise<Readonly<Record<string, Check>>> => {
  const config = await readConfig(env)
  validateTelemetry(config, env)
  const { databaseUrl, limits, dataFolder, deployHookUrl } = config
  return {
    database:
      databaseUrl === undefined
        ? async () => [checkEmbedded(config)]
        : () => checkDatabase(databaseUrl, limits.url !== undefined, now, wallClock),
    ...(await limitsStoreChecks(limits, () => import("redis"))),
    ...serviceChecks("platform-api", env, config),
    "signing-key": async () => [await checkSigningKey(config)],
    ...((databaseUrl === undefined || config.givenKeys === undefined) && {
      "data-folder": async () => checkFolder("data-folder", dataFolder),
    }),
    urls: async () => [checkUrls(config)],
    ...(deployHookUrl !== undefined && {
      "deploy-hook": () => checkReachable("deploy-hook", "SVC_DEPLOY_HOOK_URL", deployHookUrl),
    }),
    ...(env["SVC_DOCS_URL"] && {
      services: () => checkOtherService("docs-server", "SVC_DOCS_URL", config.docsUrl, wallClock),
    }),
    "public-url": () => checkPublicUrl("platform-api", "SVC_API_URL", config.publicUrl, wallClock()),
  }
}
