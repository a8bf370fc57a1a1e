import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi"
import type { Env, Handler } from "hono"

/** What stands at the head of a service's OpenAPI document. */
export type DocumentInfo = {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly license?: { readonly name: string; readonly identifier: string }
  readonly tags?: { readonly name: string; readonly description: string }[]
}

export type DocumentedRoute = RouteConfig

/** A Hono app that also collects the descriptions of its routes. */
export const createApi = <E extends Env>(): OpenAPIHono<E> => new OpenAPIHono<E>()

/**
 * Serves a route and describes it in the document. The handlers check what they are given themselves (`readJson`,
 * `validate`), in the service's own order, with the schemas that the description is made from: a generated validator
 * would run ahead of authentication, and knows neither malformed JSON nor content types.
 */
export const documented = <E extends Env>(
  app: OpenAPIHono<E>,
  route: DocumentedRoute,
  ...handlers: [Handler<E>, ...Handler<E>[]]
): void => {
  app.openAPIRegistry.registerPath(route)
  app.on(route.method.toUpperCase(), route.path.replaceAll(/\{(\w+)\}/g, ":$1"), ...handlers)
}

/** The OpenAPI 3.1 document of all routes described so far, as JSON-serialisable data. */
export const openApiDocument = <E extends Env>(
  app: OpenAPIHono<E>,
  info: DocumentInfo,
  servers: { readonly url: string; readonly description?: string }[],
) => {
  const { tags, license = { name: "MIT", identifier: "MIT" }, ...rest } = info
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { ...rest, license },
    servers,
    ...(tags === undefined ? {} : { tags }),
  })
}
