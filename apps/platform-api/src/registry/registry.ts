// What is in memory of each published stack: its head always, its bodies as far as they fit.
import { and, asc, type Database, eq, gt, orm, requestMs, sql } from "../db/database.ts"
import { registryState, stacks } from "../db/schema/index.ts"
import { coalesce } from "../coalesce.ts"
import { DatabaseUnavailable } from "../db/errors.ts"
import { type Answer, createAnswerMemo, type Lookup, plainAnswer } from "./answer.ts"
import { astAnswerFor } from "./stack-bytes.ts"
import { type Audience, sees } from "./audience.ts"
import { nearestText, spellingsOf } from "./websocket-url.ts"

const { schema, schemaGzip, astGzip, ...columns } = orm.getTableColumns(stacks)
/** Every column except the bodies. */
const headColumns = {
  ...columns,
  schemaBytes: sql<number>`octet_length(${schema})`,
  bodyBytes: sql<number>`octet_length(${schemaGzip}) + octet_length(${astGzip})`,
}
type HeadRow = Omit<typeof stacks.$inferSelect, "schema" | "schemaGzip" | "astGzip"> &
  Readonly<Record<"schemaBytes" | "bodyBytes", number>>

/** A head, with its entry in lists. What can change without a new version comes from the row, not from its entry. */
const fromRow = (row: HeadRow) => {
  const { version, relay, visibility, deprecated } = row
  const told = deprecated === null ? {} : { deprecated: JSON.parse(deprecated) as object }
  const made = JSON.parse(row.detail) as { readonly visibility: string }
  const detail = { ...made, visibility, version, relay, ...told }
  const text = JSON.stringify(detail)
  const served = { detail, bytes: Buffer.byteLength(text), answer: plainAnswer(text) }
  const [spelling] = spellingsOf(row.websocketUrl)
  // Its AST's response was made for this visibility.
  return { ...row, ...served, spelling, viewers: new Set(row.viewers), madeFor: made.visibility }
}

export type PublishedStack = Readonly<ReturnType<typeof fromRow>>

/** What a stack has besides its head, read on demand. */
export type Body = "schema" | "ast"

const maxBytes = 48 * 1024 * 1024

/** A stack was changed or withdrawn since its head was read. */
class StackMoved extends Error {}

const keyOf = ({ id, revision }: PublishedStack, body: Body): string => `${body} ${id} ${revision}`

/** The bodies of stacks. The most recently used ones are in memory. */
const createStackBodies = (database: Database) => {
  const bodies = createAnswerMemo<{ readonly answer: Answer }>(maxBytes)
  const readBody = async (stack: PublishedStack, body: Body): Promise<{ readonly answer: Answer }> => {
    // Only this revision: the caller may not be allowed to read another one.
    const same = and(eq(stacks.id, stack.id), eq(stacks.revision, stack.revision))
    const [row] = await database
      .within(requestMs)
      .run((db) => db.select({ schemaGzip, astGzip }).from(stacks).where(same))
    if (row === undefined) throw new StackMoved()
    const { madeFor, visibility } = stack
    const ast = madeFor === visibility ? row.astGzip : await astAnswerFor(row.astGzip, visibility)
    return { answer: bodies.packed(body === "ast" ? ast : row.schemaGzip) }
  }
  return {
    known: (stack: PublishedStack, body: Body): Answer | undefined => bodies.get(keyOf(stack, body))?.answer,
    /** A body from memory or the database. Throws StackMoved and DatabaseUnavailable. */
    read: async (stack: PublishedStack, body: Body): Promise<Answer> =>
      (await bodies.fetch(keyOf(stack, body), () => readBody(stack, body))).answer,
  }
}

type ListQuery = {
  readonly audience: Audience
  readonly withSchema: boolean
  readonly limit: number
  readonly offset: number
  readonly q: string
}

type List = { readonly answer: Answer; readonly shown: number; readonly more: boolean }

const mib = 1024 * 1024
const listBytes = 32 * mib
const warmBytes = 16 * mib
// Each try fails only if a stack was published between two reads.
const maxTries = 20
/** The maximum size of a list. A list with one stack can be larger. */
export const maxListBytes = 4 * mib
// The first load of a large registry must not time out or hold everything twice.
const rowsAtOnce = 50

const seen = ({ visibility, viewers }: PublishedStack, audience: Audience): boolean =>
  sees(audience, visibility, (account) => viewers.has(account))

/**
 * The published stacks. Their heads are in memory, with as many of their bodies as fit. Reading from memory needs no
 * database.
 */
