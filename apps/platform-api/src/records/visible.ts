// Which records an account can read: its own and those shared with it. Statements name their parameters by placeholders:
// `account`, and the record's `id` or the page's `limit` and `offset`.
import { and, desc, eq, exists, gt, isNull, lt, or, type Orm, sql, unionAll } from "../db/database.ts"
import * as schema from "../db/schema/index.ts"

const { recordBlocks } = schema

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
const blockSize = 1024

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
 * Selects the ids of one page that the account can read, newest first. The counts per block of ids tell where the page
 * begins, so the last page of a million costs about as much as the first. `sql` has the window functions, which the
 * builder doesn't know.
 */
export const pageOfVisible = (db: Orm, kind: Kind) => {
  const { records, shares, isAlive } = kinds[kind]
  const counted = db
    .select({
      block: recordBlocks.block,
      records: recordBlocks.records,
      through:
        sql<number>`sum(${recordBlocks.records}) over (order by ${recordBlocks.block} desc rows unbounded preceding)`.as(
          "through",
        ),
    })
    .from(recordBlocks)
    .where(and(eq(recordBlocks.kind, kind), eq(recordBlocks.userId, account)))
    .as("counted")
  const begin = db.$with("begin").as(
    db
      .select({
        below: sql<number>`(${counted.block} + 1) * ${blockSize}`.as("below"),
        before: sql<number>`${counted.through} - ${counted.records}`.as("before"),
      })
      .from(counted)
      .where(gt(counted.through, sql.placeholder("offset")))
      .orderBy(desc(counted.block))
      .limit(1),
  )
  const below = db.select({ below: begin.below }).from(begin)
  // A page begins in the first block and isn't longer than one, so no index is read further.
  const own = db
    .select({ id: records.id })
    .from(records)
    .where(and(eq(records.ownerId, account), lt(records.id, below), isAlive))
    .orderBy(desc(records.id))
    .limit(2 * blockSize)
  const shared = db
    .select({ id: shares.recordId })
    .from(shares)
    .where(and(eq(shares.userId, account), lt(shares.recordId, below)))
    .orderBy(desc(shares.recordId))
    .limit(2 * blockSize)
  const both = unionAll(own, shared).as("both")
  const before = db.select({ before: begin.before }).from(begin)
  const placed = db
    .select({ id: both.id, place: sql<number>`${before} + row_number() over (order by ${both.id} desc)`.as("place") })
    .from(both)
    .as("placed")
  return db
    .with(begin)
    .select({ id: placed.id })
    .from(placed)
    .where(gt(placed.place, sql.placeholder("offset")))
    .orderBy(desc(placed.id))
    .limit(sql.placeholder("limit"))
}

/** Whether a row is on the page. As an array, which the builder doesn't know, the planner looks up each record. */
export const isOnPage = (db: Orm, kind: Kind) => sql`${kinds[kind].records.id} = any(array${pageOfVisible(db, kind)})`
