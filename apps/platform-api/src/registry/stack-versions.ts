import { createMemo } from "@svc/common/memo"
import { createSharedMemo } from "@svc/common/shared-memo"
import type { Compiler } from "../compiler/compiler.ts"
import { diffOf, diffText } from "../compiler/diffs.ts"
import type { Database } from "../db/database.ts"
import { and, eq } from "../db/drizzle.ts"
import { stackModules, stackVersions } from "../db/schema/index.ts"
import { isoTime, type RowOf, selectList } from "../db/statements.ts"
import { type Answer, createPacker, plainAnswer } from "./answer.ts"
import type { PublishedStack } from "./stack-head.ts"
import { astAnswerFor, sizeOf, type StackHead, type StoredAst } from "./stack-bytes.ts"
import type { Language } from "./types/typed-module.ts"

/** A version as it was served. */
type Kept = { readonly schema: Answer; readonly ast: StoredAst }

/** The line of a stack as readers see it now. */
type Line = Pick<PublishedStack, "line" | "revision">

const readMs = 1800
const mib = 1024 * 1024
const unpackedBytes = 16 * mib
const keptBytes = 32 * mib
const missingKept = 4096
// Anonymous readers share one queue of the compiler.
const readers = "readers"

const listed = {
  version: stackVersions.number,
  content_hash: stackVersions.contentHash,
  published_at: stackVersions.publishedAt,
  verdict: stackVersions.verdict,
  bump: stackVersions.bump,
  changes: stackVersions.changes,
  message: stackVersions.message,
}
type Listed = RowOf<typeof listed>

const gzipBytes = (answer: Answer): number => answer.gzip().length

