import { ApiError, BodyError, type BodyFault, explanationOf } from "@svc/errors"
import type { Context } from "hono"
import { badRequest, errors } from "./errors.ts"
import type { RelayEnv } from "./relay.ts"
import { isSendPath } from "./routes/table.ts"

const exposed = [
  "X-Request-Id",
  "X-Error-Code",
  "X-Svc-Upstream-Attempted",
  "Cache-Control",
  "X-Content-Type-Options",
  "Retry-After",
]

/** The headers of every answer, unless it has another one of that name: the server sets them. */
export const commonHeaders = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed.join(", "),
  "X-Svc-Upstream-Attempted": "false",
}

// On the send path an error always says what became of the transaction.
const bodyOf = (error: ApiError, requestId: string, isSend: boolean, docsUrl: string) => ({
  code: error.code,
  message: error.message,
  retryable: error.retryable === true,
  requestId,
  ...(isSend && { submissionState: "not_submitted" }),
  ...error.extra,
  hint: error.hint,
  docs: explanationOf(docsUrl, "relay", error.code),
  details: error.details,
})

const headersOf = ({ code, headers }: ApiError) => ({ "X-Error-Code": code, ...headers })

/** @param docsUrl where the documentation is */
export const errorAnswer = (c: Context<RelayEnv>, error: ApiError, docsUrl: string): Response =>
  c.json(bodyOf(error, c.get("requestId"), isSendPath(c.req.path), docsUrl), error.status, headersOf(error))

/** Answers what no request can be made of. Its path isn't known, so it is treated as a send. */
export const unreadableAnswer =
  (docsUrl: string) =>
  (requestId: string, reason: string, status: 400 | 405): Response => {
    const error =
      status === 405
        ? errors.fail("method_not_allowed", { headers: { Allow: "GET, HEAD, POST, OPTIONS" } })
        : badRequest("invalid_request", "", reason)
    return Response.json(bodyOf(error, requestId, true, docsUrl), { status: error.status, headers: headersOf(error) })
  }

/** What is told of a body that can't be read. */
const bodyError = (fault: BodyFault): ApiError => {
  switch (fault.kind) {
    case "unsupported-media-type":
      return errors.fail("unsupported_media_type", { message: fault.reason })
    case "too-large":
      return errors.fail("request_too_large", { message: `The request body is over ${fault.limit} bytes.` })
    case "timeout":
      return errors.fail("request_timeout", { headers: { connection: "close" } })
    case "aborted":
      return badRequest("invalid_request", "", "the body ended early")
    case "invalid-json":
      return badRequest("invalid_request", "", fault.reason)
    case "invalid":
      break
  }
  return badRequest("invalid_request", fault.path, fault.reason)
}

/** The error that a request is answered with for what was thrown. */
export const refusalOf = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error
  return error instanceof BodyError ? bodyError(error.fault) : errors.fail("internal_error", { cause: error })
}
