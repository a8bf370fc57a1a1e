import type { ApiError } from "@svc/errors"
import type { Context } from "hono"
import type { ContentfulStatusCode } from "hono/utils/http-status"
import type { RelayEnv } from "./handle.ts"

const sendPath = "/transactions/v1/send"

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

/** The headers of every answer. */
export const answerHeaders = (c: Context<RelayEnv>): Record<string, string> => ({
  ...always,
  "X-Request-Id": c.get("requestId"),
  "X-Svc-Upstream-Attempted": c.get("call")?.attempted === true ? "true" : "false",
})

export const jsonAnswer = (c: Context<RelayEnv>, body: string): Response =>
  c.body(body, 200, { ...answerHeaders(c), "Content-Type": "application/json" })

/** The error's body: on the send path it always says what became of the transaction. */
export const errorBody = (c: Context<RelayEnv>, error: ApiError): string =>
  JSON.stringify({
    code: error.code,
    message: error.message,
    retryable: error.retryable === true,
    requestId: c.get("requestId"),
    ...(c.req.path === sendPath && { submissionState: "not_submitted" }),
    ...error.extra,
    details: error.details,
  })

export const errorAnswer = (c: Context<RelayEnv>, error: ApiError, body = errorBody(c, error)): Response => {
  const headers: Record<string, string> = {
    ...answerHeaders(c),
    "Content-Type": "application/json",
    "X-Error-Code": error.code,
    ...error.headers,
  }
  if (error.retryAfterSeconds !== undefined) headers["Retry-After"] = String(error.retryAfterSeconds)
  // The table's statuses all have a body.
  return c.body(body, error.status as ContentfulStatusCode, headers)
}
