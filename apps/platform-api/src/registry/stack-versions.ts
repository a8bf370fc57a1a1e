import { type About, type Compiler, CompilerBusy, diffOf, type Owner } from "../compiler/compiler.ts"
import { diffText } from "../compiler/tasks.ts"
import { and, type Database, desc, eq, inArray, type Orm, requestMs } from "../db/database.ts"
import { stackModules, stackVersions } from "../db/schema/index.ts"
import { type Answer, createAnswerMemo, type Lookup } from "./answer.ts"
import type { PublishedStack } from "./registry.ts"
import { astAnswerFor, sizeOf, type StoredAst } from "./stack-bytes.ts"
import type { Language } from "./types/typed-module.ts"

const mib = 1024 * 1024
const keptBytes = 48 * mib

const listed = {
  version: stackVersions.number,
  content_hash: stackVersions.contentHash,
  published_at: stackVersions.publishedAt,
  verdict: stackVersions.verdict,
  bump: stackVersions.bump,
  changes: stackVersions.changes,
  message: stackVersions.message,
}
type Page = { readonly limit: number; readonly offset: number }

const ofLine = (line: string) => eq(stackVersions.line, line)
const newestFirst = desc(stackVersions.number)

/** A version's AST as readers get it. */
const astOf = ({ astGzip: gzip }: { readonly astGzip: Uint8Array }): StoredAst => ({ gzip, isAnswer: true })

/** Versions of stacks, from the database, and what is made of them. */
export const createStackVersions = (database: Database, compiler: Compiler) => {
  const memo = createAnswerMemo<{ readonly answer: Answer | undefined }>(keptBytes)
  const { packed, pack } = memo
  const inTime = <T>(work: (db: Orm) => Promise<T>): Promise<T> => database.within(requestMs).run(work)

  /** Versions as they were served, without those that don't exist. */
  const read = async ({ line }: PublishedStack, numbers: readonly number[]) => {
    const { number, schemaGzip, astGzip } = stackVersions
    const wanted = and(ofLine(line), inArray(number, [...numbers]))
    const rows = await inTime((db) => db.select({ number, schemaGzip, astGzip }).from(stackVersions).where(wanted))
    return numbers.flatMap((one) => rows.find((row) => row.number === one) ?? [])
  }

  /** A stored module, or one that is generated and stored, for the stack's current name. */
  const findModule = async (
    ast: StoredAst,
    { line, name }: PublishedStack,
    number: number,
    language: Language,
    owner: Owner,
  ) => {
    const one = and(eq(stackModules.line, line), eq(stackModules.number, number), eq(stackModules.language, language))
    const [stored] = await inTime((db) => db.select().from(stackModules).where(one))
    if (stored?.name === name) return packed(stored.gzip)
    const wanted = { ast, language, name, version: number }
    const gzip = await compiler.run("module", wanted, { size: sizeOf(ast), owner })
    const target = [stackModules.line, stackModules.number, stackModules.language]
    const row = { line, number, language, name, gzip }
    await inTime((db) => db.insert(stackModules).values(row).onConflictDoUpdate({ target, set: { name, gzip } }))
    return packed(gzip)
  }

  /** What is made of versions; undefined if one of them doesn't exist. A stack only gets more with a new revision. */
  const lookUp = (
    name: string,
    stack: PublishedStack,
    numbers: readonly number[],
    make: (...found: Awaited<ReturnType<typeof read>>) => Answer | Promise<Answer>,
  ): Lookup => {
    const key = `${name} ${numbers.join(" ")} ${stack.revision} ${stack.line}`
    const find = async () => {
      const found = await read(stack, numbers)
      return { answer: found.length < numbers.length ? undefined : await make(...found) }
    }
    const search = async (): Promise<Answer | undefined> => {
      let isOwn = false
      try {
        const { answer } = await memo.fetch(key, () => {
          isOwn = true
          return find()
        })
        return answer
      } catch (error) {
        // Somebody else, who has too much work waiting, asked for the same first.
        if (isOwn || !(error instanceof CompilerBusy)) throw error
        return search()
      }
    }
    return memo.get(key)?.answer ?? search
  }

  return {
    schema: (stack: PublishedStack, number: number) =>
      lookUp("schema", stack, [number], ({ schemaGzip }) => packed(schemaGzip)),
    /** The AST response of a version, with the stack's current visibility. */
    ast: (stack: PublishedStack, number: number) =>
      lookUp("ast", stack, [number], async ({ astGzip }) => packed(await astAnswerFor(astGzip, stack.visibility))),
    /** The difference of two versions. Throws DatabaseUnavailable, AstTooLarge and CompilerBusy. */
    diff: (stack: PublishedStack, from: number, to: number, owner: Owner) =>
      lookUp("diff", stack, [from, to], async (before, after) => {
        return pack(diffText({ from, to }, await diffOf(compiler, astOf(before), astOf(after), { owner })))
      }),
    /** How a new AST differs from the published one; undefined if that is gone. Throws as `diff` does. */
    compare: async (stack: PublishedStack, ast: StoredAst, about: Omit<About, "size">) => {
      const [published] = await read(stack, [stack.version])
      return published && diffOf(compiler, astOf(published), ast, about)
    },
    /** Types of a version. Throws DatabaseUnavailable, AstTooLarge and CompilerBusy. */
    module: (stack: PublishedStack, number: number, language: Language, owner: Owner) =>
      lookUp(`types ${language}`, stack, [number], (found) => findModule(astOf(found), stack, number, language, owner)),
    /** A page of versions as readers get them, newest first. Throws DatabaseUnavailable. */
    list: async ({ line, version: current }: PublishedStack, { limit, offset }: Page) => {
      const rows = await inTime((db) =>
        db.select(listed).from(stackVersions).where(ofLine(line)).orderBy(newestFirst).limit(limit).offset(offset),
      )
      return rows.map(({ published_at, verdict, bump, changes, message, ...row }) =>
        Object.assign(row, {
          published_at: published_at.toISOString(),
          // A first version changes nothing for readers.
          verdict: verdict ?? "none",
          bump: bump ?? "none",
          changes: changes ?? 0,
          ...(message === null ? {} : { message }),
          current: row.version === current,
        }),
      )
    },
    /** All version numbers, newest first. Throws DatabaseUnavailable. */
    numbers: async (line: string): Promise<readonly number[]> => {
      const { number } = stackVersions
      const rows = await inTime((db) =>
        db.select({ number }).from(stackVersions).where(ofLine(line)).orderBy(newestFirst),
      )
      return rows.map((row) => row.number)
    },
  }
}

export type StackVersions = ReturnType<typeof createStackVersions>
