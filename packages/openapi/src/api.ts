import { createRoute as createZodRoute, OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi"
import { firstFailure, inOwnWords } from "@svc/common/validation"
import { BodyError } from "@svc/errors"
import type { Env } from "hono"
import { describeFields } from "./describe-fields.ts"

// The library's type is OpenAPI 3.0's, which has no identifier.
const license = { name: "MIT", identifier: "MIT" }

/** What stands at the head of a service's OpenAPI document. */
type DocumentInfo = {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly tags?: { readonly name: string; readonly description: string }[]
}

/**
 * Who may call an operation, as `x-access` says it in an OpenAPI document. `agent` and `person` are secret keys, `publishable` is a
 * browser key of either; `session` is a session token with `scope`; `link` is a signed link. `anyone` beside keys means that
 * a key is optional.
 */
export const accessSchema = z.strictObject({
  callers: z.array(z.enum(["anyone", "agent", "person", "publishable", "session", "link"])).min(1),
  scope: z.string().optional(),
})

export type Access = Readonly<z.infer<typeof accessSchema>>

export type DocumentedRoute = RouteConfig & { readonly "x-access": Access }

/** `createRoute` of zod-openapi, for routes that say who may call them. */
// P keeps the path's own text as its type.
// oxlint-disable-next-line no-unnecessary-type-parameters
export const createRoute: <P extends string, R extends Omit<DocumentedRoute, "path"> & { path: P }>(
  route: R,
) => R & { getRoutingPath: () => string } = createZodRoute

const throwInvalid = (result: { readonly success: true } | { readonly success: false; readonly error: z.ZodError }) => {
  if (!result.success) throw new BodyError({ kind: "invalid", ...firstFailure(result.error) })
}

/**
 * A Hono app whose routes are described and validated by zod-openapi. What doesn't fit its schema is thrown as a BodyError of
 * kind `invalid`, for the app's `onError`.
 * @param getPath tells the path that a request is routed by; Hono's own reading unless given
 * @param ownReasons says in our own words why a value isn't valid, in all of this process; else zod's messages are used
 * @example
 * ```ts
 * const api = createApi<AppEnv>({ getPath: sentPath })
 * api.openapi(route, (c) => c.json({ id: c.req.valid("param").id }, 200))
 * ```
 */
export const createApi = <E extends Env>({
  getPath,
  ownReasons = true,
}: {
  readonly getPath?: (request: Request, options?: { env?: object }) => string
  readonly ownReasons?: boolean
} = {}): OpenAPIHono<E> => {
  // The validators of zod-openapi take no other error map than zod's own setting.
  if (ownReasons) z.config({ customError: inOwnWords.error })
  return new OpenAPIHono<E>({ defaultHook: throwInvalid, ...(getPath && { getPath }) })
}

/** The OpenAPI 3.1 document of all routes described so far, as JSON-serialisable data. */
export const openApiDocument = <E extends Env>(
  app: OpenAPIHono<E>,
  info: DocumentInfo,
  servers: { readonly url: string; readonly description?: string }[],
) => {
  const { tags, ...rest } = info
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { ...rest, license },
    servers,
    ...(tags === undefined ? {} : { tags }),
  })
  describeFields(document)
  return document
}
