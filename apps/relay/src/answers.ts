import type { ApiError, BodyFault } from "@svc/errors"
import { fixedHeaders, requestIdOf } from "@svc/http"
import type { Context } from "hono"
import { badRequest, errors } from "./errors.ts"
import type { RelayEnv } from "./handle.ts"
import { isSendPath } from "./routes/table.ts"

const exposed = [
  "X-Request-Id",
  "X-Error-Code",
  "X-Svc-Upstream-Attempted",
  "Cache-Control",
  "X-Content-Type-Options",
  "Retry-After",
]

const always = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed.join(", "),
}

/** Of a request, what its answer must tell. */
type About = { readonly requestId: string; readonly attempted: boolean; readonly isSend: boolean }

const aboutOf = (c: Context<RelayEnv>): About => ({
  requestId: requestIdOf(c),
  attempted: c.get("call")?.attempted === true,
  isSend: isSendPath(c.req.path),
})

const headersOf = ({ attempted }: Pick<About, "attempted">): Record<string, string> => ({
  ...always,
  "X-Svc-Upstream-Attempted": String(attempted),
})

const jsonHeadersOf = (attempted: boolean) =>
  fixedHeaders({ ...headersOf({ attempted }), "Content-Type": "application/json" })
const jsonHeaders = { attempted: jsonHeadersOf(true), notAttempted: jsonHeadersOf(false) }

// On the send path an error always says what became of the transaction.
const bodyOf = ({ requestId, isSend }: About, error: ApiError): string =>
  JSON.stringify({
    code: error.code,
    message: error.message,
    retryable: error.retryable === true,
    requestId,
    ...(isSend && { submissionState: "not_submitted" }),
    ...error.extra,
    hint: error.hint,
    details: error.details,
  })

const errorHeaders = (about: About, error: ApiError): Record<string, string> => ({
  ...headersOf(about),
  "Content-Type": "application/json",
  "X-Error-Code": error.code,
  ...error.headers,
  ...(error.retryAfterSeconds !== undefined && { "Retry-After": String(error.retryAfterSeconds) }),
})

/** The headers of every answer, but for its id, which the server sets. */
export const answerHeaders = (c: Context<RelayEnv>): Record<string, string> => headersOf(aboutOf(c))

// Responses are made here and not by the context: that would turn the record into a Headers object for each request.
export const jsonAnswer = (c: Context<RelayEnv>, body: string, status = 200): Response =>
  new Response(body, { status, headers: jsonHeaders[c.get("call")?.attempted === true ? "attempted" : "notAttempted"] })

export const errorBody = (c: Context<RelayEnv>, error: ApiError): string => bodyOf(aboutOf(c), error)

export const errorAnswer = (c: Context<RelayEnv>, error: ApiError, body = errorBody(c, error)): Response =>
  c.body(body, error.status, errorHeaders(aboutOf(c), error))

/** Answers what no request can be made of. Its path isn't known, so it is treated as a send. */
export const unreadableAnswer = (requestId: string, reason: string): Response => {
  const about = { requestId, attempted: false, isSend: true }
  const error = badRequest("invalid_request", "", reason)
  return new Response(bodyOf(about, error), { status: error.status, headers: errorHeaders(about, error) })
}

/** What is told of a body that can't be read. */
export const bodyError = (fault: BodyFault): ApiError => {
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
