// Which records an account can read: its own and those shared with it. Statements name their parameters by placeholders:
// `account`, and the record's `id` or the page's `limit` and `offset`.
import { and, eq, exists, isNull, or, type Orm, sql } from "../db/database.ts"
import * as schema from "../db/schema/index.ts"

/** The kinds of records. Rows of deleted ones stay for records that refer to them, but nobody can read them. */
export const kinds = {
  specs: { records: schema.specs, shares: schema.specShares, isAlive: isNull(schema.specs.deletedAt) },
  builds: { records: schema.builds, shares: schema.buildShares, isAlive: undefined },
  deployments: {
    records: schema.deployments,
    shares: schema.deploymentShares,
    isAlive: isNull(schema.deployments.deletedAt),
  },
  runs: { records: schema.runs, shares: schema.runShares, isAlive: undefined },
} as const

type Kind = keyof typeof kinds

const account = sql.placeholder("account")

/** Whether a row is the record with this id, and the account can read it. */
export const isVisible = (db: Orm, kind: Kind) => {
  const { records, shares, isAlive } = kinds[kind]
  const id = sql.placeholder("id")
  const shared = db
    .select({ id: shares.recordId })
    .from(shares)
    .where(and(eq(shares.userId, account), eq(shares.recordId, id)))
  return and(eq(records.id, id), isAlive, or(eq(records.ownerId, account), exists(shared)))
}

/** Selects the record with this id, if the account can read it. */
export const selectVisible = (db: Orm, kind: Kind) => {
  const { records } = kinds[kind]
  return db.select({ id: records.id }).from(records).where(isVisible(db, kind))
}

/**
 * Whether a row is on a page of the records that the account can read, newest first. The counts per block of ids tell where
 * the page begins, so the last page of a million costs about as much as the first. SQL, because the builder has no window
 * functions. The page is an array, so the planner looks up each record.
 */
export const isOnPage = (kind: Kind) => {
  const { records, shares, isAlive = sql`true` } = kinds[kind]
  const offset = sql.placeholder("offset")
  // A page begins in the first block of 1024 ids and isn't longer than one, so no index is read further.
  const nearest = sql`order by 1 desc limit 2048`
  return sql`${records.id} = any(array(
    with begin as (
      select (block + 1) * 1024 as below, through - records as before
      from (
        select block, records, sum(records) over (order by block desc rows unbounded preceding) as through
        from ${schema.recordBlocks} where kind = ${kind} and user_id = ${account}
      ) counted
      where through > ${offset} order by block desc limit 1
    )
    select id from (
      select id, (select before from begin) + row_number() over (order by id desc) as place
      from (
        (select id from ${records} where owner_id = ${account} and id < (select below from begin) and ${isAlive} ${nearest})
        union all
        (select record_id from ${shares} where user_id = ${account} and record_id < (select below from begin) ${nearest})
      ) both_kinds
    ) placed
    where place > ${offset} order by id desc limit ${sql.placeholder("limit")}
  ))`
}
