import { type HttpEnv, requestIdHeader } from "@svc/http"
import { errorResponses, type OpenAPIHono, z } from "@svc/openapi"
import { type ErrorCode, errors } from "../errors.ts"

export type DocsApp = OpenAPIHono<HttpEnv>

const errorResponse = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(Object.keys(errors.rows)).meta({ description: "Stable machine-readable code." }),
      message: z.string().meta({ description: "Explanation for people." }),
      hint: z.string().meta({ description: "What to do about it." }),
    }),
  })
  .meta({
    description:
      "Every response with an error status; from a well-formed JSON-RPC message on, errors are JSON-RPC's. Browsers get errors as HTML.",
  })
  .openapi("ErrorResponse")

export const open = { "x-access": { callers: ["anyone" as const] } }

export const text = (description: string, ...types: string[]) => ({
  description,
  content: Object.fromEntries(types.map((type) => [type, { schema: z.string() }])),
})

const header = (description: string, type: "string" | "integer" = "string") => ({ description, schema: { type } })

/** Response headers. The server sets the first one, pages and errors the second, errors the third. */
export const headers = {
  "X-Request-Id": requestIdHeader,
  Link: header(
    'Of a page: the page map (rel="describedby") and this document (rel="service-desc"). Of an error: what explains its code (rel="help").',
  ),
  "Retry-After": header("Seconds to wait before a retry.", "integer"),
}

export const refsTo = (...names: (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const explained = (responses: object): object =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]: [string, object]) => [
      status,
      { ...response, headers: status === "429" ? refsTo("Link", "Retry-After") : refsTo("Link") },
    ]),
  )

export const notModified = { 304: { description: "The caller has this content already (If-None-Match)." } }

/** The error responses of a route: its own codes, and those that all routes share. */
export const failures = (...codes: ErrorCode[]) =>
  explained(errorResponses(errors, () => errorResponse, ...codes, "forbidden", "rate_limited", "internal_error"))

/** The error responses of a route that runs before any check. */
export const bug = explained(errorResponses(errors, () => errorResponse, "internal_error"))
