// The columns stand in TypeScript and in SQL. A database that all migrations made is compared with the former.
import { createTestDatabase, type TestDatabase } from "@svc/testing"
import type { PgTable } from "drizzle-orm/pg-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { Database } from "../src/db/database.ts"
import { orm, pg } from "../src/db/drizzle.ts"
import { migrate } from "../src/db/migrate.ts"
import * as schema from "../src/db/schema/index.ts"
import { openServerDatabase } from "../src/db/server/server.ts"

const tables = Object.values<unknown>(schema).filter((one): one is PgTable => orm.is(one, pg.PgTable))
const columns = tables
  .map(pg.getTableConfig)
  .flatMap(({ name, columns: of }) => of.map((column) => ({ name: `${name}.${column.name}`, column })))

let server: TestDatabase
let database: Database
beforeAll(async () => {
  server = await createTestDatabase()
  database = openServerDatabase({ url: server.url, statementMs: 0, connections: 1, now: () => performance.now() })
  await migrate(database.within(60_000))
})
afterAll(async () => {
  await database.close()
  await server.stop()
})

test("migrations/ makes exactly the tables and columns of src/db/schema, with their types and defaults", async () => {
  const made = await database.within(10_000).query(
    `select c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
       case when a.attidentity <> '' then 'identity' when a.attgenerated <> '' then 'generated' else '' end as made,
       case when a.attgenerated = '' then btrim(regexp_replace(pg_get_expr(d.adbin, d.adrelid), '::.*', ''), '''{}') end
         as default
     from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     where c.relnamespace = $1::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
       and c.relname <> 'schema_migrations' order by 1`,
    ["public"],
  )
  const written = columns.map(({ name, column }) => ({
    name,
    type: column.getSQLType().replace("timestamp (", "timestamp("),
    required: column.notNull,
    made: column.generatedIdentity === undefined ? (column.generated === undefined ? "" : "generated") : "identity",
    default: column.default === undefined ? null : JSON.stringify(column.default).replaceAll(/["[\]]/g, ""),
  }))
  expect(made).toEqual(written.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
})

test("where the database checks the values of a column, they are those of src/db/schema", async () => {
  const checks = await database.within(10_000).query<{ column: string; check: string }>(
    `select conrelid::regclass || '.' || attname as column, pg_get_constraintdef(c.oid) as check
     from pg_constraint c join pg_attribute a on attrelid = conrelid and conkey = array[attnum] where contype = $1`,
    ["c"],
  )
  const known = new Map(columns.map(({ name, column }) => [name, column.enumValues]))
  const listed = checks.filter(({ column, check }) => known.get(column) && check.includes("= ANY (ARRAY["))
  expect(listed.map(({ column }) => column).toSorted()).toEqual([
    "agent_profiles.status",
    "api_keys.disabled_by",
    "registry_changes.kind",
    "specs.visibility",
    "stacks.visibility",
    "users.kind",
  ])
  for (const { column, check } of listed) {
    const values = [...check.matchAll(/'([^']+)'::text/g)].map(([, value]) => value)
    expect(values, column).toEqual(known.get(column))
  }
})

test("the database takes the number of origins that a publishable key has", async () => {
  const [check] = await database
    .within(10_000)
    .query<{ text: string }>("select pg_get_constraintdef(oid) as text from pg_constraint where conname = $1", [
      "api_keys_origins",
    ])
  expect(check?.text).toContain(`COALESCE(cardinality(origin_allowlist), 0) = ${schema.originsPerKey})`)
})
