import { readFileSync } from "node:fs"
import { sampleStacks } from "../../stacks/index.ts"
import { and, type Database, eq, inArray, isNull, lt, or, type Queries } from "../db/database.ts"
import { registryState, stacks } from "../db/schema/index.ts"
import { publish } from "./publish.ts"
import { readAst } from "../registry/ast/read-ast.ts"
import { spellingsOf } from "../registry/websocket-url.ts"

const seedMs = 60_000

const isTaken = async (queries: Queries, url: string, name: string): Promise<boolean> => {
  const taken = or(eq(stacks.name, name), inArray(stacks.websocketUrl, [...spellingsOf(url)]))
  const [stack] = await queries.run((db) => db.select({ name: stacks.name }).from(stacks).where(taken))
  return stack !== undefined
}

/** The names of the sample stacks in the registry. */
export const publishedSamples = async (database: Database): Promise<readonly string[]> => {
  const samples = sampleStacks.map(({ name, description }) =>
    and(eq(stacks.name, name), eq(stacks.description, description)),
  )
  const rows = await database.within(seedMs).run((db) =>
    db
      .select({ name: stacks.name })
      .from(stacks)
      .where(and(isNull(stacks.ownerId), or(...samples))),
  )
  return rows.map(({ name }) => name).toSorted()
}

/**
 * Publishes the sample stacks into an empty registry. A second call does nothing.
 * @param streamUrl where the samples are streamed, such as `ws://127.0.0.1:4004`, without a trailing slash
 */
export const seed = async (database: Database, streamUrl: string, at: Date): Promise<void> => {
  const queries = database.within(seedMs)
  // Each publication raises the revision. A lower one means that the first start was interrupted.
  const unfinished = lt(registryState.revision, sampleStacks.length)
  const [state] = await queries.run((db) => db.select().from(registryState).where(unfinished))
  if (state === undefined) return
  for (const { file, ...sample } of sampleStacks) {
    const { name } = sample
    const websocketUrl = `${streamUrl}/${name}`
    // What the operator has published stays as it is.
    if (await isTaken(queries, websocketUrl, name)) continue
    const ast = readAst(readFileSync(file, "utf8"))
    const terms = { visibility: "public", browserSend: false, allowBreaking: true } as const
    await publish(queries, { ...sample, ...terms, ast, websocketUrl }, at)
  }
}