/** Versions of stacks, from the database. They never change, so the most recently used ones are kept. */
export const createStackVersions = (database: Database, compiler: Compiler) => {
  const { packed, pack } = createPacker(unpackedBytes)
  const sizeOfKept = ({ schema, ast }: Kept) => gzipBytes(schema) + ast.gzip.length
  const versions = createSharedMemo<Kept | undefined>({
    maxSize: keptBytes,
    sizeOf: (kept) => (kept === undefined ? 0 : sizeOfKept(kept)),
  })
  // A stack can only get more versions with a new revision.
  const missing = createMemo<true>({ maxEntries: missingKept })
  const answers = createSharedMemo<Answer>({ maxSize: keptBytes, sizeOf: gzipBytes })
  const lists = createMemo<Answer>({ maxSize: mib, sizeOf: gzipBytes })

  const find = async ({ line, revision }: Line, number: number): Promise<Kept | undefined> => {
    const key = `${number} ${line}`
    const missingKey = `${revision} ${key}`
    if (missing.get(missingKey) === true) return undefined
    const found = await versions.make(key, async () => {
      const [row] = await database.within(readMs).run((db) =>
        db
          .select({ schemaGzip: stackVersions.schemaGzip, astGzip: stackVersions.astGzip })
          .from(stackVersions)
          .where(and(eq(stackVersions.line, line), eq(stackVersions.number, number))),
      )
      return (
        row && { schema: packed(Uint8Array.from(row.schemaGzip)), ast: { gzip: row.astGzip, isAnswer: true as const } }
      )
    })
    if (found === undefined) missing.set(missingKey, true)
    return found
  }

  /** A stored module, or one that is generated and stored, for the stack's current name. */
  const findModule = async (ast: StoredAst, line: string, name: string, number: number, language: Language) => {
    const one = and(eq(stackModules.line, line), eq(stackModules.number, number), eq(stackModules.language, language))
    const [row] = await database.within(readMs).run((db) => db.select().from(stackModules).where(one))
    if (row?.name === name) return packed(Uint8Array.from(row.gzip))
    const wanted = { ast, language, name, version: number }
    const gzip = await compiler.run("module", wanted, { size: sizeOf(ast), owner: readers })
    await database.within(readMs).run((db) =>
      db
        .insert(stackModules)
        .values({ line, number, language, name, gzip })
        .onConflictDoUpdate({
          target: [stackModules.line, stackModules.number, stackModules.language],
          set: { name, gzip },
        }),
    )
    return packed(gzip)
  }

  const moduleKey = (stack: Line & Pick<StackHead, "name">, number: number, language: Language) =>
    `types ${language} ${number} ${stack.name} ${stack.line}`
  const diffKey = (line: string, from: number, to: number) => `diff ${from} ${to} ${line}`
  const astKey = (line: string, number: number, visibility: StackHead["visibility"]) =>
    `ast ${visibility} ${number} ${line}`

  return {
    find,
    /** What is already in memory. */
    known: {
      ast: (line: string, number: number, visibility: StackHead["visibility"]) =>
        answers.get(astKey(line, number, visibility)),
      schema: (line: string, number: number) => versions.get(`${number} ${line}`)?.schema,
      diff: (line: string, from: number, to: number) => answers.get(diffKey(line, from, to)),
      module: (stack: PublishedStack, number: number, language: Language) =>
        answers.get(moduleKey(stack, number, language)),
    },
    /** The AST response of a version, with the stack's current visibility. */
    findAst: async (stack: PublishedStack, number: number): Promise<Answer | undefined> => {
      const found = await find(stack, number)
      const { line, visibility } = stack
      return (
        found &&
        answers.make(astKey(line, number, visibility), async () =>
          packed(await astAnswerFor(found.ast.gzip, visibility)),
        )
      )
    },
    /** A page of versions, newest first. Throws DatabaseUnavailable. */
    list: (line: string, { limit, offset }: { readonly limit: number; readonly offset: number }) =>
      database
        .within(readMs)
        .query<Listed>(
          `select ${selectList("v", listed)} from stack_versions v where v.line = $1 order by v.number desc limit $2 offset $3`,
          [line, limit, offset],
        ),
    /** All version numbers, newest first. Throws DatabaseUnavailable. */
    numbers: async (line: string): Promise<readonly number[]> => {
      const all = "select number from stack_versions where line = $1 order by number desc"
      return (await database.within(readMs).query<{ number: number }>(all, [line])).map(({ number }) => number)
    },
    present: ({ published_at, verdict, bump, changes, message, ...row }: Listed, current: number) => ({
      ...row,
      published_at: isoTime(published_at),
      // A first version changes nothing for readers.
      verdict: verdict ?? "none",
      bump: bump ?? "none",
      changes: changes ?? 0,
      ...(message === null ? {} : { message }),
      current: row.version === current,
    }),
    /**
     * Undefined if one of the two isn't a version of the line. Throws DatabaseUnavailable, AstTooLarge and
     * CompilerBusy.
     */
    diff: async (stack: PublishedStack, from: number, to: number): Promise<Answer | undefined> => {
      const [before, after] = await Promise.all([find(stack, from), find(stack, to)])
      if (before === undefined || after === undefined) return undefined
      return answers.make(diffKey(stack.line, from, to), async () => {
        const diff = await diffOf(compiler, before.ast, after.ast, readers)
        return pack(Uint8Array.from(Buffer.from(diffText({ from, to }, diff))))
      })
    },
    /** Types of a version. Throws DatabaseUnavailable, AstTooLarge and CompilerBusy. */
    module: async (stack: PublishedStack, number: number, language: Language): Promise<Answer | undefined> => {
      const found = await find(stack, number)
      return (
        found &&
        answers.make(moduleKey(stack, number, language), () =>
          findModule(found.ast, stack.line, stack.name, number, language),
        )
      )
    },
    /** Keeps a list that never changes. */
    keep: (key: string, make: () => string): Answer =>
      lists.get(key) ?? lists.set(key, plainAnswer(Uint8Array.from(Buffer.from(make())))),
  }
}

export type StackVersions = ReturnType<typeof createStackVersions>