export const createRegistry = (database: Database) => {
  let revision = -1
  let byName = new Map<string, PublishedStack>()
  let byUrl = new Map<string, PublishedStack>()
  let sorted: readonly PublishedStack[] = []
  let viewersOfPrivate = new Set<number>()
  const lists = createAnswerMemo<List>(listBytes)
  const bodies = createStackBodies(database)

  const load = async (): Promise<void> => {
    const queries = database.within(requestMs)
    const [state] = await queries.run((db) => db.select().from(registryState))
    // Read before the rows: what is published in between is read again with the next revision.
    const latest = state?.revision ?? 0
    if (latest === revision) return
    const ids = await queries.run((db) => db.select({ id: stacks.id }).from(stacks))
    const alive = new Set(ids.map(({ id }) => id))
    const next = new Map(sorted.filter(({ id }) => alive.has(id)).map((stack) => [stack.id, stack]))
    for (let last = revision, more = true; more;) {
      const newer = gt(stacks.revision, last)
      const rows = await database
        .within(requestMs)
        .run((db) => db.select(headColumns).from(stacks).where(newer).orderBy(asc(stacks.revision)).limit(rowsAtOnce))
      for (const row of rows) next.set(row.id, fromRow(row))
      last = rows.at(-1)?.revision ?? last
      more = rows.length === rowsAtOnce
    }
    sorted = [...next.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    byName = new Map(sorted.map((stack) => [stack.name, stack]))
    byUrl = new Map(sorted.map((stack) => [stack.spelling, stack]))
    const hidden = sorted.filter(({ visibility }) => visibility === "private")
    viewersOfPrivate = new Set(hidden.flatMap(({ viewers }) => Array.from(viewers)))
    revision = latest
    void warm()
  }

  let warming = false
  /** Loads the first bodies in the background. Reading them then works during an outage too. */
  const warm = async (): Promise<void> => {
    if (warming) return
    warming = true
    let room = warmBytes
    try {
      for (const stack of sorted) {
        if ((room -= stack.bodyBytes) < 0) break
        await bodies.read(stack, "schema")
        await bodies.read(stack, "ast")
      }
    } catch {
      // The rest is read on demand.
    } finally {
      warming = false
    }
  }

  /** Runs work that reads bodies. If a stack changed meanwhile, it runs again with the new heads. */
  const withBodies = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof StackMoved)) throw error
        if (tries === maxTries) throw new DatabaseUnavailable("the registry changes faster than it is read")
        await refresh()
      }
    }
  }

  const withItsSchema = async (stack: PublishedStack): Promise<object> => {
    const body = Buffer.from(await (await bodies.read(stack, "schema")).identity())
    return { ...stack.detail, schema: (JSON.parse(body.toString()) as { schema: unknown }).schema }
  }

  const makeList = async ({ audience, withSchema, limit, offset, q }: ListQuery): Promise<List> => {
    const word = q.toLowerCase()
    const matching = sorted.filter(
      (stack) =>
        seen(stack, audience) &&
        (word === "" || stack.name.includes(word) || stack.description?.toLowerCase().includes(word) === true),
    )
    let bytes = 0
    const size = ({ bytes: own, schemaBytes }: PublishedStack): number => own + (withSchema ? schemaBytes : 0)
    const page = matching
      .slice(offset, offset + limit)
      .filter((stack, index) => (bytes += size(stack)) <= maxListBytes || index === 0)
    const items = withSchema ? await Promise.all(page.map(withItsSchema)) : page.map(({ detail }) => detail)
    return {
      answer: await lists.pack(JSON.stringify(items)),
      shown: page.length,
      more: matching.length > offset + page.length,
    }
  }

  const refresh = coalesce(load)

  /** A stack that the audience can read. */
  const find = (audience: Audience, name: string): PublishedStack | undefined => {
    const stack = byName.get(name.toLowerCase())
    return stack !== undefined && seen(stack, audience) ? stack : undefined
  }

  const listKey = ({ audience, withSchema, limit, offset, q }: ListQuery): string =>
    JSON.stringify([revision, audience, withSchema, limit, offset, q.toLowerCase()])

  return {
    /** Updates the memory from the database. Throws DatabaseUnavailable. */
    refresh,
    revision: () => revision,
    /** The audience of an account. Most accounts can read nothing private, and share their lists. */
    audienceOf: (userId: number): Audience => (viewersOfPrivate.has(userId) ? userId : "keyed"),
    find,
    /** The name of a readable stack that a mistyped name most likely means. */
    nearest: (audience: Audience, name: string): string | undefined => {
      const names = sorted
        .values()
        .filter((stack) => seen(stack, audience))
        .map((stack) => stack.name)
      return nearestText(name.toLowerCase(), names, Math.min(3, Math.ceil(name.length / 4)))
    },
    /** A stack of any visibility by its normalized URL, in any spelling of the local host. */
    findByUrl: (websocketUrl: string) => byUrl.get(spellingsOf(websocketUrl)[0]),
    /** A stack of any visibility by its name in lower case. */
    findByName: (name: string) => byName.get(name),
    /** Every stack of any visibility, by name. */
    all: () => sorted,
    /** Whether this list is in memory: building one costs far more than sending it. */
    hasList: (query: ListQuery) => lists.get(listKey(query)) !== undefined,
    /** A page of up to `limit` stacks. It ends early if it would be too large. */
    list: (query: ListQuery) => withBodies(() => lists.fetch(listKey(query), () => makeList(query))),
    /** A stack's body; undefined if the stack is gone. Throws DatabaseUnavailable. */
    body: (audience: Audience, stack: PublishedStack, body: Body): Lookup =>
      bodies.known(stack, body) ??
      (() =>
        withBodies(async () => {
          const now = find(audience, stack.name)
          return now && bodies.read(now, body)
        })),
  }
}

export type Registry = ReturnType<typeof createRegistry>
