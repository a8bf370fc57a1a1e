// The registry's changes for readers. `stack-changes.ts` adds the rows.
import type { SQLWrapper } from "drizzle-orm"
import { coalesce } from "../coalesce.ts"
import { lineReaders, registryChanges, visibilities } from "../db/schema/index.ts"
import { type Database, orm, type Orm, requestMs, sql } from "../db/database.ts"
import { eventOf } from "@svc/http"
import { type Audience, sees } from "./audience.ts"

const { and, asc, desc, eq, gt, gte, inArray, isNull, lt, lte, or } = orm

/** A change, and who can read it. */
const stored = {
  ...orm.getTableColumns(registryChanges),
  visibility: sql<(typeof visibilities)[number]>`coalesce(${registryChanges.visibility}, ${lineReaders.visibility})`,
  viewers: sql`coalesce(${registryChanges.viewers}, ${lineReaders.viewers})`.mapWith(lineReaders.viewers),
}

type StoredChange = Awaited<ReturnType<typeof selectChanges>>[number]

const selectChanges = (db: Orm) =>
  db.select(stored).from(registryChanges).innerJoin(lineReaders, eq(lineReaders.line, registryChanges.line))

/** Whether a reader sees a change: they can read the stack, and something changed for them. */
const concerns = (change: StoredChange, reader: Audience): boolean =>
  sees(reader, change.visibility, (account) => change.viewers.includes(account)) &&
  (change.exceptVisibility === null ||
    !sees(reader, change.exceptVisibility, (account) => change.exceptViewers.includes(account)))

/** The same as `concerns`, as a condition. */
const concerning = (reader: Audience) => {
  const levels = visibilities.filter((one) => sees(reader, one, () => false))
  const seen = (level: SQLWrapper, accounts: SQLWrapper) =>
    or(inArray(level, levels), typeof reader === "number" ? sql`${reader} = any(${accounts})` : undefined)
  return and(
    seen(stored.visibility, stored.viewers),
    or(isNull(stored.exceptVisibility), sql`not (${seen(stored.exceptVisibility, stored.exceptViewers)})`),
  )
}

type Page = {
  /** The id of the last change that the reader knows. If undefined, the newest changes are returned. */
  readonly after?: number | undefined
  readonly through?: number
  readonly stack?: string | undefined
  readonly limit: number
}

/** How many changes a page looks through: endlessly many that concern others must not make it endless. */
export const mostLookedThrough = 20_000

/**
 * One page of changes by ascending ids: those that concern a reader, or if undefined all. Throws DatabaseUnavailable.
 * @returns `next` is the id to continue after, which needn't be of one of these changes; `more` says whether there may be others
 */
export const readChanges = async (
  database: Database,
  reader: Audience | undefined,
  { after, through, stack, limit }: Page,
): Promise<{ readonly changes: readonly StoredChange[]; readonly next: number; readonly more: boolean }> => {
  const { id } = registryChanges
  const wanted = and(
    after === undefined ? undefined : gt(id, after),
    through === undefined ? undefined : lte(id, through),
    stack === undefined ? undefined : eq(registryChanges.stack, stack),
  )
  const order = after === undefined ? desc(id) : asc(id)
  return database.within(requestMs).run(async (db) => {
    const ids = db.select({ id }).from(registryChanges).where(wanted).orderBy(order)
    const [furthest] = reader === undefined ? [] : await ids.offset(mostLookedThrough - 1).limit(1)
    const near = furthest && (after === undefined ? gte : lte)(id, furthest.id)
    const concerned = reader === undefined ? undefined : concerning(reader)
    const rows = await selectChanges(db)
      .where(and(wanted, near, concerned))
      .orderBy(order)
      .limit(limit)
    const isFull = rows.length === limit
    const changes = after === undefined ? rows.toReversed() : rows
    const last = changes.at(-1)?.id
    const next = (after === undefined || isFull ? last : furthest?.id) ?? last ?? furthest?.id ?? after ?? 0
    return { changes, next, more: isFull || furthest !== undefined }
  })
}

/**
 * Whether a reader who knows the changes up to an id can be told all later ones: the change with this id still exists. It doesn't
 * if it was too old, or if a backup without it was restored. Throws DatabaseUnavailable.
 */
export const canContinue = async (database: Database, after: number): Promise<boolean> => {
  if (after === 0) return true
  const { id } = registryChanges
  const known = await database
    .within(requestMs)
    .run((db) => db.select({ id }).from(registryChanges).where(eq(id, after)))
  return known.length > 0
}

const deletedAtOnce = 5000

/** Deletes changes that are older than the promised time. The newest of them stays: it tells whose id is too old to continue. */
export const forgetChanges = (database: Database, days: number): Promise<unknown> =>
  database.within(requestMs).run((db) => {
    const { id, at } = registryChanges
    const isOld = lt(at, sql`now() - make_interval(days => ${days}::integer)`)
    const newest = db.select({ id }).from(registryChanges).where(isOld).orderBy(desc(at)).limit(1)
    const old = db
      .select({ id })
      .from(registryChanges)
      .where(and(isOld, lt(id, newest)))
      .orderBy(asc(at))
      .limit(deletedAtOnce)
    return db.delete(registryChanges).where(inArray(id, old))
  })

export const presentChange = ({ id, at, stack, kind, version, verdict, bump, ...change }: StoredChange) => ({
  id,
  at: at.toISOString(),
  stack,
  kind,
  version,
  ...(change.previousVersion !== null && { previous_version: change.previousVersion }),
  verdict,
  bump,
  ...(change.message !== null && { message: change.message }),
  ...(change.successor !== null && { successor: change.successor }),
})

const rowsAtOnce = 500

type Follower = { readonly reader: Audience; readonly tell: (event: Uint8Array, change: StoredChange) => void }

/** A change as readers of the stream get it. */
export const changeEvent = (change: StoredChange): Uint8Array => eventOf(change.id, change.kind, presentChange(change))

/** Sends changes to followers once the registry serves them. Throws DatabaseUnavailable. */
export const createChangeFeed = async (database: Database) => {
  const followers = new Set<Follower>()
  let position = (await readChanges(database, undefined, { limit: 1 })).next
  let [served, looked] = [position, position]

  const read = coalesce(async () => {
    for (let isFull = true; isFull;) {
      const page = { after: position, through: served, limit: rowsAtOnce }
      const { changes, more } = await readChanges(database, undefined, page)
      isFull = more
      for (const row of changes) {
        position = row.id
        let event: Uint8Array | undefined
        for (const { reader, tell } of followers) {
          if (concerns(row, reader)) tell((event ??= changeEvent(row)), row)
        }
      }
    }
  })

  return {
    /** The id up to which followers have been told. */
    position: () => position,
    /** Reports every change after `position` that concerns the reader. The returned function ends that. */
    follow: (follower: Follower) => {
      followers.add(follower)
      return () => void followers.delete(follower)
    },
    /**
     * Reads new changes once for all followers.
     * @param revision what the registry serves: a follower that reads a stack must find what its change says
     */
    poll: async (revision: number): Promise<void> => {
      if (revision <= looked) return
      served = Math.max(served, revision)
      await read()
      looked = Math.max(looked, revision)
    },
  }
}

export type ChangeFeed = Awaited<ReturnType<typeof createChangeFeed>>
