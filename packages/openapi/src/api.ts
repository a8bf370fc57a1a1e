import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi"
import type { Env, Handler } from "hono"
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

/**
 * A Hono app that also collects the descriptions of its routes.
 * @param getPath tells the path that a request is routed by; Hono's own reading unless given
 */
export const createApi = <E extends Env>(
  getPath?: (request: Request, options?: { env?: object }) => string,
): OpenAPIHono<E> => new OpenAPIHono<E>({ ...(getPath && { getPath }) })

/**
 * Serves a route and describes it in the document. The handler checks what it is given itself (`readJson`,
 * `validate`), in the service's own order, with the schemas that the description is made from: a generated validator
 * would run ahead of authentication, and knows neither malformed JSON nor content types.
 */
export const documented = <E extends Env>(app: OpenAPIHono<E>, route: DocumentedRoute, handler: Handler<E>): void => {
  app.openAPIRegistry.registerPath(route)
  app.on(route.method.toUpperCase(), route.path.replaceAll(/\{(\w+)\}/g, ":$1"), handler)
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
