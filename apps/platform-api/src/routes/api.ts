// What every route of the service says besides its own: who may call it, its bodies and its errors.
import { jsonBody } from "@svc/http"
import { type Access, createApi, errorResponses, type OpenAPIHono, z } from "@svc/openapi"
import type { MiddlewareHandler, TypedResponse } from "hono"
import type { JSONParsed } from "hono/utils/types"
import { type Policy, refusalsOf } from "../auth/agent-policy.ts"
import { keyCodes } from "../auth/authenticate.ts"
import type { AppEnv } from "../auth/guard.ts"
import { type ErrorCode, errorEnvelope, errors } from "../errors.ts"
import { nullAsAbsent } from "./body-fields.ts"

export type Api = OpenAPIHono<AppEnv>

/** The routes of a file, which the app mounts. A handler takes what it works with from the context. */
export const createRoutes = (): Api => createApi<AppEnv>()

/**
 * Who may call a route, as the document says it: keys of a policy, or others. With an `optional key` anyone may, and a key
 * shows more; for `anyone` and a `signed link` Authorization is never looked at.
 */
export const access = (
  allowed: "anyone" | "optional key" | "signed link" | Policy,
): { security: Record<string, string[]>[]; "x-access": Access } => {
  if (typeof allowed !== "string") return { security: [{ key: [] }], "x-access": { callers: [...allowed.callers] } }
  if (allowed === "optional key")
    return { security: [{}, { key: [] }], "x-access": { callers: ["anyone", "agent", "person", "publishable"] } }
  return { security: [], "x-access": { callers: [allowed === "anyone" ? "anyone" : "link"] } }
}

/** A header of responses that nobody may keep. */
export const noStore = { "cache-control": "no-store" }

/** What is sent in place of a 200 to whoever has its ETag. `content` keeps the other responses' types checked. */
export const notModified = { 304: { description: "Nothing changed since the ETag in If-None-Match", content: {} } }

/** The same for routes whose responses are typed by other means. Without `content` zod-openapi accepts any Response. */
export const preparedNotModified = { 304: { description: notModified[304].description } }

/** A response with a T as JSON. */
export type Sent<T, Status extends 200 | 201 | 202> = Response & TypedResponse<JSONParsed<T>, Status, "json">

/** A JSON request body. An empty body stands for `{}`, so a body is required where its schema doesn't accept that. */
export const jsonRequest = <S extends z.ZodObject>(schema: S) => ({
  required: !schema.safeParse({}).success,
  content: { "application/json": { schema: nullAsAbsent(schema) } },
})

/** The error responses of a route. */
export const failures = <Code extends ErrorCode = never>(...codes: readonly Code[]) =>
  errorResponses<Code | "internal-error", typeof errors.rows, ReturnType<typeof errorEnvelope>>(
    errors,
    errorEnvelope,
    ...codes,
    "internal-error",
  )

const ofEveryKey = [...keyCodes, "rate-limit-exceeded", "service-unavailable"] as const

/** The error responses of a route that takes the keys of a policy. */
export const keyFailures = <Code extends ErrorCode = never>(policy: Policy, ...codes: readonly Code[]) =>
  failures<Code | (typeof ofEveryKey)[number] | ReturnType<typeof refusalsOf>[number]>(
    ...ofEveryKey,
    ...refusalsOf(policy),
    ...codes,
  )

/** Errors of reading a body. */
export const bodyCodes = ["invalid-json", "invalid-request", "payload-too-large", "unsupported-media-type"] as const
export const bodyLimit = 64 * 1024

/** Reads a small JSON body. */
export const smallBody = (limit = bodyLimit) =>
  // Far more values than any endpoint takes: a validator reports each element that is not what it should be.
  jsonBody({ limit, deadlineMs: 10_000, emptyAs: {}, maxValues: 1000 })

/** The id in a path: a positive int4. Digits that can't be one become 0, which names nothing. */
const pathId = z
  .string()
  .regex(/^\d+$/, "must be a number")
  .transform((digits) => (Number(digits) <= 2_147_483_647 ? Number(digits) : 0))
  .meta({ type: "string", description: "Its id" })

export const idPath = z.object({ id: pathId })

/**
 * Checks the id in the path before a body is read.
 * @param malformed the error for what isn't a number
 * @param missing the error for a number that no record can have; else the handler finds nothing
 */
export const checkId =
  (malformed: ErrorCode, missing?: ErrorCode): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const id = pathId.safeParse(c.req.param("id"))
    if (!id.success) throw errors.fail(malformed, { details: { path: "id", reason: "must be a number" } })
    if (id.data === 0 && missing !== undefined) throw errors.fail(missing)
    await next()
  }
