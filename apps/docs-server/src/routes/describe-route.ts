import type { HttpEnv } from "@svc/http"
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
    description: "Every answer with an error status; from a well-formed JSON-RPC message on, errors are JSON-RPC's.",
  })
  .openapi("ErrorResponse")

/** Every operation needs no authentication. */
export const open = { "x-access": { callers: ["anyone" as const] } }

export const text = (description: string, type: string) => ({
  description,
  content: { [type]: { schema: z.string() } },
})

export const notModified = { 304: { description: "The caller has this content already (If-None-Match)." } }

/** The error responses of a route: its own codes, and those that all routes share. */
export const failures = (...codes: ErrorCode[]) =>
  errorResponses(errors, () => errorResponse, ...codes, "forbidden", "rate_limited", "internal_error")

/** The error responses of a route that runs before any check. */
export const bug = errorResponses(errors, () => errorResponse, "internal_error")
