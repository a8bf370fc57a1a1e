import type { Context } from "hono"
import type { AppEnv } from "../auth/guard.ts"
import { matchesETag } from "@svc/http"
import { errors } from "../errors.ts"
import { tagOf } from "../registry/answer.ts"

/** A caller's own data: may be kept, must be asked for again each time, and a 304 says that nothing changed. */
export const sendOwn = (c: Context<AppEnv>, body: string, headers: Readonly<Record<string, string>> = {}) => {
  const etag = `"${tagOf(body)}"`
  const all = { ...headers, etag, "cache-control": "private, no-cache" }
  if (matchesETag(c.req.header("if-none-match"), [etag])) return new Response(null, { status: 304, headers: all })
  return new Response(body, { headers: { ...all, "content-type": "application/json" } })
}

/**
 * Whether a change may be made to what GET answers with `body` now (RFC 9110 sections 13.1.1 and 13.1.2: If-Match compares
 * strongly, so that a weak tag matches nothing). Throws precondition-failed.
 */
export const checkPreconditions = (c: Context<AppEnv>, body: string): void => {
  const etag = `"${tagOf(body)}"`
  const wanted = c.req.header("if-match")
  const matches = (header: string) => header.trim() === "*" || header.split(",").some((tag) => tag.trim() === etag)
  if (wanted !== undefined ? !matches(wanted) : matchesETag(c.req.header("if-none-match"), [etag])) {
    throw errors.fail("precondition-failed")
  }
}

/** Whether the answer of a change depends on what GET answers. */
export const isConditional = (c: Context<AppEnv>): boolean =>
  c.req.header("if-match") !== undefined || c.req.header("if-none-match") !== undefined
