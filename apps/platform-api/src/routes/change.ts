import { clientAddress, requestHeader } from "@svc/http"
import type { Context } from "hono"
import { audit, type AuditEntry } from "../audit.ts"
import type { AppEnv } from "../auth/guard.ts"
import type { Orm } from "../db/database.ts"
import { and, eq, lt } from "../db/drizzle.ts"
import { idempotencyKeys } from "../db/schema/index.ts"
import { errors } from "../errors.ts"
import { StackConflict } from "../registry/publication.ts"
import type { Dependencies } from "../dependencies.ts"

const bodyCodes = ["invalid-json", "invalid-request", "payload-too-large", "unsupported-media-type"] as const
/** Errors of every change that takes a body. */
export const changeCodes = [...bodyCodes, "idempotency-key-reused", "outcome-unknown"] as const

const keptMs = 24 * 3600 * 1000
// Longer than for reads: many changes of one person wait for each other.
const changeMs = 8000

type Done = { readonly status: 200 | 201 | 202; readonly body: string; readonly location?: string }

/** What a change works with: one transaction of one person. */
export type Change = {
  readonly tx: Orm
  readonly at: Date
  readonly userId: number
  readonly tell: (action: AuditEntry["action"], target: string) => Promise<void>
}

const idempotencyKey = (c: Context<AppEnv>): string | undefined => {
  const key = requestHeader(c, "idempotency-key")
  if (key === undefined || /^[\x20-\x7e]{1,64}$/.test(key)) return key
  const reason = "must be 1 to 64 printable characters"
  throw errors.fail("invalid-request", { details: { path: "Idempotency-Key", reason } })
}

const answer = ({ status, body, location }: Done, replayed: boolean): Response =>
  new Response(body, {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(location === undefined ? {} : { location }),
      ...(replayed ? { "idempotency-replayed": "true" } : {}),
    },
  })

/**
 * Makes a person's change in one transaction, with its audit row and the response for its Idempotency-Key. The same key
 * and body (by hash) get the same response for a day. A concurrent request with the same key waits for the first.
 */
export const change = async (
  dependencies: Dependencies,
  c: Context<AppEnv>,
  bodyHash: string,
  work: (given: Change) => Promise<Done>,
): Promise<Response> => {
  const key = idempotencyKey(c)
  const { userId } = c.get("principal")
  const { requestId } = c.env.outgoing
  const at = new Date(dependencies.wallClock())
  const address = clientAddress(c)
  const tellIn = (tx: Orm) => (action: AuditEntry["action"], target: string) =>
    audit(tx, { at, actor: `user:${userId}`, action, target, address, requestId })
  try {
    const queries = dependencies.database.within(changeMs)
    const answered = await queries.transaction(async (tx) => {
      const given = { tx, at, userId, tell: tellIn(tx) }
      if (key === undefined) return { done: await work(given), replayed: false }
      const row = { userId, method: c.req.method, path: c.req.path, key }
      const same = and(
        ...(["userId", "method", "path", "key"] as const).map((name) => eq(idempotencyKeys[name], row[name])),
      )
      const begun = {
        bodyHash,
        status: 0,
        location: null,
        body: "",
        createdAt: at,
      }
      const [mine] = await tx
        .insert(idempotencyKeys)
        .values({ ...row, ...begun })
        .onConflictDoUpdate({
          target: [idempotencyKeys.userId, idempotencyKeys.method, idempotencyKeys.path, idempotencyKeys.key],
          set: begun,
          setWhere: lt(idempotencyKeys.createdAt, new Date(at.getTime() - keptMs)),
        })
        .returning({ key: idempotencyKeys.key })
      if (mine === undefined) {
        const [known] = await tx.select().from(idempotencyKeys).where(same)
        if (known?.bodyHash !== begun.bodyHash) throw errors.fail("idempotency-key-reused")
        const { body, location } = known
        const status = known.status === 201 ? 201 : known.status === 202 ? 202 : 200
        return { done: { status, body, ...(location === null ? {} : { location }) } satisfies Done, replayed: true }
      }
      const done = await work(given)
      const { status, body, location = null } = done
      await tx.update(idempotencyKeys).set({ status, body, location }).where(same)
      return { done, replayed: false }
    }, `changes of ${userId}`)
    return answer(answered.done, answered.replayed)
  } catch (error) {
    if (error instanceof StackConflict) throw errors.fail(error.code)
    throw error
  }
}

/** Deletes responses that can no longer be requested. */
export const forgetAnswers = (dependencies: Pick<Dependencies, "database" | "wallClock">) =>
  dependencies.database
    .within(1500)
    .run((db) =>
      db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, new Date(dependencies.wallClock() - keptMs))),
    )
