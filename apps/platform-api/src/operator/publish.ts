import { gzipSync } from "node:zlib"
import { audit } from "../audit.ts"
import type { Queries } from "../db/database.ts"
import { orm } from "../db/drizzle.ts"
import { registryState, stacks } from "../db/schema.ts"
import type { Ast } from "../registry/ast-shape.ts"
import { contentHash } from "../registry/content-hash.ts"
import { deriveSchema } from "../registry/derive-schema.ts"
import { registryChannel } from "../registry/registry.ts"
import { normaliseWebsocketUrl, spellingsOf } from "../registry/websocket-url.ts"
import { CommandError } from "./command-error.ts"

const { and, eq, inArray, ne, sql } = orm

export type Publication = {
  readonly name: string
  readonly description: string | null
  readonly websocketUrl: string
  readonly visibility: "public" | "global" | "private"
  readonly relay: boolean
  readonly browserSend: boolean
  readonly ast: Ast
}

const checkName = (text: string): string => {
  const name = text.toLowerCase()
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return name
  throw new CommandError("invalid-name", "a stack's name is 1 to 63 letters, digits and dashes, not a dash first")
}

const checkUrl = (text: string): string => {
  const url = normaliseWebsocketUrl(text)
  if (url !== undefined) return url
  throw new CommandError("invalid-websocket-url", "the websocket URL must start with ws:// or wss://")
}

/** All the bytes that replicas will serve, so that they need not make any. */
const prepare = (stack: Omit<Publication, "ast">, ast: Ast, at: Date) => {
  const { name, description, visibility } = stack
  const websocket_url = stack.websocketUrl
  const content_hash = contentHash(ast)
  const schema = deriveSchema(ast)
  const detail = {
    name,
    description,
    websocket_url,
    entities: schema.entities.map((entity) => entity.name),
    visibility,
    content_hash,
    updated_at: at.toISOString(),
  }
  const head = { name, description, websocket_url }
  const answer = { name, stack: ast.stack_name, description, websocket_url, visibility, content_hash, ast_payload: ast }
  const pack = (value: unknown): Buffer => gzipSync(JSON.stringify(value), { level: 9 })
  return {
    contentHash: content_hash,
    detail: JSON.stringify(detail),
    schema: JSON.stringify(schema),
    schemaGzip: pack({ ...head, schema }),
    astGzip: pack(answer),
  }
}

/**
 * Publishes a stack, or its next version when the name is taken already; the very same again changes nothing. Every
 * replica has it within two seconds. Throws CommandError.
 */
export const publish = async (queries: Queries, { ast, ...given }: Publication, at: Date) => {
  const stack = { ...given, name: checkName(given.name), websocketUrl: checkUrl(given.websocketUrl) }
  const prepared = prepare(stack, ast, at)
  const known = eq(stacks.name, stack.name)
  const told = (status: "published" | "unchanged", version: number) => ({
    name: stack.name,
    status,
    version,
    content_hash: prepared.contentHash,
    websocket_url: stack.websocketUrl,
    visibility: stack.visibility,
    entities: deriveSchema(ast).entities.map((entity) => entity.name),
  })
  return queries.transaction(async (tx) => {
    // The lock on this row makes publications wait for one another.
    const [state] = await tx
      .update(registryState)
      .set({ revision: sql`${registryState.revision} + 1` })
      .returning()
    const revision = state?.revision ?? 1
    const [old] = await tx.select().from(stacks).where(known)
    const others = and(inArray(stacks.websocketUrl, [...spellingsOf(stack.websocketUrl)]), ne(stacks.name, stack.name))
    const [taken] = await tx.select({ name: stacks.name }).from(stacks).where(others)
    if (taken !== undefined)
      throw new CommandError("websocket-url-taken", `the stack ${taken.name} has this websocket URL`)
    const same =
      old !== undefined &&
      old.contentHash === prepared.contentHash &&
      old.description === stack.description &&
      old.websocketUrl === stack.websocketUrl &&
      old.visibility === stack.visibility &&
      old.relay === stack.relay &&
      old.browserSend === stack.browserSend
    if (same) return told("unchanged", old.version)
    const version = (old?.version ?? 0) + 1
    const row = { ...stack, ...prepared, version, revision, updatedAt: at }
    if (old === undefined) await tx.insert(stacks).values({ ...row, createdAt: at })
    else await tx.update(stacks).set(row).where(known)
    await audit(tx, { at, actor: "operator", action: "stack.publish", target: `stack:${stack.name}` })
    await tx.execute(sql`select pg_notify(${registryChannel}, '')`)
    return told("published", version)
  })
}

/** Takes a stack out of the registry. Throws CommandError. */
export const unpublish = (queries: Queries, name: string, at: Date) =>
  queries.transaction(async (tx) => {
    await tx.update(registryState).set({ revision: sql`${registryState.revision} + 1` })
    const [gone] = await tx.delete(stacks).where(eq(stacks.name, name.toLowerCase())).returning({ name: stacks.name })
    if (gone === undefined) throw new CommandError("stack-not-found", "there is no such stack")
    await audit(tx, { at, actor: "operator", action: "stack.unpublish", target: `stack:${gone.name}` })
    await tx.execute(sql`select pg_notify(${registryChannel}, '')`)
    return { name: gone.name, unpublished: true }
  })
