import { readFile } from "node:fs/promises"
import { ApiError, BodyError } from "@svc/errors"
import {
  addressBucket,
  clientAddress,
  type Logger,
  requestHeader,
  requestContext,
  routed,
  sentPath,
  type HttpEnv,
} from "@svc/http"
import type { RateLimiter } from "@svc/limits"
import { type Context, Hono } from "hono"
import {
  bodyError,
  headersOf,
  jsonHeaders,
  probeAnswer,
  errorAnswer,
  reply,
  serveDocument,
  serveFile,
  wantsHtml,
} from "./answers.ts"
import type { Config } from "./config.ts"
import { preflightHeaders } from "./site/documents.ts"
import { errors } from "./errors.ts"
import { imageType } from "./corpus/files.ts"
import { type Admitted, type McpDependencies, mcpPaths, mcpRoutes } from "./mcp/routes.ts"
import type { Site } from "./site/site.ts"
import { withCopy } from "./tool-package.ts"
import { decodePath, favicon } from "@svc/site"

export type Dependencies = McpDependencies & {
  /** Before stacks are shown. */
  readonly refreshStacks: () => Promise<void>
  readonly guard: (host: string | undefined, origin: string | undefined) => boolean
  readonly limiter: RateLimiter
  readonly config: Pick<Config, "requestsPerMinute" | "tarballs">
  /** The URLs of this copy, by their names in the tool's configuration. */
  readonly copy: Readonly<Record<string, string | undefined>>
  readonly version: string
  readonly log: Logger
}

const mcpMethods = "GET, HEAD, POST, OPTIONS"

const isMcp = (c: Context): boolean => mcpPaths.includes(c.req.path)

const asksForHtml = (c: Context<HttpEnv>): boolean =>
  (c.req.method === "GET" || c.req.method === "HEAD") && wantsHtml(requestHeader(c, "accept"))

/** An error for whoever asked: a page for people, but never where MCP is spoken. */
const errorAnswerFor = async (c: Context<HttpEnv>, error: ApiError, { html }: Site): Promise<Response> => {
  if (isMcp(c)) return errorAnswer(c, error)
  if (!asksForHtml(c)) return errorAnswer(c, error, { Vary: "Accept" })
  const { headers, text } = await html.error(error, c.req.path)
  const { ETag: _tag, ...kept } = headers
  return reply(error.status, { ...kept, Vary: "Accept", ...headersOf(error) }, text)
}

// One slash at the end more or less is the same page.
const getPath: typeof sentPath = (request, options) => sentPath(request, options).replace(/(?<=.)\/$/, "")

const findDocument = (site: Site, c: Context<HttpEnv>) => {
  const path = decodePath(c.req.path)
  return path === undefined ? undefined : site.find(path, asksForHtml(c))
}

// A drawing that is opened by itself may bring styles, but no script.
const imagePolicy = { "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox" }

const stacksPath = /^\/stacks(?:\.md|\.html|\/.*)?$/

