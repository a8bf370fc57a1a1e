import { LRUCache } from "lru-cache"
import { type Compiler, diffOf } from "../compiler/compiler.ts"
import { diffText } from "../compiler/tasks.ts"
import type { Database } from "../db/database.ts"
import { and, desc, eq } from "../db/drizzle.ts"
import { stackModules, stackVersions } from "../db/schema/index.ts"
import { type Answer, createPacker, type Lookup } from "./answer.ts"
import type { PublishedStack } from "./published-stack.ts"
import { astAnswerFor, schemaAnswerFor, sizeOf, type StoredAst } from "./stack-bytes.ts"
import type { Language } from "./types/typed-module.ts"

/** A version as it was served. */
type Kept = { readonly schema: Answer; readonly ast: StoredAst }

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
type Listed = Pick<typeof stackVersions.$inferSelect, "verdict" | "bump" | "changes" | "message"> & {
  readonly version: number
  readonly content_hash: string
  readonly published_at: Date
}

const ofLine = (line: string) => eq(stackVersions.line, line)
const newestFirst = desc(stackVersions.number)

const keyOf = ({ line }: PublishedStack, number: number): string => `${number} ${line}`

const gzipBytes = (answer: Answer): number => answer.gzip().length

/** Versions of stacks, from the database. They never change, so the most recently used ones are kept. */
export const createStackVersions = (database: Database, compiler: Compiler) => {
  const { packed, pack } = createPacker(unpackedBytes)
  const versions = new LRUCache<string, Kept, () => Promise<Kept | undefined>>({
    maxSize: keptBytes,
    sizeCalculation: ({ schema, ast }) => gzipBytes(schema) + ast.gzip.length,
    fetchMethod: (_key, _stale, { context }) => context(),
    ignoreFetchAbort: true,
  })
  // A stack can only get more versions with a new revision.
  const missing = new LRUCache<string, true>({ max: missingKept })
  const answers = new LRUCache<string, Answer, () => Promise<Answer>>({
    maxSize: keptBytes,
    sizeCalculation: gzipBytes,
    fetchMethod: (_key, _stale, { context }) => context(),
    ignoreFetchAbort: true,
  })

  const read = async (stack: PublishedStack, number: number): Promise<Kept | undefined> => {
    const { schemaGzip: schema, astGzip: gzip } = stackVersions
    const one = and(eq(stackVersions.line, stack.line), eq(stackVersions.number, number))
    const [row] = await database.within(readMs).run((db) => db.select({ schema, gzip }).from(stackVersions).where(one))
    return (
      row && { schema: packed(await schemaAnswerFor(row.schema, row.gzip)), ast: { gzip: row.gzip, isAnswer: true } }
    )
  }

  const find = async (stack: PublishedStack, number: number): Promise<Kept | undefined> => {
    const key = keyOf(stack, number)
    const missingKey = `${stack.revision} ${key}`
    if (missing.get(missingKey) === true) return undefined
    const found = await versions.fetch(key, { context: () => read(stack, number) })
    if (found === undefined) missing.set(missingKey, true)
    return found
  }

  /** A stored module, or one that is generated and stored, for the stack's current name. */
  const findModule = async (ast: StoredAst, { line, name }: PublishedStack, number: number, language: Language) => {
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

  /** What is made of versions; undefined if one of them doesn't exist. */
  const lookUp = (
    name: string,
    stack: PublishedStack,
    numbers: readonly number[],
    make: (...asts: readonly StoredAst[]) => Promise<Answer>,
  ): Lookup => {
    const key = `${name} ${numbers.join(" ")} ${stack.line}`
    const findAll = async () => {
      const found = await Promise.all(numbers.map((number) => find(stack, number)))
      const asts = found.flatMap((kept) => (kept === undefined ? [] : [kept.ast]))
      return asts.length < found.length ? undefined : answers.fetch(key, { context: () => make(...asts) })
    }
    return answers.get(key) ?? findAll
  }

  return {
    schema: (stack: PublishedStack, number: number): Lookup =>
      versions.get(keyOf(stack, number))?.schema ?? (async () => (await find(stack, number))?.schema),
    /** The AST response of a version, with the stack's current visibility. */
    ast: (stack: PublishedStack, number: number) =>
      lookUp(`ast ${stack.visibility}`, stack, [number], async (ast) =>
        packed(await astAnswerFor(ast.gzip, stack.visibility)),
      ),
    /** The difference of two versions. Throws DatabaseUnavailable, AstTooLarge and CompilerBusy. */
    diff: (stack: PublishedStack, from: number, to: number) =>
      lookUp("diff", stack, [from, to], async (before, after) => {
        return pack(diffText({ from, to }, await diffOf(compiler, before, after, readers)))
      }),
    /** How a new AST differs from the published one; undefined if that is gone. Throws as `diff` does. */
    compare: async (stack: PublishedStack, ast: StoredAst, owner: string) => {
      const published = await find(stack, stack.version)
      return published && diffOf(compiler, published.ast, ast, owner)
    },
    /** Types of a version. Throws DatabaseUnavailable, AstTooLarge and CompilerBusy. */
    module: (stack: PublishedStack, number: number, language: Language) =>
      lookUp(`types ${language} ${stack.name}`, stack, [number], (ast) => findModule(ast, stack, number, language)),
    /** A page of versions, newest first. Throws DatabaseUnavailable. */
    list: (line: string, { limit, offset }: { readonly limit: number; readonly offset: number }) =>
      database
        .within(readMs)
        .run((db) =>
          db.select(listed).from(stackVersions).where(ofLine(line)).orderBy(newestFirst).limit(limit).offset(offset),
        ),
    /** All version numbers, newest first. Throws DatabaseUnavailable. */
    numbers: async (line: string): Promise<readonly number[]> => {
      const { number } = stackVersions
      const rows = await database
        .within(readMs)
        .run((db) => db.select({ number }).from(stackVersions).where(ofLine(line)).orderBy(newestFirst))
      return rows.map((row) => row.number)
    },
    present: ({ published_at, verdict, bump, changes, message, ...row }: Listed, current: number) => ({
      ...row,
      published_at: published_at.toISOString(),
      // A first version changes nothing for readers.
      verdict: verdict ?? "none",
      bump: bump ?? "none",
      changes: changes ?? 0,
      ...(message === null ? {} : { message }),
      current: row.version === current,
    }),
  }
}

export type StackVersions = ReturnType<typeof createStackVersions>
