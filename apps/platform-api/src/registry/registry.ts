import { createMemo } from "@svc/common/memo"
import type { Database } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { registryState, stacks } from "../db/schema.ts"
import { spellingsOf } from "./websocket-url.ts"
import { type Answer, createPacker, type Packer, plainAnswer } from "./answer.ts"

const { asc, gt } = orm

export type PublishedStack = {
  readonly id: number
  /** The registry's at its last change. */
  readonly revision: number
  readonly name: string
  readonly description: string | null
  readonly websocketUrl: string
  readonly visibility: "public" | "global" | "private"
  readonly relay: boolean
  readonly browserSend: boolean
  readonly version: number
  /** What its versions belong to. */
  readonly line: string
  /** The person whose stack it is, null for the operator's; and who sees it while it is private. */
  readonly ownerId: number | null
  readonly viewers: ReadonlySet<number>
  /** JSON of `{message, since, successor?}`. */
  readonly deprecated: string | null
  readonly detail: string
  readonly schema: string
  readonly answers: { readonly detail: Answer; readonly schema: Answer; readonly ast: Answer }
}

/**
 * Who a registry answer is for: anyone; the holder of a good key, who sees `global` stacks too; or an account by its id,
 * which sees its own private stacks besides, and those that are shared with it.
 */
export type Audience = "public" | "keyed" | number

type ListQuery = {
  readonly audience: Audience
  readonly withSchema: boolean
  readonly limit: number
  readonly offset: number
  readonly q: string
}

export type Registry = {
  /** Brings the memory up to date with the database. Throws DatabaseUnavailable. */
  readonly refresh: () => Promise<void>
  /** The revision that the memory is at. */
  readonly revision: () => number
  /** The audience that an account is: most see nothing private, and share their lists. */
  readonly audienceOf: (userId: number) => Audience
  readonly find: (audience: Audience, name: string) => PublishedStack | undefined
  /** A stack of any visibility by its normalised URL, in any spelling of this machine's name. */
  readonly findByUrl: (websocketUrl: string) => PublishedStack | undefined
  /** Every stack of any visibility, by name. */
  readonly all: () => readonly PublishedStack[]
  /** Whether this list is made already: making one costs far more than sending it. */
  readonly hasList: (query: ListQuery) => boolean
  readonly list: (query: ListQuery) => Promise<{ readonly answer: Answer; readonly more: boolean }>
}

/** The channel on which the database announces every change of the registry. */
export const registryChannel = "svc_registry"

const unpackedBytes = 32 * 1024 * 1024
const listsKept = 64
const refreshMs = 1800
// Rows read at once: the first load of a large registry must neither run out of time nor hold everything twice.
const rowsAtOnce = 50

const seen = (stack: PublishedStack, audience: Audience): boolean =>
  stack.visibility === "public" ||
  (stack.visibility === "global" && audience !== "public") ||
  (typeof audience === "number" && stack.viewers.has(audience))

const listKey = ({ audience, withSchema, limit, offset, q }: ListQuery): string =>
  JSON.stringify([audience, withSchema, limit, offset, q.toLowerCase()])

type Row = typeof stacks.$inferSelect

/** What may change without a new version is not in the stored text. */
const detailOf = ({ detail, version, relay, deprecated }: Row): string =>
  `${detail.slice(0, -1)},"version":${version},"relay":${relay}${deprecated === null ? "" : `,"deprecated":${deprecated}`}}`

const fromRow = (row: Row, { packed }: Packer): PublishedStack => ({
  id: row.id,
  revision: row.revision,
  name: row.name,
  description: row.description,
  websocketUrl: row.websocketUrl,
  visibility: row.visibility,
  relay: row.relay,
  browserSend: row.browserSend,
  version: row.version,
  line: row.line,
  ownerId: row.ownerId,
  viewers: new Set(row.viewers),
  deprecated: row.deprecated,
  detail: detailOf(row),
  schema: row.schema,
  answers: {
    detail: plainAnswer(Buffer.from(detailOf(row))),
    schema: packed(Uint8Array.from(row.schemaGzip)),
    ast: packed(Uint8Array.from(row.astGzip)),
  },
})

