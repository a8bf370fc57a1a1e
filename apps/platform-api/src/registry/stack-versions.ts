import { createMemo } from "@svc/common/memo"
import type { Database } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { stackVersions } from "../db/schema.ts"
import { type RowOf, selectList } from "../db/select-list.ts"
import { isoTime } from "../db/time.ts"
import { type Answer, createUnpacker, plainAnswer } from "./answer.ts"
import type { Shape } from "./derive-schema.ts"
import { diffSchemas } from "./diff.ts"
import { astAnswerFor, shapeInAnswer, type StackHead } from "./stack-bytes.ts"

const { and, eq } = orm

type Kept = { readonly schema: Answer; readonly astGzip: Uint8Array; readonly shape: () => Shape }

const readMs = 1800
const unpackedBytes = 16 * 1024 * 1024
const versionsKept = 64
const answersKept = 256
// A module can be ten times as long as the AST that it is made of.
const answersBytes = 32 * 1024 * 1024

const listed = {
  version: stackVersions.number,
  content_hash: stackVersions.contentHash,
  published_at: stackVersions.publishedAt,
  verdict: stackVersions.verdict,
  bump: stackVersions.bump,
  changes: stackVersions.changes,
  message: stackVersions.message,
}
/** One row of a stack's history, as it is answered. */
type Listed = RowOf<typeof listed>

/** Versions of stacks, from the database: they never change, so those asked for last are kept. */
export const createStackVersions = (database: Database) => {
  const unpack = createUnpacker(unpackedBytes)
  const versions = createMemo<Kept>({ maxEntries: versionsKept })
  const asts = createMemo<Answer>({ maxEntries: versionsKept })
  const answers = createMemo<Answer>({
    maxEntries: answersKept,
    maxSize: answersBytes,
    sizeOf: (answer) => answer.identity().length,
  })

  const find = async (line: string, number: number): Promise<Kept | undefined> => {
    const key = `${number} ${line}`
    const known = versions.get(key)
    if (known !== undefined) return known
    const [row] = await database.within(readMs).run((db) =>
      db
        .select({ schemaGzip: stackVersions.schemaGzip, astGzip: stackVersions.astGzip })
        .from(stackVersions)
        .where(and(eq(stackVersions.line, line), eq(stackVersions.number, number))),
    )
    if (row === undefined) return undefined
    let shape: Shape | undefined
    return versions.set(key, {
      schema: unpack(Uint8Array.from(row.schemaGzip)),
      astGzip: row.astGzip,
      shape: () => (shape ??= shapeInAnswer(row.astGzip)),
    })
  }

  return {
    find,
    /** The AST answer of a version for those who see the stack now. */
    findAst: async (line: string, number: number, visibility: StackHead["visibility"]): Promise<Answer | undefined> => {
      const key = `ast ${visibility} ${number} ${line}`
      const known = asts.get(key)
      if (known !== undefined) return known
      const found = await find(line, number)
      return found && asts.set(key, unpack(await astAnswerFor(found.astGzip, visibility)))
    },
    /** A page of them, newest first. Throws DatabaseUnavailable. */
    list: (line: string, { limit, offset }: { readonly limit: number; readonly offset: number }) =>
      database
        .within(readMs)
        .query<Listed>(
          `select ${selectList("v", listed)} from stack_versions v where v.line = $1 order by v.number desc limit $2 offset $3`,
          [line, limit, offset],
        ),
    /** The numbers of all, newest first. Throws DatabaseUnavailable. */
    numbers: async (line: string): Promise<readonly number[]> => {
      const all = "select number from stack_versions where line = $1 order by number desc"
      return (await database.within(readMs).query<{ number: number }>(all, [line])).map(({ number }) => number)
    },
    present: ({ published_at, verdict, bump, changes, message, ...row }: Listed, current: number) => ({
      ...row,
      published_at: isoTime(published_at),
      // A first version adds all that it has to nothing: nobody read it before.
      verdict: verdict ?? "none",
      bump: bump ?? "none",
      changes: changes ?? 0,
      ...(message === null ? {} : { message }),
      current: row.version === current,
    }),
    /** Undefined where one of the two is no version of the line. Throws DatabaseUnavailable. */
    diff: async (line: string, from: number, to: number): Promise<Answer | undefined> => {
      const key = `diff ${from} ${to} ${line}`
      const known = answers.get(key)
      if (known !== undefined) return known
      const [before, after] = await Promise.all([find(line, from), find(line, to)])
      if (before === undefined || after === undefined) return undefined
      const body = JSON.stringify({ from, to, ...diffSchemas(before.shape(), after.shape()) })
      return answers.set(key, plainAnswer(Buffer.from(body)))
    },
    /** An answer made of things that never change, made once. */
    keep: (key: string, make: () => string): Answer =>
      answers.get(key) ?? answers.set(key, plainAnswer(Buffer.from(make()))),
  }
}

export type StackVersions = ReturnType<typeof createStackVersions>
