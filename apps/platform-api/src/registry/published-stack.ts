// What is in memory of each published stack: its head always, its bodies as far as they fit.
import { and, type Database, eq, orm, sql } from "../db/database.ts"
import { stacks } from "../db/schema/index.ts"
import { type Answer, createAnswerMemo, plainAnswer } from "./answer.ts"
import { astAnswerFor } from "./stack-bytes.ts"

const { schema, schemaGzip, astGzip, ...columns } = orm.getTableColumns(stacks)
/** Every column except the bodies. */
export const headColumns = {
  ...columns,
  schemaBytes: sql<number>`octet_length(${schema})`,
  bodyBytes: sql<number>`octet_length(${schemaGzip}) + octet_length(${astGzip})`,
}
type HeadRow = Omit<typeof stacks.$inferSelect, "schema" | "schemaGzip" | "astGzip"> & {
  readonly schemaBytes: number
  readonly bodyBytes: number
}

/** A head, with its entry in lists. What can change without a new version comes from the row, not from its entry. */
export const fromRow = (row: HeadRow) => {
  const { version, relay, visibility, deprecated } = row
  const told = deprecated === null ? {} : { deprecated: JSON.parse(deprecated) as object }
  const made = JSON.parse(row.detail) as { readonly visibility: string }
  const detail = { ...made, visibility, version, relay, ...told }
  const text = JSON.stringify(detail)
  const served = { detail, bytes: Buffer.byteLength(text), answer: plainAnswer(text) }
  // Its AST's response was made for this visibility.
  return { ...row, ...served, viewers: new Set(row.viewers), madeFor: made.visibility }
}

export type PublishedStack = Readonly<ReturnType<typeof fromRow>>

/** What a stack has besides its head, read on demand. */
export type Body = "schema" | "ast"

const readMs = 1800
const maxBytes = 48 * 1024 * 1024

/** A stack was changed or withdrawn since its head was read. */
export class StackMoved extends Error {
  override readonly name = "StackMoved"
}

const keyOf = ({ id, revision }: PublishedStack, body: Body): string => `${body} ${id} ${revision}`

/** The bodies of stacks. The most recently used ones are in memory. */
export const createStackBodies = (database: Database) => {
  const bodies = createAnswerMemo<{ readonly answer: Answer }>(maxBytes)
  const readBody = async (stack: PublishedStack, body: Body): Promise<{ readonly answer: Answer }> => {
    // Only this revision: the caller may not be allowed to read another one.
    const same = and(eq(stacks.id, stack.id), eq(stacks.revision, stack.revision))
    const [row] = await database.within(readMs).run((db) => db.select({ schemaGzip, astGzip }).from(stacks).where(same))
    if (row === undefined) throw new StackMoved()
    const { madeFor, visibility } = stack
    const ast = madeFor === visibility ? row.astGzip : await astAnswerFor(row.astGzip, visibility)
    return { answer: bodies.packed(body === "ast" ? ast : row.schemaGzip) }
  }
  return {
    /** A body that is in memory. */
    known: (stack: PublishedStack, body: Body): Answer | undefined => bodies.get(keyOf(stack, body))?.answer,
    /** A body from memory or the database. Throws StackMoved and DatabaseUnavailable. */
    read: async (stack: PublishedStack, body: Body): Promise<Answer> =>
      (await bodies.fetch(keyOf(stack, body), () => readBody(stack, body))).answer,
  }
}
