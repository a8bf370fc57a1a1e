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
  "X-Request-Id": header("The id of the request. A well-formed one from the caller is kept."),
  "X-Svc-Upstream-Attempted": header("`true` once the provider is called, else `false`."),
}
const errorHeaders = { ...headers, "X-Error-Code": header("The `code` of the body.") }
const waitHeaders = { ...errorHeaders, "Retry-After": header("Seconds to wait, a whole number.", "integer") }

export const json = <Schema extends z.ZodType>(schema: Schema) => ({ content: { "application/json": { schema } } })

const envelope = (isSend: boolean) => (codes: readonly [string, ...string[]]) => {
  const error = errorEnvelope.extend({ code: z.enum(codes) })
  if (!isSend) return error
  // A 502 comes after the call to the provider, when the signature is known.
  const isLate = codes.some((code) => code in errors.rows && errors.rows[code as ErrorCode].status === 502)
  return error.required({ submissionState: true, ...(isLate && { signature: true }) })
}

/** The error responses of a route. */
export const failures = (isSend: boolean, codes: readonly ErrorCode[]): object => {
  // The 502 of a read has it if the provider limits the rate and says for how long.
  const hasWait = new Set(["429", "503", ...(isSend ? [] : ["502"])])
  return Object.fromEntries(
    Object.entries(errorResponses(errors, envelope(isSend), ...codes)).map(([status, response]) => [
      status,
      { ...response, headers: hasWait.has(status) ? waitHeaders : errorHeaders },
    ]),
  )
}

export const security = "sessionToken"

/** Describes a route to the provider. @param middleware the middlewares before its handler */
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
      ...failures(isSend, codes),
      ...(isSend && ({ 504: { ...late, ...json(envelope(true)(["submission_unknown"])) } } as object)),
    },
  })
}
