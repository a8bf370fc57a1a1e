import { jsonTypeFault, longestBodyMs, readBody, seemsEmpty } from "@svc/http"
import { BodyError } from "@svc/errors"
import type { Context, MiddlewareHandler } from "hono"
import { type AppEnv, authenticated, policies } from "../auth/guard.ts"
import { accountOwner } from "../compiler/compiler.ts"
import type { PreparedVersion, ReadAst } from "../compiler/tasks.ts"
import { type ErrorCode, errors, wrongField } from "../errors.ts"
import { decompress } from "../gzip.ts"
import { AstTooLarge } from "../registry/ast/document-fault.ts"
import { audit, type AuditEntry } from "../audit.ts"
import { lockUser } from "../auth/accounts.ts"
import { and, eq, lt, type Orm, someRows } from "../db/database.ts"
import { idempotencyKeys } from "../db/schema/index.ts"
import { checkFree, StackConflict } from "../registry/publication.ts"
import type { Dependencies } from "../dependencies.ts"
import type { Settings } from "../config.ts"
import { streamUrlOf } from "../records/stack-names.ts"
import type { SpecRow } from "../work/records.ts"
import { access, bodyCodes, checkId, keyFailures, reachedPath, type Sent } from "./api.ts"
import { documented, type HeaderDocs } from "./create-route.ts"

export const largeBodyLimit = 2 * 1024 * 1024

const invalidJson = (reason: string): BodyError => new BodyError({ kind: "invalid-json", reason })

const bytesOf = async (c: Context<AppEnv>): Promise<Uint8Array> => {
  const encoding = c.req.header("content-encoding")?.trim().toLowerCase() ?? "identity"
  const unsupported = (reason: string) => new BodyError({ kind: "unsupported-media-type", reason })
  if (encoding !== "identity" && encoding !== "gzip") throw unsupported("Content-Encoding must be gzip or absent")
  const fault = jsonTypeFault(c)
  if (fault !== undefined && !seemsEmpty(c)) throw unsupported(fault)
  let bytes = await readBody(c, { limit: largeBodyLimit, deadlineMs: longestBodyMs })
  if (bytes.length > 0 && fault !== undefined) throw unsupported(fault)
  if (encoding === "gzip" && bytes.length > 0) {
    try {
      bytes = await decompress(bytes, { maxOutputLength: largeBodyLimit })
    } catch (error) {
      const tooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
      throw tooLarge ? new BodyError({ kind: "too-large", limit: largeBodyLimit }) : invalidJson("the body isn't gzip")
    }
  }
  return bytes
}

const inBody = (path: string): string => `ast_payload${path === "" || path.startsWith("[") ? path : `.${path}`}`

const tooLarge = ({ path, reason }: { readonly path: string; readonly reason: string }) =>
  wrongField("invalid-ast", inBody(path), reason)

/**
 * Reads a body that may hold an AST: up to 2 MiB of JSON after decompression. Throws BodyError. The other fields are for
 * `c.req.valid("json")`, the hash of the whole body and the AST are in `upload`.
 */
const readLargeBody: MiddlewareHandler<AppEnv> = async (c, next) => {
  const bytes = await bytesOf(c)
  const about = { size: bytes.length, owner: accountOwner(c.get("principal")), signal: c.req.raw.signal }
  const read = await c
    .get("dependencies")
    .compiler.run("readUpload", bytes, about)
    .catch((error: unknown) => {
      throw error instanceof AstTooLarge ? tooLarge(error) : error
    })
  if ("invalidJson" in read) throw invalidJson(read.invalidJson)
  if ("invalid" in read) throw new BodyError({ kind: "invalid", path: "", reason: read.invalid })
  const { rest, hash, ast } = read
  c.set("upload", { hash, ast })
  // The validator reads the body from here. As text, bodyCache would round the integers that are bigints in it.
  Object.assign(c.req, { json: () => Promise.resolve(rest) })
  c.req.raw.headers.set("content-type", "application/json")
  await next()
}
export const largeBody = documented({ reads: { "Content-Encoding": "gzip, if the body is compressed" } }, readLargeBody)

/**
 * The version made from a body's AST. Throws invalid-request with its faults, if it has some or there is no AST, or
 * invalid-ast if it is too large.
 */
export const versionIn = (ast: ReadAst = { faults: [] }): PreparedVersion => {
  if ("version" in ast) return ast.version
  if ("tooLarge" in ast) throw tooLarge(ast.tooLarge)
  const faults = ast.faults.map(({ path, reason }) => ({ path: inBody(path), reason }))
  const [first = { path: "ast_payload", reason: "is missing" }] = faults
  throw errors.fail("invalid-request", { details: { ...first, faults } })
}

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

const idempotent = documented(keyHeaders, async (c, next) => {
  const key = c.req.header("idempotency-key")
  if (key !== undefined && !/^[\x20-\x7e]{1,64}$/.test(key)) {
    throw wrongField("invalid-request", "Idempotency-Key", "must be 1 to 64 printable characters")
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

/** The error responses of a change that takes a body. */
export const changeFailures = (...codes: readonly ErrorCode[]) =>
  keyFailures(policies.people, ...bodyCodes, "idempotency-key-reused", "outcome-unknown", ...codes)

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
export const forgetAnswers = ({ database, wallClock }: Pick<Dependencies, "database" | "wallClock">) => {
  const isOld = lt(idempotencyKeys.createdAt, new Date(wallClock() - keptMs))
  return database.within(1500).run((db) => db.delete(idempotencyKeys).where(someRows(idempotencyKeys, isOld)))
}

// What the routes that publish a version share.

export const deployCodes = ["version-not-found", "stack-name-taken", "websocket-url-taken", "limit-reached"] as const

/** Reports a taken name or URL at once. The build checks again. Throws StackConflict. */
export const firstLook = async (tx: Orm, spec: SpecRow, template: string | undefined, at: Date): Promise<void> => {
  const stack = { name: spec.name, websocketUrl: streamUrlOf(spec, template) }
  await checkFree(tx, stack, { ownerId: spec.ownerId, specId: spec.id }, at)
}
