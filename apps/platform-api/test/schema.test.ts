// The tables stand in TypeScript and in the SQL of migrations/: what drizzle-kit makes of the former is compared with
// what the latter make.
import { createRequire } from "node:module"
import { createTestDatabase } from "@svc/testing"
import { expect, test } from "vitest"
import { type Database, sql } from "../src/db/database.ts"
import { migrate } from "../src/db/migrate.ts"
import * as schema from "../src/db/schema/index.ts"
import { besides } from "./service.ts"

// Its ES module doesn't load under Node's own resolution.
const kit = createRequire(import.meta.url)("drizzle-kit/api") as typeof import("drizzle-kit/api")

/** Makes a database with `make`, and reads `text` from it. */
const inDatabase = async <Row>(make: (database: Database) => Promise<unknown>, text: string) => {
  const server = await createTestDatabase()
  try {
    return await besides(server.url, async (database) => {
      await make(database)
      return database.within(10_000).query<Row>(text, ["public"])
    })
  } finally {
    await server.stop()
  }
}

const byMigrations = (database: Database) => migrate(database.within(60_000))
const bySchema = async (database: Database) => {
  const statements = await kit.generateMigration(
    kit.generateDrizzleJson({}),
    kit.generateDrizzleJson(Object.fromEntries(Object.entries(schema))),
  )
  await database.within(60_000).run(async (db) => {
    for (const statement of statements) await db.execute(sql.raw(statement))
  })
}

const parts = `
  select concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then 'not null' end, case when a.attidentity <> '' then 'identity' end, pg_get_expr(d.adbin, d.adrelid)) as part
  from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = $1::text::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    and c.relname <> 'schema_migrations'
  union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
  where connamespace = $1::text::regnamespace and contype <> 'n' and contype <> 't' and conrelid::regclass::text <> 'schema_migrations'
  union all select indexdef from pg_indexes where schemaname = $1::text and tablename <> 'schema_migrations' order by 1`

test("migrations/ creates exactly the columns, keys, indexes and checks of src/db/schema", async () => {
  type Part = { readonly part: string }
  const made = await inDatabase<Part>(byMigrations, parts)
  expect(made.map(({ part }) => part)).toEqual((await inDatabase<Part>(bySchema, parts)).map(({ part }) => part))
})