/** The published stacks, held in memory: reading them needs no database. */
export const createRegistry = (database: Database): Registry => {
  const packer = createPacker(unpackedBytes)
  let revision = -1
  let byId = new Map<number, PublishedStack>()
  let byName = new Map<string, PublishedStack>()
  let byUrl = new Map<string, PublishedStack>()
  let sorted: readonly PublishedStack[] = []
  let viewersOfPrivate = new Set<number>()
  const lists = createMemo<Promise<{ answer: Answer; more: boolean }>>({ maxEntries: listsKept })
  let refreshing: Promise<void> | undefined
  let again = false

  const load = async (): Promise<void> => {
    const queries = database.within(refreshMs)
    const [state] = await queries.run((db) => db.select().from(registryState))
    // Read before the rows: what is published in between is met again with the next revision.
    const latest = state?.revision ?? 0
    if (latest === revision) return
    const ids = await queries.run((db) => db.select({ id: stacks.id }).from(stacks))
    const alive = new Set(ids.map(({ id }) => id))
    const next = new Map([...byId].filter(([id]) => alive.has(id)))
    let rows: Row[]
    let last = revision
    do {
      const newer = gt(stacks.revision, last)
      rows = await database
        .within(refreshMs)
        .run((db) => db.select().from(stacks).where(newer).orderBy(asc(stacks.revision)).limit(rowsAtOnce))
      for (const row of rows) next.set(row.id, fromRow(row, packer))
      last = rows.at(-1)?.revision ?? last
    } while (rows.length === rowsAtOnce)
    byId = next
    sorted = [...next.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    byName = new Map(sorted.map((stack) => [stack.name, stack]))
    byUrl = new Map(sorted.map((stack) => [spellingsOf(stack.websocketUrl)[0], stack]))
    const hidden = sorted.filter(({ visibility }) => visibility === "private")
    viewersOfPrivate = new Set()
    for (const { viewers } of hidden) for (const viewer of viewers) viewersOfPrivate.add(viewer)
    lists.clear()
    revision = latest
  }

  const makeList = async ({ audience, withSchema, limit, offset, q }: ListQuery) => {
    const word = q.toLowerCase()
    const matching = sorted.filter(
      (stack) =>
        seen(stack, audience) &&
        (word === "" || stack.name.includes(word) || stack.description?.toLowerCase().includes(word) === true),
    )
    const items = matching
      .slice(offset, offset + limit)
      .map(({ detail, schema }) => (withSchema ? `${detail.slice(0, -1)},"schema":${schema}}` : detail))
    const body = Uint8Array.from(Buffer.from(`[${items.join(",")}]`))
    return { answer: await packer.pack(body), more: matching.length > offset + limit }
  }

  return {
    refresh: async () => {
      if (refreshing !== undefined) {
        // What is being read now may be from before the news that led here.
        again = true
        return refreshing
      }
      refreshing = (async () => {
        try {
          do {
            again = false
            await load()
          } while (again)
        } finally {
          refreshing = undefined
        }
      })()
      return refreshing
    },
    revision: () => revision,
    audienceOf: (userId) => (viewersOfPrivate.has(userId) ? userId : "keyed"),
    find: (audience, name) => {
      const stack = byName.get(name.toLowerCase())
      return stack !== undefined && seen(stack, audience) ? stack : undefined
    },
    findByUrl: (websocketUrl) => byUrl.get(spellingsOf(websocketUrl)[0]),
    all: () => sorted,
    hasList: (query) => lists.get(listKey(query)) !== undefined,
    list: (query) => {
      const key = listKey(query)
      return lists.get(key) ?? lists.set(key, makeList(query))
    },
  }
}
