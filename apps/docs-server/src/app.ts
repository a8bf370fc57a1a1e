import { readFile } from "node:fs/promises"
import { ApiError, BodyError, explanationOf } from "@svc/errors"
import { addressBucket, type HttpEnv, requestContext, sentPath } from "@svc/http"
import { type Logger } from "@svc/program"
import { createApi } from "@svc/openapi"
import type { Context } from "hono"
import { bodyError, errorResponse, noStore, reply, serveDocument, serveFile, wantsHtml, withRoot } from "./answers.ts"
import type { Config } from "./config.ts"
import { preflightHeaders } from "./site/documents.ts"
import { errors } from "./errors.ts"
import { imageType } from "./corpus/files.ts"
import { describeDocs } from "./document.ts"
import type { Guard } from "./guard.ts"
import { type McpDependencies, mcpPaths, mcpRoutes } from "./mcp/routes.ts"
import { readClientFiles } from "./client-files.ts"
import { cliRoute, clientModuleRoute, clientRoute, documentRoutes } from "./routes/documents.ts"
import { health, livez, readyz } from "./routes/service.ts"
import type { Site } from "./site/site.ts"
import { withCopy } from "./tool-package.ts"
import { decodePath, favicon, rootOf } from "@svc/site"

export type Dependencies = McpDependencies & {
  readonly refreshStacks: () => Promise<void>
  readonly guard: Guard
  readonly config: Pick<Config, "requestsPerMinute" | "tarballs">
  /** The URLs of this copy, by their names in the tool's configuration. */
  readonly copy: Readonly<Record<string, string | undefined>>
  readonly version: string
  readonly log: Logger
}

type Tarball = Config["tarballs"]["client"]

const isMcp = (c: Context): boolean => mcpPaths.includes(c.req.path)

const methodsOf = (c: Context): string => (isMcp(c) ? "GET, HEAD, POST, OPTIONS" : "GET, HEAD, OPTIONS")

const asksForHtml = (c: Context<HttpEnv>): boolean =>
  (c.req.method === "GET" || c.req.method === "HEAD") && wantsHtml(c.req.header("accept"))

/** Renders an error: as a page for browsers, except on the MCP paths. */
const errorAnswerFor = async (c: Context<HttpEnv>, plain: ApiError, { html, library }: Site): Promise<Response> => {
  const error = withRoot(plain, library.baseUrl)
  const row = `docs-${error.code}`
  const isExplained = library.corpus.pages.get("errors")?.rows.some(({ anchor }) => anchor === row) === true
  const link = isExplained
    ? { Link: `<${explanationOf(rootOf(library.baseUrl), "docs", error.code)}>; rel="help"` }
    : {}
  if (isMcp(c)) return errorResponse(c, error, link)
  if (!asksForHtml(c)) return errorResponse(c, error, { ...link, Vary: "Accept" })
  const { headers, text } = await html.error(error, c.req.path)
  const { ETag: _tag, ...kept } = headers
  return reply(error.status, { ...kept, Vary: "Accept", ...error.headers }, text)
}

// A slash at the end is ignored.
const getPath: typeof sentPath = (request, options) => sentPath(request, options).replace(/(?<=.)\/$/, "")

const findDocument = (site: Site, c: Context<HttpEnv>) => {
  const path = decodePath(c.req.path)
  return path === undefined ? undefined : site.find(path, asksForHtml(c))
}

// An SVG that is opened directly may have styles, but no scripts.
const imagePolicy = { "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox" }

const stacksPath = /^\/stacks(?:\.md|\.html|\/.*)?$/

