import { promisify } from "node:util"
import { gzip } from "node:zlib"
import type { Database } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { registryState, stacks } from "../db/schema.ts"
import { spellingsOf } from "./websocket-url.ts"
import { type Answer, createUnpacker, plainAnswer, type Unpacker } from "./answer.ts"

const { asc, gt } = orm
const compress = promisify(gzip)

export type PublishedStack = {
  readonly id: number
  readonly name: string
  readonly description: string | null
  readonly websocketUrl: string
  readonly visibility: "public" | "global" | "private"
  readonly relay: boolean
  readonly browserSend: boolean
  readonly detail: string
  readonly schema: string
  readonly answers: { readonly detail: Answer; readonly schema: Answer; readonly ast: Answer }
}

/** Who a registry answer is for: anyone, or the holder of a good key, who sees `global` stacks too. */
export type Audience = "public" | "keyed"

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
  readonly find: (audience: Audience, name: string) => PublishedStack | undefined
  /** A stack of any visibility by its normalised URL, in any spelling of this machine's name. */
  readonly findByUrl: (websocketUrl: string) => PublishedStack | undefined
  /** Whether this list is made already: making one costs far more than sending it. */
  readonly hasList: (query: ListQuery) => boolean
  readonly list: (query: ListQuery) => Promise<{ readonly answer: Answer; readonly more: boolean }>
}

/** The channel on which a publication is announced. */
export const registryChannel = "svc_registry"

const unpackedBytes = 32 * 1024 * 1024
const listsKept = 64
const refreshMs = 1800
// Rows read at once: the first load of a large registry must neither run out of time nor hold everything twice.
const rowsAtOnce = 50

const seen = (stack: PublishedStack, audience: Audience): boolean =>
  stack.visibility === "public" || (stack.visibility === "global" && audience === "keyed")

const listKey = ({ audience, withSchema, limit, offset, q }: ListQuery): string =>
  JSON.stringify([audience, withSchema, limit, offset, q.toLowerCase()])

type Row = typeof stacks.$inferSelect

const fromRow = (row: Row, unpack: Unpacker): PublishedStack => ({
  id: row.id,
  name: row.name,
  description: row.description,
  websocketUrl: row.websocketUrl,
  visibility: row.visibility,
  relay: row.relay,
  browserSend: row.browserSend,
  detail: row.detail,
  schema: row.schema,
  answers: {
    detail: plainAnswer(Buffer.from(row.detail)),
    schema: unpack(Uint8Array.from(row.schemaGzip)),
    ast: unpack(Uint8Array.from(row.astGzip)),
  },
})

/** The published stacks, held in memory: reading them needs no database. */
export const createRegistry = (database: Database): Registry => {
  const unpack = createUnpacker(unpackedBytes)
  let revision = -1
  let byId = new Map<number, PublishedStack>()
  let byName = new Map<string, PublishedStack>()
  let byUrl = new Map<string, PublishedStack>()
  let sorted: readonly PublishedStack[] = []
  let lists = new Map<string, Promise<{ answer: Answer; more: boolean }>>()
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
      for (const row of rows) next.set(row.id, fromRow(row, unpack))
      last = rows.at(-1)?.revision ?? last
    } while (rows.length === rowsAtOnce)
    byId = next
    sorted = [...next.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    byName = new Map(sorted.map((stack) => [stack.name, stack]))
    byUrl = new Map(sorted.map((stack) => [spellingsOf(stack.websocketUrl)[0], stack]))
    lists = new Map()
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
    const body = Buffer.from(`[${items.join(",")}]`)
    return { answer: plainAnswer(body, await compress(body)), more: matching.length > offset + limit }
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
    find: (audience, name) => {
      const stack = byName.get(name.toLowerCase())
      return stack !== undefined && seen(stack, audience) ? stack : undefined
    },
    findByUrl: (websocketUrl) => byUrl.get(spellingsOf(websocketUrl)[0]),
    hasList: (query) => lists.has(listKey(query)),
    list: (query) => {
      const key = listKey(query)
      const known = lists.get(key)
      if (known !== undefined) return known
      const made = makeList(query)
      const oldest = lists.keys().next()
      if (lists.size >= listsKept && oldest.done !== true) lists.delete(oldest.value)
      lists.set(key, made)
      return made
    },
  }
}
