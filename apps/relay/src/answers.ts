import { ApiError, BodyError, type BodyFault, explanationOf } from "@svc/errors"
import type { Context } from "hono"
import { waitHeaders } from "./document.ts"
import { badRequest, errors } from "./errors.ts"
import type { RelayEnv } from "./relay.ts"
import type { Submission } from "./usage/metering.ts"
import { sendPaths } from "./routes/table.ts"

const exposed = [...Object.keys(waitHeaders), "Cache-Control", "X-Content-Type-Options"]

/** Default headers of every response. The server sets them. */
export const commonHeaders = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed.join(", "),
  "X-Svc-Upstream-Attempted": "false",
}

const notSubmitted = { submissionState: "not_submitted" } as const

/** @param submission on the send path, where every error has `submissionState`, and `signature` once it is known */
const bodyOf = (
  error: ApiError,
  requestId: string,
  docsUrl: string,
  submission?: Submission | typeof notSubmitted,
) => ({
  code: error.code,
  message: error.message,
  retryable: error.retryable === true,
  requestId,
  ...submission,
  hint: error.hint,
  docs: explanationOf(docsUrl, "relay", error.code),
  details: error.details,
})

const headersOf = ({ code, headers }: ApiError) => ({ "X-Error-Code": code, ...headers })

const submissionOf = (c: Context<RelayEnv>) =>
  sendPaths.has(c.req.path) ? (c.get("call")?.submission ?? notSubmitted) : undefined

export const errorResponse = (c: Context<RelayEnv>, error: ApiError, docsUrl: string): Response =>
  c.json(bodyOf(error, c.get("requestId"), docsUrl, submissionOf(c)), error.status, headersOf(error))

/** Responds to bytes that aren't an HTTP request. The path isn't known, so the response is that of a send. */
export const unreadableResponse =
  (docsUrl: string) =>
  (requestId: string, reason: string, status: 400 | 405): Response => {
    const error =
      status === 405
        ? errors.fail("method_not_allowed", { headers: { Allow: "GET, HEAD, POST, OPTIONS" } })
        : badRequest("invalid_request", "", reason)
    return Response.json(bodyOf(error, requestId, docsUrl, notSubmitted), {
      status: error.status,
      headers: headersOf(error),
    })
  }

/** The error for a body that can't be read. */
const bodyError = (fault: BodyFault): ApiError => {
  switch (fault.kind) {
    case "unsupported-media-type":
      return errors.fail("unsupported_media_type", { message: `In this request, ${fault.reason}.` })
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

/** The error of the response, for whatever was thrown. */
export const apiErrorOf = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error
  return error instanceof BodyError ? bodyError(error.fault) : errors.fail("internal_error", { cause: error })
}
