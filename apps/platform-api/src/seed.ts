import { readFileSync } from "node:fs"
import { sampleStacks } from "../stacks/index.ts"
import type { Database } from "./db/database.ts"
import { orm } from "./db/drizzle.ts"
import { registryState, stacks } from "./db/schema.ts"
import { publish } from "./operator/publish.ts"
import { readAst } from "./registry/read-ast.ts"
import { spellingsOf } from "./registry/websocket-url.ts"

const seedMs = 60_000

/** Publishes the sample stacks into a registry that has nothing else; does nothing the second time. */
export const seed = async (database: Database, at: Date): Promise<void> => {
  const queries = database.within(seedMs)
  // Each publication raises the revision: a lower one means that the first start did not get to its end.
  const unfinished = orm.lt(registryState.revision, sampleStacks.length)
  const [state] = await queries.run((db) => db.select().from(registryState).where(unfinished))
  if (state === undefined) return
  for (const { file, name, description, websocket_url, visibility, relay, browser_send } of sampleStacks) {
    // What the operator has published before stays as it is.
    const taken = orm.or(orm.eq(stacks.name, name), orm.inArray(stacks.websocketUrl, [...spellingsOf(websocket_url)]))
    const [own] = await queries.run((db) => db.select({ name: stacks.name }).from(stacks).where(taken))
    if (own !== undefined) continue
    const ast = readAst(readFileSync(file, "utf8"))
    const stack = { name, description, visibility, relay, ast, websocketUrl: websocket_url, browserSend: browser_send }
    await publish(queries, { ...stack, allowBreaking: true }, at)
  }
}
