import { createRoute, errorResponses } from "@svc/openapi"
import type { MiddlewareHandler } from "hono"
import { z } from "zod"
import { errorEnvelope } from "./envelope.ts"
import { badRequestCodes, type ErrorCode, errors } from "../errors.ts"
import type { Definition } from "../routes/route.ts"

// Error codes that not every route can return.
const notEverywhere = new Set<ErrorCode>([
  ...badRequestCodes,
  "submission_unknown",
  "upstream_timeout",
  "method_not_allowed",
  "not_implemented",
])
const everywhere = (Object.keys(errors.rows) as ErrorCode[]).filter((code) => !notEverywhere.has(code))

const header = (text: string, type: "string" | "integer" = "string") => ({ description: text, schema: { type } })
export const headers = {
  "X-Request-Id": header("The request's id; a well-formed one of the caller's is kept."),
  "X-Svc-Upstream-Attempted": header("`true` from the moment the provider was called, else `false`."),
}
const errorHeaders = { ...headers, "X-Error-Code": header("The `code` of the body.") }
const waitHeaders = { ...errorHeaders, "Retry-After": header("Whole seconds to wait.", "integer") }

export const json = <Schema extends z.ZodType>(schema: Schema) => ({ content: { "application/json": { schema } } })

const envelope = (isSend: boolean) => (codes: readonly [string, ...string[]]) => {
  const error = errorEnvelope.extend({ code: z.enum(codes) })
  return isSend ? error.required({ submissionState: true }) : error
}

/** The error responses of a route. Its type names none: errors are thrown, so that a handler can answer with success alone. */
export const refusals = (isSend: boolean, codes: readonly ErrorCode[]): object =>
  Object.fromEntries(
    Object.entries(errorResponses(errors, envelope(isSend), ...codes)).map(([status, response]) => [
      status,
      { ...response, headers: status === "429" || status === "503" ? waitHeaders : errorHeaders },
    ]),
  )

export const security = "sessionToken"

/** Describes a route to the provider. @param middleware what comes before its handler */
export const describeRoute = <D extends Definition, M extends MiddlewareHandler[]>(definition: D, middleware: M) => {
  const isSend = definition.class === "send"
  const codes: ErrorCode[] = [
    "invalid_request",
    ...everywhere,
    ...definition.codes,
    isSend ? "submission_unknown" : "upstream_timeout",
  ]
  const late = { description: "`submission_unknown`: the provider didn't respond in time.", headers: errorHeaders }
  return createRoute({
    method: "post",
    path: definition.path,
    operationId: definition.operation,
    summary: definition.summary,
    description: `Calls \`${definition.method}\`.`,
    tags: ["transactions"],
    security: [{ [security]: [] }],
    "x-access": { callers: ["session"], scope: definition.scope },
    middleware,
    request: { body: { required: true, ...json<D["request"]>(definition.request) } },
    responses: {
      200: { description: "The provider's response.", headers, ...json<D["response"]>(definition.response) },
      ...refusals(isSend, codes),
      ...(isSend && ({ 504: { ...late, ...json(envelope(true)(["submission_unknown"])) } } as object)),
    },
  })
}
