import type { SessionLimits } from "@svc/session-token"
import { inArray, orm, prepared, type Queries, sql } from "../db/database.ts"
import { tokenLimits as table } from "../db/schema/index.ts"

const { subject: _subject, ...columns } = orm.getTableColumns(table)
// Every limit of a token needs a column, or this doesn't compile.
columns satisfies Readonly<Record<keyof SessionLimits, unknown>>

const ofSubjects = prepared((db) =>
  db
    .select(columns)
    .from(table)
    .where(inArray(table.subject, [sql.placeholder("account"), sql.placeholder("stack")]))
    .prepare("token_limits"),
)

/**
 * The operator's limits for an account and a stack: the lower value of each; undefined if there are none. Throws
 * DatabaseUnavailable.
 * @param account `agent:<slug>` or `user:<id>`
 */
export const limitsOf = async (
  queries: Queries,
  account: string,
  stack: string,
): Promise<Record<string, number> | undefined> => {
  const rows = await queries.run((db) => ofSubjects(db).execute({ account, stack: `stack:${stack}` }))
  const limits: Record<string, number> = {}
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (value !== null) limits[name] = Math.min(value, limits[name] ?? value)
    }
  }
  return Object.keys(limits).length === 0 ? undefined : limits
}
