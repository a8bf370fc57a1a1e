import { type ApiError, type BodyFault, explanationOf } from "@svc/errors"
import type { Context } from "hono"
import type { AppEnv } from "./auth/guard.ts"
import { errors, wrongField } from "./errors.ts"
import { headers } from "./routes/create-route.ts"

/**
 * Headers of every response, errors included. Any page may read them: the key's own origin check decides what a browser
 * may do.
 */
export const everyAnswer = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": Object.keys(headers).join(", "),
}

/** Whether a request is from a page of the documentation's own origin. */
export const isOfDocumentation = (c: Context<AppEnv>): boolean =>
  c.req.header("origin") === new URL(c.get("dependencies").config.docsUrl).origin

// RFC 6750 section 3: only a caller that sent a key gets the error in this header.
const withoutKey = new Set<string>(["missing-credentials", "invalid-authorization-format"])

const headersOf = (error: ApiError): Record<string, string> => {
  const challenge = withoutKey.has(error.code) ? "Bearer" : 'Bearer error="invalid_token"'
  return {
    "cache-control": "no-store",
    "x-error-code": error.code,
    ...error.headers,
    ...(error.status === 401 && { "www-authenticate": challenge }),
  }
}

const bodyOf = (error: ApiError, requestId: string, docsUrl: string) => ({
  error: error.message,
  code: error.code,
  request_id: requestId,
  retryable: error.retryable ?? false,
  retry_after_seconds: error.retryAfterSeconds,
  // Every 400 says where and why, even when no field is at fault.
  details: error.details ?? (error.status === 400 ? { path: "", reason: error.message } : undefined),
  hint: error.hint,
  docs: explanationOf(docsUrl, "platform", error.code),
})

/** Turns an error into a response, with the headers that were set for it by `c.header`. */
export const errorResponse = (c: Context<AppEnv>, error: ApiError, docsUrl: string): Response =>
  c.json(bodyOf(error, c.var.requestId, docsUrl), error.status, headersOf(error))

/** The response to bytes that can't be parsed as a request. */
export const unreadableResponse =
  (docsUrl: string) =>
  (requestId: string, reason: string, status: 400 | 405): Response => {
    const error =
      status === 405
        ? errors.fail("method-not-allowed", { headers: { allow: "GET, HEAD, POST, PUT, DELETE, OPTIONS" } })
        : wrongField("invalid-request", "", reason)
    return Response.json(bodyOf(error, requestId, docsUrl), { status: error.status, headers: headersOf(error) })
  }

/** The error for a body that can't be read. */
export const bodyError = (fault: BodyFault): ApiError => {
  if (fault.kind === "too-large") {
    // The table's message names the limits of all routes but sign-up.
    const own =
      fault.limit < 65_536 ? { message: `The body is too large. The limit is ${fault.limit / 1024} KiB.` } : {}
    return errors.fail("payload-too-large", own)
  }
  const code = fault.kind === "unsupported-media-type" || fault.kind === "invalid-json" ? fault.kind : "invalid-request"
  const path = fault.kind === "invalid" ? fault.path : ""
  const reason = fault.kind === "timeout" || fault.kind === "aborted" ? "the body didn't arrive" : fault.reason
  const own = code === "unsupported-media-type" ? { message: `In this request, ${reason}.` } : {}
  return errors.fail(code, { details: { path, reason }, ...own })
}
