import { bytea } from "./schema.ts"
import { orm, pg } from "./drizzle.ts"

const { check, integer, pgTable } = pg

/** One row, made by the migration: the secret behind the tag of every key. */
export const keySecrets = pgTable("key_secrets", { id: integer().primaryKey(), secret: bytea().notNull() }, (t) => [
  check("key_secrets_one_row", orm.sql`${t.id} = 1`),
])
