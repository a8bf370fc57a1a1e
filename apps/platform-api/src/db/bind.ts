import type { SQL } from "drizzle-orm"
import type { Orm } from "./database.ts"
import { orm } from "./drizzle.ts"

/** A statement written with $1, $2, … for a transaction, which takes drizzle's form. */
export const bind = (text: string, values: readonly unknown[]): SQL =>
  orm.sql.join(
    text
      .split(/\$(\d+)/)
      .map((part, index) => (index % 2 === 0 ? orm.sql.raw(part) : orm.sql`${values[Number(part) - 1]}`)),
  )

/** The rows of a statement inside a transaction; times are as PostgreSQL writes them. */
export const rowsOf = async <Row>(tx: Orm, statement: SQL): Promise<readonly Row[]> => {
  const result: unknown = await tx.execute(statement)
  return Array.isArray(result) ? result : (result as { rows: readonly Row[] }).rows
}
