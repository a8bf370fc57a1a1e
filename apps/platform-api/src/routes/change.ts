import type { Context } from "hono"
import { audit, type AuditEntry } from "../audit.ts"
import { policies } from "../auth/agent-policy.ts"
import { type AppEnv, authenticated } from "../auth/guard.ts"
import { lockUser } from "../auth/accounts.ts"
import { and, eq, lt, type Orm } from "../db/database.ts"
import { idempotencyKeys } from "../db/schema/index.ts"
import { type ErrorCode, errors } from "../errors.ts"
import { StackConflict } from "../registry/publication.ts"
import type { Dependencies } from "../dependencies.ts"
import type { Settings } from "../config.ts"
import { access, bodyCodes, checkId, keyFailures, type Sent } from "./api.ts"
import { documented, type HeaderDocs } from "./create-route.ts"
import { largeBody } from "./large-body.ts"
import { reachedPath } from "./paging.ts"

const keptMs = 24 * 3600 * 1000
// Longer than for reads: many changes of one person wait for each other.
const changeMs = 8000

type ChangeStatus = 200 | 201 | 202

type Done<T, Status> = { readonly status: Status; readonly body: T; readonly location?: string }

/** What a change works with: one transaction of one person. */
export type Change = {
  readonly tx: Orm
  readonly at: Date
  readonly userId: number
  readonly config: Settings
  readonly tell: (action: AuditEntry["action"], target: string) => Promise<void>
}

const keyHeaders: HeaderDocs = {
  reads: {
    "Idempotency-Key":
      "1 to 64 printable characters of your choice. The same request within a day gets the same response",
  },
  sets: { "Idempotency-Replayed": (status) => status < 300, Location: (status) => status === 201 || status === 202 },
}

/** Reads the Idempotency-Key of a change. */
const idempotent = documented(keyHeaders, async (c, next) => {
  const key = c.req.header("idempotency-key")
  if (key !== undefined && !/^[\x20-\x7e]{1,64}$/.test(key)) {
    const reason = "must be 1 to 64 printable characters"
    throw errors.fail("invalid-request", { details: { path: "Idempotency-Key", reason } })
  }
  c.set("idempotencyKey", key)
  await next()
})

const respond = (
  c: Context<AppEnv>,
  { status, body, location }: { readonly status: number; readonly body: string; readonly location: string | null },
  replayed = false,
) =>
  c.body(body, status as ChangeStatus, {
    "content-type": "application/json",
    "cache-control": "no-store",
    ...(location !== null && { location: reachedPath(c, location) }),
    ...(replayed && { "idempotency-replayed": "true" }),
  })

/**
 * Makes a person's change in one transaction under the account's lock, with its audit row and the response for its
 * Idempotency-Key. The same key and body (by hash) get the same response for a day.
 */
export const change = async <T, Status extends ChangeStatus>(
  c: Context<AppEnv>,
  work: (given: Change) => Promise<Done<T, Status>>,
): Promise<Sent<T, Status>> => {
  const { database, wallClock, config } = c.get("dependencies")
  const key = c.get("idempotencyKey")
  const { hash: bodyHash } = c.get("upload") ?? { hash: "" }
  const { userId } = c.get("principal")
  const requestId = c.get("requestId")
  const transact = async (tx: Orm): Promise<Response> => {
    await lockUser(tx, userId)
    // Not before: a time from before the wait could be older than what another change has set.
    const at = new Date(wallClock())
    const about = { at, actor: `user:${userId}`, address: c.get("clientAddress"), requestId }
    const given: Change = { tx, at, userId, config, tell: (action, target) => audit(tx, { ...about, action, target }) }
    const doWork = async () => {
      const { status, body, location = null } = await work(given)
      return { status, body: JSON.stringify(body), location }
    }
    if (key === undefined) return respond(c, await doWork())
    const { method, path } = c.req
    const kept = idempotencyKeys
    const target = [kept.userId, kept.method, kept.path, kept.key]
    const same = and(eq(kept.userId, userId), eq(kept.method, method), eq(kept.path, path), eq(kept.key, key))
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
      return respond(c, known, true)
    }
    const done = await doWork()
    await tx.update(idempotencyKeys).set(done).where(same)
    return respond(c, done)
  }
  try {
    const response = await database.within(changeMs).transaction(transact, `changes of ${userId}`)
    // What was kept under the key is the response to the same request.
    return response as Sent<T, Status>
  } catch (error) {
    throw error instanceof StackConflict ? errors.fail(error.code) : error
  }
}

const changeCodes = [...bodyCodes, "idempotency-key-reused", "outcome-unknown"] as const

/** The error responses of a change that takes a body. */
export const changeFailures = <Code extends ErrorCode = never>(...codes: readonly Code[]) =>
  keyFailures<Code | (typeof changeCodes)[number]>(policies.people, ...changeCodes, ...codes)

/**
 * What every change of people's records is made with.
 * @param missing the error if the record in the path doesn't exist
 */
export const changing = (missing?: ErrorCode) => ({
  tags: ["records"],
  ...access(policies.people),
  middleware: [
    authenticated(policies.people),
    idempotent,
    ...(missing === undefined ? [] : [checkId("invalid-request", missing)]),
  ],
})

/** The same for a change with a body. */
export const changingWithBody = (missing?: ErrorCode) => {
  const { middleware, ...common } = changing(missing)
  return { ...common, middleware: [...middleware, largeBody] }
}

/** Deletes responses that can no longer be requested. */
export const forgetAnswers = (dependencies: Pick<Dependencies, "database" | "wallClock">) =>
  dependencies.database
    .within(1500)
    .run((db) =>
      db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, new Date(dependencies.wallClock() - keptMs))),
    )
