// What every route of the service says besides its own: who may call it, its bodies and its errors.
import { jsonBody } from "@svc/http"
import { hasKey } from "@svc/keys"
import { type Access, createApi, errorResponses, type OpenAPIHono, z } from "@svc/openapi"
import type { Context, MiddlewareHandler, TypedResponse } from "hono"
import type { JSONParsed } from "hono/utils/types"
import { type AppEnv, type Policy, refusalsOf } from "../auth/guard.ts"
import { keyCodes } from "../auth/authenticate.ts"
import { type ErrorCode, errorEnvelope, errors } from "../errors.ts"
import { reservedName, stackNamePattern } from "../records/stack-names.ts"
import type { HeaderDocs } from "./create-route.ts"

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

export const failures = (...codes: readonly ErrorCode[]) =>
  errorResponses(errors, errorEnvelope, ...codes, "internal-error")

/** The error responses of a route that takes the keys of a policy. */
export const keyFailures = (policy: Policy, ...codes: readonly ErrorCode[]) =>
  failures(...keyCodes, "rate-limit-exceeded", "service-unavailable", ...refusalsOf(policy), ...codes)

export const bodyCodes = ["invalid-json", "invalid-request", "payload-too-large", "unsupported-media-type"] as const
export const bodyLimit = 64 * 1024

export const smallBody = (limit = bodyLimit) =>
  // Far more values than any endpoint takes: a validator reports each element that is not what it should be.
  jsonBody({ limit, deadlineMs: 10_000, emptyAs: {}, maxValues: 1000 })

const mostRecords = 2_147_483_647

/** The id in a path: a positive int4. Digits that can't be one become 0, which names nothing. */
const pathId = z
  .string()
  .regex(/^\d+$/, "must be a number")
  .transform((digits) => (Number(digits) <= mostRecords ? Number(digits) : 0))
  .meta({ type: "integer", minimum: 1, description: "Its id" })

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

export const within = (min: number, max: number, fallback: number) => {
  const reason = `must be an integer from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,7}$/, reason)
    .transform(Number)
    .refine((value) => value >= min && value <= max, reason)
    .default(fallback)
    .meta({ type: "integer", minimum: min, maximum: max, default: fallback })
}

export const pageQuery = z.object({ limit: within(1, 100, 50), offset: within(0, 1_000_000, 0) })

/** For routes that call `nextLink`. */
export const paged: HeaderDocs = { sets: { Link: (status) => status === 200 } }

export type Page = z.infer<typeof pageQuery>

/** A path of this API as callers reach it: a proxy may serve the API below the path of SVC_API_URL. */
export const reachedPath = (c: Context<AppEnv>, path: string): string =>
  new URL(c.get("dependencies").publicUrl).pathname.replace(/\/$/, "") + path

/**
 * The `Link` header of a page that isn't the last one (RFC 8288). Other query parameters stay.
 * @param shown the number of items on the page: a page can end early because of its size
 */
export const nextLink = (c: Context<AppEnv>, { limit, offset }: Page, shown: number = limit): string => {
  const url = new URL(c.req.url)
  url.searchParams.set("limit", String(limit))
  url.searchParams.set("offset", String(offset + shown))
  return `<${reachedPath(c, url.pathname)}${url.search}>; rel="next"`
}

// Fields that several request bodies share.

const storable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** A text that is stored and shown to others. */
export const prose = (max: number) =>
  z
    .string()
    .max(max, `must be at most ${max} characters`)
    .refine(storable, "has a character that can't be stored")
    .refine((text) => !hasKey(text), "has an API key in it; readers would see it")

/** A record's number. 0 stands for a number that no record can have. */
export const recordNumber = z
  .int()
  .min(0)
  .overwrite((number) => (number <= mostRecords ? number : 0))

const nameRule = "must have 1 to 63 letters, digits and dashes, not start with a dash, and not be `changes`"
export const specName = z
  .string()
  .toLowerCase()
  .regex(stackNamePattern, nameRule)
  .refine((name) => name !== reservedName, nameRule)
  .meta({ description: "The stack's name: lower-case letters, digits and dashes. `changes` is reserved" })

// To zod an unknown value may be missing: a body that needs one says `required` itself.
export const astPayload = z.unknown().meta({ type: "object", description: "The AST: a stack file" })

/** An object whose optional members may be null, as some clients write what isn't set. A member that takes null itself gets it. */
export const nullAsAbsent = <S extends z.ZodObject>(schema: S): S => {
  const optional = Object.entries<z.ZodType>(schema.shape).flatMap(([name, member]) => {
    const isOptional = member.safeParse(undefined).success && !member.safeParse(null).success
    return isOptional ? [[name, z.preprocess((value) => value ?? undefined, member.nullable())]] : []
  })
  // The members' types are the same once they are read.
  return schema.safeExtend(Object.fromEntries(optional)).meta(schema.meta() ?? {}) as z.ZodObject as S
}

export const nothing = z.strictObject({})
