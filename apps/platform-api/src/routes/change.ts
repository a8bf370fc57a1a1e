import type { z } from "@svc/openapi"
import type { Context } from "hono"
import { audit, type AuditEntry } from "../audit.ts"
import { policies } from "../auth/agent-policy.ts"
import type { AppEnv } from "../auth/guard.ts"
import type { ReadAst } from "../compiler/read-upload.ts"
import type { Orm } from "../db/database.ts"
import { and, lt, sql } from "../db/drizzle.ts"
import { idempotencyKeys } from "../db/schema/index.ts"
import { type ErrorCode, errors } from "../errors.ts"
import { StackConflict } from "../registry/publication.ts"
import type { Dependencies } from "../dependencies.ts"
import { bodyCodes, type Endpoint, type Serve } from "./endpoint.ts"
import { readLargeBody } from "./large-body.ts"
import { recordId } from "./owned.ts"

const keptMs = 24 * 3600 * 1000
// Longer than for reads: many changes of one person wait for each other.
const changeMs = 8000

type Done = { readonly status: number; readonly body: string; readonly location?: string | null }

/** What a change works with: one transaction of one person. */
export type Change = {
  readonly tx: Orm
  readonly at: Date
  readonly userId: number
  readonly tell: (action: AuditEntry["action"], target: string) => Promise<void>
}

const idempotencyKey = (c: Context<AppEnv>): string | undefined => {
  const key = c.req.header("idempotency-key")
  if (key === undefined || /^[\x20-\x7e]{1,64}$/.test(key)) return key
  const reason = "must be 1 to 64 printable characters"
  throw errors.fail("invalid-request", { details: { path: "Idempotency-Key", reason } })
}

const respond = ({ status, body, location }: Done, replayed = false): Response =>
  new Response(body, {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(location == null ? {} : { location }),
      ...(replayed ? { "idempotency-replayed": "true" } : {}),
    },
  })

/**
 * Makes a person's change in one transaction, with its audit row and the response for its Idempotency-Key. The same key
 * and body (by hash) get the same response for a day. A concurrent request with the same key waits for the first.
 */
export const change = async (
  { database, wallClock }: Dependencies,
  c: Context<AppEnv>,
  bodyHash: string,
  work: (given: Change) => Promise<Done>,
): Promise<Response> => {
  const key = idempotencyKey(c)
  const { userId } = c.get("principal")
  const requestId = c.get("requestId")
  const at = new Date(wallClock())
  const about = { at, actor: `user:${userId}`, address: c.get("clientAddress"), requestId }
  const transact = async (tx: Orm): Promise<Response> => {
    const given: Change = { tx, at, userId, tell: (action, target) => audit(tx, { ...about, action, target }) }
    if (key === undefined) return respond(await work(given))
    const { method, path } = c.req
    const target = [idempotencyKeys.userId, idempotencyKeys.method, idempotencyKeys.path, idempotencyKeys.key]
    const same = and(...[userId, method, path, key].map((value, index) => sql`${target[index]} = ${value}`))
    const begun = { bodyHash, status: 0, location: null, body: "", createdAt: at }
    const setWhere = lt(idempotencyKeys.createdAt, new Date(at.getTime() - keptMs))
    const [mine] = await tx
      .insert(idempotencyKeys)
      .values({ userId, method, path, key, ...begun })
      .onConflictDoUpdate({ target, set: begun, setWhere })
      .returning({ key: idempotencyKeys.key })
    if (mine === undefined) {
      const [known] = await tx.select().from(idempotencyKeys).where(same)
      if (known?.bodyHash !== bodyHash) throw errors.fail("idempotency-key-reused")
      return respond(known, true)
    }
    const done = await work(given)
    const { status, body, location = null } = done
    await tx.update(idempotencyKeys).set({ status, body, location }).where(same)
    return respond(done)
  }
  try {
    return await database.within(changeMs).transaction(transact, `changes of ${userId}`)
  } catch (error) {
    throw error instanceof StackConflict ? errors.fail(error.code) : error
  }
}

/** Errors of every change that takes a body. */
export const changeCodes = [...bodyCodes, "idempotency-key-reused", "outcome-unknown"] as const

type ChangeEndpoint<Body, Prepared> = Pick<
  Endpoint,
  "path" | "id" | "summary" | "description" | "success" | "headers" | "codes"
> & {
  /** Default: post. */
  readonly method?: "put" | "delete"
  /** A body that may hold an AST. Without it, no body is read. */
  readonly largeBody?: z.ZodType<Body>
  /** The error if the record in the path doesn't exist. */
  readonly missing?: ErrorCode
  /** Checks the body before the transaction begins. */
  readonly prepare?: (given: Body, ast: ReadAst | undefined) => Prepared
  readonly work: (
    change: Change,
    about: { readonly c: Context<AppEnv>; readonly id: number; readonly given: Body; readonly prepared: Prepared },
  ) => Promise<Done>
}

/** Serves changes of people's records. */
export const changesOf =
  (serve: Serve, dependencies: Dependencies) =>
  <Body, Prepared = undefined>(endpoint: ChangeEndpoint<Body, Prepared>): void => {
    const { largeBody, missing, prepare, work } = endpoint
    serve({
      method: "post",
      ...endpoint,
      tag: "records",
      access: policies.people,
      codes: [
        ...(largeBody === undefined ? (["invalid-request", "outcome-unknown"] as const) : changeCodes),
        ...(missing === undefined ? [] : [missing]),
        ...endpoint.codes,
      ],
      handle: async (c) => {
        const id = missing === undefined ? 0 : recordId(c, missing)
        const read = largeBody && (await readLargeBody(dependencies, c, largeBody))
        const given = read?.given as Body
        const prepared = prepare?.(given, read?.ast) as Prepared
        return change(dependencies, c, read?.hash ?? "", (made) => work(made, { c, id, given, prepared }))
      },
    })
  }

/** Deletes responses that can no longer be requested. */
export const forgetAnswers = (dependencies: Pick<Dependencies, "database" | "wallClock">) =>
  dependencies.database
    .within(1500)
    .run((db) =>
      db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, new Date(dependencies.wallClock() - keptMs))),
    )