export const createApp = (dependencies: Dependencies) => {
  const { site, config, log, version } = dependencies
  const app = createApi<HttpEnv>({ getPath, ownReasons: false })
  app.use(requestContext)

  app.onError((error, c) => {
    const known = error instanceof BodyError ? bodyError(error.fault) : error instanceof ApiError ? error : undefined
    if (known === undefined) log.error({ request_id: c.var.requestId, err: error }, "unexpected error")
    return errorAnswerFor(c, known ?? errors.fail("internal_error"), site())
  })

  app.notFound((c) => {
    const isRoute = app.routes.some((route) => route.method === "GET" && route.path === c.req.path)
    const known = isMcp(c) || isRoute || findDocument(site(), c) !== undefined
    const error =
      known && c.req.method !== "GET"
        ? errors.fail("method_not_allowed", { headers: { Allow: methodsOf(c) } })
        : errors.fail("not_found")
    return errorAnswerFor(c, error, site())
  })

  const pageCount = (): number => site().library.corpus.pages.size
  app.openapi(livez, (c) => c.json({ status: "ok" as const, missing: [] }, 200, noStore))
  app.openapi(readyz, (c) =>
    pageCount() === 0
      ? c.json({ status: "unavailable" as const, missing: ["pages" as const] }, 503, noStore)
      : c.json({ status: "ok" as const, missing: [] }, 200, noStore),
  )
  app.openapi(health, (c) => c.json({ status: "ok" as const, version, pages: pageCount() }, 200, noStore))

  app.use(async (c, next) => {
    if (!dependencies.guard(c.req.header("host"), c.req.header("origin"))) throw errors.fail("forbidden")
    if (c.req.method === "OPTIONS" || config.requestsPerMinute === 0) return next()
    const key = addressBucket(c.get("clientAddress"))
    const bucket = { table: "address", group: "docs", key, limit: config.requestsPerMinute }
    const decision = await dependencies.limits.take([bucket])
    if (!decision.allowed) throw errors.fail("rate_limited", { retryAfterSeconds: decision.retryAfterSeconds })
    return next()
  })
  app.options("*", (c) => c.body(null, 204, { ...preflightHeaders, Allow: methodsOf(c) }))

  mcpRoutes(app, dependencies)

  const readTarball = ({ file, name, hint }: Tarball) =>
    readFile(file).catch(() => {
      throw errors.fail("not_found", { message: `${name} has not been built on this server.`, hint })
    })
  let toolPackage: Buffer<ArrayBuffer> | undefined
  app.openapi(cliRoute, async (c) => {
    toolPackage ??= await withCopy(await readTarball(config.tarballs.cli), dependencies.copy)
    return serveFile(c, toolPackage, "application/gzip")
  })
  app.openapi(clientRoute, async (c) => serveFile(c, await readTarball(config.tarballs.client), "application/gzip"))

  let clientFiles: ReturnType<typeof readClientFiles> | undefined
  const getClientFile = async (c: Context<HttpEnv>) => {
    clientFiles ??= readClientFiles(await readTarball(config.tarballs.client))
    const document = (await clientFiles).get(c.req.path)
    if (document === undefined) throw errors.fail("not_found")
    return serveDocument(c, document)
  }
  app.openapi(clientModuleRoute, getClientFile)
  app.get("/client/:file{[\\w-]+\\.(?:js|d\\.ts)}", getClientFile)

  app.get("/favicon.ico", (c) => serveFile(c, favicon, "image/x-icon"))

  const getSearch = async (c: Context<HttpEnv>): Promise<Response> => {
    const { searchParams } = new URL(c.req.url)
    const query = searchParams.get("q")?.trim() ?? ""
    return serveDocument(c, await site().html.search(query, searchParams.get("cursor") ?? undefined, asksForHtml(c)))
  }
  app.get("/search", getSearch)

  const getImage = async (c: Context<HttpEnv>): Promise<Response> => {
    const path = decodePath(c.req.path)?.slice(1) ?? ""
    const known = site().library.corpus.images.get(path)
    const file = known === undefined ? undefined : await readFile(known).catch(() => undefined)
    const type = imageType(path)
    if (file === undefined || type === undefined) throw errors.fail("not_found", site().html.missing(c.req.path))
    return serveFile(c, file, type, imagePolicy)
  }

  const getDocument = (c: Context<HttpEnv>) => {
    const document = findDocument(site(), c)
    if (document === undefined) return getImage(c)
    return document instanceof Promise ? document.then((made) => serveDocument(c, made)) : serveDocument(c, document)
  }
  for (const route of documentRoutes)
    // A slug may have slashes, which a path parameter of Hono can't: the last route serves it.
    if (route.path.includes("{slug}")) app.openAPIRegistry.registerPath(route)
    else app.openapi(route, getDocument)
  app.get("/*", async (c) => {
    if (stacksPath.test(c.req.path)) await dependencies.refreshStacks()
    return getDocument(c)
  })
  let known: ReturnType<typeof describeDocs> | undefined
  return { fetch: app.fetch, document: (baseUrl: string) => (known ??= describeDocs(app, baseUrl)) }
}