export const createApp = (dependencies: Dependencies): Hono<HttpEnv> => {
  const { site, config, log } = dependencies
  const app = new Hono<HttpEnv>({ getPath })
  app.use(requestContext)
  const fixedPaths = new Set([
    "/favicon.ico",
    "/health",
    "/livez",
    "/readyz",
    "/search",
    ...config.tarballs.map(({ path }) => path),
  ])

  app.onError((error, c) => {
    const known = error instanceof BodyError ? bodyError(error.fault) : error instanceof ApiError ? error : undefined
    if (known === undefined) log.error({ request_id: c.var.requestId, err: error }, "unexpected error")
    return errorAnswerFor(c, known ?? errors.fail("internal_error"), site())
  })

  /** Asked by each handler rather than as a middleware: every layer around a handler costs each request. */
  const admit = (c: Context<HttpEnv>): void => {
    if (!dependencies.guard(requestHeader(c, "host"), requestHeader(c, "origin"))) throw errors.fail("forbidden")
    if (c.req.method === "OPTIONS") return
    // Asked for even where nothing is counted by it: this is what tells the operator of a proxy that is not trusted.
    const address = clientAddress(c)
    if (config.requestsPerMinute === 0) return
    const decision = dependencies.limiter.take("docs", addressBucket(address), config.requestsPerMinute)
    if (!decision.allowed) throw errors.fail("rate_limited", { retryAfterSeconds: decision.retryAfterSeconds })
  }
  const admitted: Admitted = (handler) => {
    const named = routed(handler)
    return (c, next) => {
      admit(c)
      return named(c, next)
    }
  }

  app.notFound((c) => {
    admit(c)
    const path = c.req.path.replace(/\/$/, "")
    const methods = mcpPaths.includes(path) ? mcpMethods : "GET, HEAD, OPTIONS"
    const known = methods === mcpMethods || fixedPaths.has(path) || findDocument(site(), c) !== undefined
    const error =
      known && c.req.method !== "GET"
        ? errors.fail("method_not_allowed", { headers: { Allow: methods } })
        : errors.fail("not_found")
    return errorAnswerFor(c, error, site())
  })

  const pageCount = (): number => site().library.corpus.pages.size
  const health = (): Response =>
    reply(
      200,
      { ...jsonHeaders, "Cache-Control": "no-store" },
      JSON.stringify({ status: "ok", version: dependencies.version, pages: pageCount() }),
    )
  app.get(
    "/livez",
    routed(() => probeAnswer([])),
  )
  app.get(
    "/readyz",
    routed(() => probeAnswer(pageCount() === 0 ? ["pages"] : [])),
  )
  app.get("/health", routed(health))

  app.options("*", (c) => {
    admit(c)
    return reply(204, preflightHeaders)
  })

  mcpRoutes(app, dependencies, admitted)

  const getTarball = async (
    c: Context<HttpEnv>,
    { file: path, name, hint, carriesCopy }: Config["tarballs"][number],
  ): Promise<Response> => {
    const file = await readFile(path).catch(() => undefined)
    if (file === undefined)
      throw errors.fail("not_found", { message: `${name} has not been built on this server.`, hint })
    const served = carriesCopy ? withCopy(file, dependencies.copy) : file
    return serveFile(c, served, { "Content-Type": "application/gzip" })
  }
  for (const tarball of config.tarballs) {
    app.get(
      tarball.path,
      admitted((c) => getTarball(c, tarball)),
    )
  }

  app.get(
    "/favicon.ico",
    admitted((c) => serveFile(c, favicon, { "Content-Type": "image/x-icon" })),
  )

  const getSearch = async (c: Context<HttpEnv>): Promise<Response> => {
    const { searchParams } = new URL(c.req.url)
    const query = searchParams.get("q")?.trim() ?? ""
    return serveDocument(c, await site().html.search(query, searchParams.get("cursor") ?? undefined, asksForHtml(c)))
  }
  app.get("/search", admitted(getSearch))

  const getImage = async (c: Context<HttpEnv>): Promise<Response> => {
    const path = decodePath(c.req.path)?.slice(1) ?? ""
    const known = site().library.corpus.images.get(path)
    const file = known === undefined ? undefined : await readFile(known).catch(() => undefined)
    const type = imageType(path)
    if (file === undefined || type === undefined) throw errors.fail("not_found")
    return serveFile(c, file, { ...imagePolicy, "Content-Type": type })
  }

  const getDocument = (c: Context<HttpEnv>) => {
    const document = findDocument(site(), c)
    if (document === undefined) return getImage(c)
    return document instanceof Promise ? document.then((made) => serveDocument(c, made)) : serveDocument(c, document)
  }
  app.get(
    "/*",
    admitted((c) =>
      stacksPath.test(c.req.path) ? dependencies.refreshStacks().then(() => getDocument(c)) : getDocument(c),
    ),
  )
  return app
}
