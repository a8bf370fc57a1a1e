// The document of a route has the headers that its middleware, and the helpers that it names, read or set.
import { createRoute as createDocumented, type DocumentedRoute } from "@svc/openapi"
import type { Context, MiddlewareHandler } from "hono"
import { matchesETag, requestIdHeader } from "@svc/http"
import type { AppEnv } from "../auth/guard.ts"
import { errors } from "../errors.ts"
import { tagOf } from "../registry/answer.ts"
import type { Sent } from "./api.ts"

const text = { type: "string" } as const

/** Every response header that the document describes. */
export const headers = {
  "X-Request-Id": requestIdHeader,
  "X-Error-Code": { description: "The code in the body", schema: text },
  "Retry-After": { description: "Seconds to wait before a retry", schema: { type: "integer", minimum: 1 } },
  "WWW-Authenticate": { description: 'Bearer, with error="invalid_token" if a key was sent', schema: text },
  "RateLimit-Policy": { description: 'Requests (q) per window of seconds (w): "default";q=300;w=60', schema: text },
  RateLimit: {
    description: 'Remaining requests (r), seconds until one more is available (t): "default";r=299;t=42',
    schema: text,
  },
  "X-Auth-Ignored": { description: "The error code for which the key was ignored", schema: text },
  ETag: { description: "Identifies the content, for If-None-Match", schema: text },
  Link: { description: 'The next page, with rel="next", if there is one', schema: text },
  Location: { description: "The path of the record, if there is one", schema: text },
  "Idempotency-Replayed": { description: "true for a repeated response to the same Idempotency-Key", schema: text },
  Deprecation: { description: "When the stack was deprecated: @ and Unix seconds (RFC 9745)", schema: text },
} as const

/** Every request header that a route reads, besides those of all routes. */
export const requestHeaders = [
  "Content-Encoding",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "Last-Event-ID",
] as const

/** Request headers with their descriptions, and response headers with the statuses that have them. */
export type HeaderDocs = {
  readonly reads?: Readonly<Partial<Record<(typeof requestHeaders)[number], string>>>
  readonly sets?: Readonly<Partial<Record<keyof typeof headers, (status: number) => boolean>>>
}

const docsOf = new WeakMap<MiddlewareHandler, HeaderDocs>()

/** Adds the headers that a middleware reads or sets to the document of its routes. */
export const documented = (docs: HeaderDocs, middleware: MiddlewareHandler<AppEnv>): MiddlewareHandler<AppEnv> => {
  docsOf.set(middleware, docs)
  return middleware
}

/** Set by `requestContext` and by the renderer of errors. */
const ofEveryRoute: HeaderDocs = {
  sets: {
    "X-Request-Id": () => true,
    "X-Error-Code": (status) => status >= 400,
    "WWW-Authenticate": (status) => status === 401,
    "Retry-After": (status) => status === 429 || status === 503,
  },
}

/** Set when a request is counted, which is after its key is known. */
const isCounted = (status: number): boolean => status !== 401
export const rateLimited = { "RateLimit-Policy": isCounted, RateLimit: isCounted } satisfies HeaderDocs["sets"]

/** @param more what the handler reads and sets besides its middleware */
// P keeps the path's own text as its type.
// oxlint-disable-next-line no-unnecessary-type-parameters
export const createRoute = <P extends string, R extends Omit<DocumentedRoute, "path"> & { path: P }>(
  route: R,
  ...more: readonly HeaderDocs[]
) => {
  const { middleware = [], responses } = route
  const docs = [ofEveryRoute, ...[middleware].flat().map((one) => docsOf.get(one) ?? {}), ...more]
  const parameters = docs.flatMap(({ reads = {} }) =>
    Object.entries(reads).map(([name, description]) => {
      const schema = { ...text, description }
      return { name, in: "header" as const, required: false, description, schema }
    }),
  )
  const described = Object.entries(responses).map(([status, whole]) => {
    const { content, ...response } = whole as { readonly content?: object }
    const names = docs.flatMap(({ sets = {} }) => Object.entries(sets)).filter(([, has]) => has(Number(status)))
    const refs = names.map(([name]) => [name, { $ref: `#/components/headers/${name}` }])
    // Typed responses without a body have an empty `content`.
    const isEmpty = Object.keys(content ?? {}).length === 0
    return [status, { ...response, headers: Object.fromEntries(refs), ...(!isEmpty && { content }) }]
  })
  return createDocumented<P, R>({
    ...route,
    ...(parameters.length > 0 && { parameters }),
    responses: Object.fromEntries(described),
  })
}

/** For routes that send an ETag. */
export const revalidated: HeaderDocs = {
  reads: { "If-None-Match": "A previous ETag. The response is 304 if nothing changed" },
  sets: { ETag: (status) => status === 200 || status === 304 },
}

/** Sends a caller's own data: may be kept, must be asked for again each time, and a 304 says that nothing changed. */
export const sendOwn = <T>(c: Context<AppEnv>, body: T): Sent<T, 200> => {
  const json = JSON.stringify(body)
  const etag = `"${tagOf(json)}"`
  const own = { etag, "cache-control": "private, no-cache" }
  const response = matchesETag(c.req.header("if-none-match"), [etag])
    ? c.body(null, 304, own)
    : c.body(json, 200, { ...own, "content-type": "application/json" })
  return response as Response as Sent<T, 200>
}

/** For routes that call `checkPreconditions`. */
export const conditional: HeaderDocs = {
  reads: {
    "If-Match": "The ETag of the spec as you read it. The response is 412 if it changed since",
    "If-None-Match": "An ETag. The response is 412 if the spec still has it",
  },
}

/**
 * Checks whether a change may be made to what GET responds with now (RFC 9110 sections 13.1.1 and 13.1.2: If-Match compares
 * strongly, so that a weak tag matches nothing). Throws precondition-failed.
 * @param current reads what GET responds with; called only if the request depends on it
 */
export const checkPreconditions = async (c: Context<AppEnv>, current: () => Promise<unknown>): Promise<void> => {
  const [wanted, unwanted] = [c.req.header("if-match"), c.req.header("if-none-match")]
  if (wanted === undefined && unwanted === undefined) return
  const etag = `"${tagOf(JSON.stringify(await current()))}"`
  const matches = (header: string) => header.trim() === "*" || header.split(",").some((tag) => tag.trim() === etag)
  if (wanted !== undefined ? !matches(wanted) : matchesETag(unwanted, [etag])) throw errors.fail("precondition-failed")
}
