import { matchesETag } from "@svc/http"
import type { Context } from "hono"
import type { AppEnv } from "../auth/guard.ts"
import { errors } from "../errors.ts"
import { tagOf } from "../registry/answer.ts"
import type { Sent } from "./api.ts"
import type { HeaderDocs } from "./create-route.ts"

/** For routes that send an ETag. */
export const revalidated: HeaderDocs = {
  reads: { "If-None-Match": "A previous ETag. The response is 304 if nothing changed" },
  sets: { ETag: (status) => status === 200 || status === 304 },
}

/** Sends a caller's own data: may be kept, must be asked for again each time, and a 304 says that nothing changed. */
export const sendOwn = <T>(c: Context<AppEnv>, body: T): Sent<T, 200> => {
  const text = JSON.stringify(body)
  const etag = `"${tagOf(text)}"`
  const headers = { etag, "cache-control": "private, no-cache" }
  const response = matchesETag(c.req.header("if-none-match"), [etag])
    ? c.body(null, 304, headers)
    : c.body(text, 200, { ...headers, "content-type": "application/json" })
  return response as Response as Sent<T, 200>
}

/** For routes that call `checkPreconditions`. */
export const conditional: HeaderDocs = {
  reads: {
    "If-Match": "The ETag of the spec as you read it. The response is 412 if it changed since",
    "If-None-Match": "An ETag. The response is 412 if the spec still has it",
  },
}

/**
 * Checks whether a change may be made to what GET responds with now (RFC 9110 sections 13.1.1 and 13.1.2: If-Match compares
 * strongly, so that a weak tag matches nothing). Throws precondition-failed.
 * @param current reads what GET responds with; called only if the request depends on it
 */
export const checkPreconditions = async (c: Context<AppEnv>, current: () => Promise<unknown>): Promise<void> => {
  const [wanted, unwanted] = [c.req.header("if-match"), c.req.header("if-none-match")]
  if (wanted === undefined && unwanted === undefined) return
  const etag = `"${tagOf(JSON.stringify(await current()))}"`
  const matches = (header: string) => header.trim() === "*" || header.split(",").some((tag) => tag.trim() === etag)
  if (wanted !== undefined ? !matches(wanted) : matchesETag(unwanted, [etag])) throw errors.fail("precondition-failed")
}
