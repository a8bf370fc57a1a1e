import { readFile } from "node:fs/promises"
import { ApiError } from "@svc/errors"
import {
  BodyError,
  type ClientAddress,
  type Logger,
  addressBucket,
  jsonTypeFault,
  matchesETag,
  readBody,
  peerAddress,
  requestHeader,
  requestIdOf,
  routed,
  sentPath,
  type ServedEnv,
} from "@svc/http"
import type { Limiter } from "@svc/limiter"
import { type Context, Hono } from "hono"
import { hashOf } from "./corpus.ts"
import { type Answer, type Document, answerDocument, commonHeaders, jsonType, preflightHeaders } from "./documents.ts"
import type { RpcEndpoint } from "./endpoint.ts"
import { errors } from "./errors.ts"
import { hasTooManyMembers, mostMembers, readMessage } from "./json-rpc.ts"
import { imageType } from "./image-files.ts"
import { wantsEventStream, wantsHtml } from "./negotiate.ts"
import type { Site } from "./site.ts"
import { decodePath } from "./slug.ts"
import type { Streams } from "./streams.ts"

type AppEnv = ServedEnv

type Tarball = { readonly path: string; readonly file: string; readonly name: string; readonly hint: string }

export type Dependencies = {
  readonly site: () => Site
  readonly endpoint: RpcEndpoint
  readonly protocolVersions: readonly string[]
  readonly streams: Streams
  readonly guard: (host: string | undefined, origin: string | undefined) => boolean
  readonly clientAddress: ClientAddress
  readonly limiter: Limiter
  /** 0: no limit. */
  readonly requestsPerMinute: number
  /** The packages that are handed out, and where they are. */
  readonly tarballs: readonly Tarball[]
  readonly version: string
  readonly log: Logger
}

const maxBodyBytes = 2 ** 20
const bodyDeadlineMs = 30_000
const mcpPaths = ["/mcp", "/mcp/sse"]
const mcpMethods = "GET, HEAD, POST, OPTIONS"
const streamHeaders = {
  ...commonHeaders,
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
  Vary: "Accept, Accept-Encoding",
}
const rpcHeaders = { ...commonHeaders, "Content-Type": jsonType }
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Every answer is made here, without the context: that would turn the record into a Headers object for each request. */
const reply = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream | null = null,
): Response => new Response(body, { status, headers })

/** Answers what no request can be made of. */
export const unreadableAnswer = (_requestId: string, reason: string): Response =>
  renderError(
    errors.fail("invalid_request", {
      message: `Not a request: ${reason}.`,
      hint: "Send HTTP/1.1 with this server's name as Host and a path, as /openapi.json lists them, as target.",
    }),
  )

const headersOf = ({ headers, retryAfterSeconds }: ApiError): Readonly<Record<string, string>> =>
  retryAfterSeconds === undefined ? headers : { ...headers, "Retry-After": String(retryAfterSeconds) }

/** What a probe is told: 503 while something is missing that the server can't do without. */
export const probeAnswer = (missing: readonly string[]): Response =>
  reply(
    missing.length === 0 ? 200 : 503,
    { ...rpcHeaders, "Cache-Control": "no-store" },
    JSON.stringify({ status: missing.length === 0 ? "ok" : "unavailable", missing }),
  )

const renderError = (error: ApiError, more: Readonly<Record<string, string>> = {}): Response => {
  const { code, message, hint = "", status } = error
  const body = JSON.stringify({ error: { code, message, hint } })
  return reply(status, { ...rpcHeaders, ...more, ...headersOf(error) }, body)
}

/** An error for whoever asked: a page for people, but never where MCP is spoken. */
const answerError = async (c: Context<AppEnv>, error: ApiError, { people }: Site): Promise<Response> => {
  if (isMcp(c)) return renderError(error)
  if (!asksForHtml(c)) return renderError(error, { Vary: "Accept" })
  const { headers, text } = await people.error(error, c.req.path)
  const { ETag: _tag, ...kept } = headers
  return reply(error.status, { ...kept, Vary: "Accept", ...headersOf(error) }, text)
}

const toApiError = (error: unknown): ApiError | undefined => {
  if (error instanceof ApiError) return error
  if (!(error instanceof BodyError)) return undefined
  if (error.fault.kind === "too-large") return errors.fail("request_too_large", { headers: { connection: "close" } })
  return errors.fail("invalid_request", { message: "The request body did not arrive." })
}

// One slash at the end more or less is the same page.
const getPath: typeof sentPath = (request, options) => sentPath(request, options).replace(/(?<=.)\/$/, "")

const isMcp = (c: Context): boolean => mcpPaths.includes(c.req.path)

const asksForHtml = (c: Context<AppEnv>): boolean =>
  (c.req.method === "GET" || c.req.method === "HEAD") && wantsHtml(requestHeader(c, "accept"))

const findDocument = (site: Site, c: Context<AppEnv>) => {
  const path = decodePath(c.req.path)
  return path === undefined ? undefined : site.find(path, asksForHtml(c))
}

const serveDocument = (c: Context<AppEnv>, document: Document): Response | Promise<Response> => {
  const answer = answerDocument(document, (name) => requestHeader(c, name))
  const send = ({ status, headers, body }: Answer) => reply(status, headers, body)
  return answer instanceof Promise ? answer.then(send) : send(answer)
}

const notJson = (): ApiError => errors.fail("invalid_request", { message: "The request body is not JSON in UTF-8." })

const serveFile = (
  c: Context<AppEnv>,
  file: Uint8Array<ArrayBuffer>,
  more: Readonly<Record<string, string>>,
): Response => {
  const etag = `"${hashOf(file)}"`
  const headers = {
    ...commonHeaders,
    "Cache-Control": "public, max-age=300",
    Vary: "Accept, Accept-Encoding",
    ...more,
    ETag: etag,
  }
  if (matchesETag(requestHeader(c, "if-none-match"), [etag])) return reply(304, headers)
  return reply(200, headers, new Uint8Array(file))
}

// A drawing that is opened by itself may bring styles, but no script.
const imagePolicy = { "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox" }

const readJsonBody = async (c: Context<AppEnv>): Promise<{ readonly text: string; readonly value: unknown }> => {
  const fault = jsonTypeFault(c)
  if (fault !== undefined) throw errors.fail("unsupported_media_type", { message: `In this request, ${fault}.` })
  const bytes = await readBody(c, { limit: maxBodyBytes, deadlineMs: bodyDeadlineMs })
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw notJson()
  }
  if (text.length > mostMembers && hasTooManyMembers(text))
    throw errors.fail("invalid_request", { message: `The request body has more than ${mostMembers} members.` })
  try {
    return { text, value: JSON.parse(text) }
  } catch {
    throw notJson()
  }
}

export const createApp = (dependencies: Dependencies): Hono<AppEnv> => {
  const { site, endpoint, streams, log } = dependencies
  const app = new Hono<AppEnv>({ getPath })
  const fixedPaths = new Set([
    "/health",
    "/livez",
    "/readyz",
    "/search",
    ...dependencies.tarballs.map(({ path }) => path),
  ])

  const addressOf = (c: Context<AppEnv>): string =>
    dependencies.clientAddress(peerAddress(c), requestHeader(c, "x-forwarded-for"))

  app.onError((error, c) => {
    const known = toApiError(error)
    if (known === undefined) log.error({ request_id: requestIdOf(c), err: error }, "unexpected error")
    return answerError(c, known ?? errors.fail("internal_error"), site())
  })

  app.notFound((c) => {
    const path = c.req.path.replace(/\/$/, "")
    const methods = mcpPaths.includes(path) ? mcpMethods : "GET, HEAD, OPTIONS"
    const known = methods === mcpMethods || fixedPaths.has(path) || findDocument(site(), c) !== undefined
    const error =
      known && c.req.method !== "GET"
        ? errors.fail("method_not_allowed", { headers: { Allow: methods } })
        : errors.fail("not_found")
    return answerError(c, error, site())
  })

  for (const path of ["/livez", "/readyz"])
    app.get(
      path,
      routed(() => probeAnswer([])),
    )

  app.get(
    "/health",
    routed(() =>
      reply(
        200,
        { ...rpcHeaders, "Cache-Control": "no-store" },
        JSON.stringify({ status: "ok", version: dependencies.version, pages: site().library.corpus.pages.size }),
      ),
    ),
  )

  app.use(async (c, next) => {
    if (!dependencies.guard(requestHeader(c, "host"), requestHeader(c, "origin"))) throw errors.fail("forbidden")
    if (c.req.method === "OPTIONS") return reply(204, preflightHeaders)
    // Asked for even where nothing is counted by it: this is what tells the operator of a proxy that is not trusted.
    const address = addressOf(c)
    if (dependencies.requestsPerMinute > 0) {
      const decision = dependencies.limiter.take("docs", addressBucket(address), dependencies.requestsPerMinute)
      if (!decision.allowed) throw errors.fail("rate_limited", { retryAfterSeconds: decision.retryAfterSeconds })
    }
    return next()
  })

  const openStream = (c: Context<AppEnv>): Response => {
    const noStream = (message: string, hint: string) =>
      errors.fail("method_not_allowed", { message, hint, headers: { Allow: "POST" } })
    const version = requestHeader(c, "mcp-protocol-version")
    if (version !== undefined && !dependencies.protocolVersions.includes(version))
      throw errors.fail("invalid_request", {
        message: "The MCP-Protocol-Version header names no revision that is served here.",
        hint: `Name one of ${dependencies.protocolVersions.join(", ")}, or none; see /openapi.json.`,
      })
    if (version !== undefined && version >= "2026-07-28")
      throw noStream("MCP 2026-07-28 has no stream over GET.", "Call subscriptions/listen by POST; see /openapi.json.")
    if (c.req.raw.method === "HEAD") return reply(200, streamHeaders)
    const stream = streams.open(addressBucket(addressOf(c)))
    if (stream === undefined)
      throw noStream(
        "No further event stream can be opened now.",
        "All tools answer by POST without one; see /openapi.json.",
      )
    return reply(200, streamHeaders, stream)
  }

  const getMcp = (c: Context<AppEnv>) =>
    wantsEventStream(requestHeader(c, "accept")) ? openStream(c) : serveDocument(c, site().descriptor)
  app.on("GET", mcpPaths, routed(getMcp))

  const postMcp = async (c: Context<AppEnv>): Promise<Response> => {
    const { text, value } = await readJsonBody(c)
    const message = readMessage(text, value)
    if (message === "invalid")
      throw errors.fail(
        "invalid_request",
        Array.isArray(value) ? { message: "Batches are not served: send one JSON-RPC message a request." } : {},
      )
    if (message === "silent") return reply(202, commonHeaders)
    const answer = await endpoint(message, {
      header: (name) => requestHeader(c, name),
      request: () => c.req.raw,
      size: text.length,
    })
    if ("stream" in answer) return reply(200, streamHeaders, answer.stream.body)
    return reply(answer.status, rpcHeaders, answer.body)
  }
  app.on("POST", mcpPaths, routed(postMcp))

  const getTarball = async (c: Context<AppEnv>, { file: path, name, hint }: Tarball): Promise<Response> => {
    const file = await readFile(path).catch(() => undefined)
    if (file === undefined)
      throw errors.fail("not_found", { message: `${name} has not been built on this server.`, hint })
    return serveFile(c, file, { "Content-Type": "application/gzip" })
  }
  for (const tarball of dependencies.tarballs) {
    app.get(
      tarball.path,
      routed((c: Context<AppEnv>) => getTarball(c, tarball)),
    )
  }

  const getSearch = async (c: Context<AppEnv>): Promise<Response> => {
    const { searchParams } = new URL(c.req.url)
    const query = searchParams.get("q")?.trim() ?? ""
    return serveDocument(c, await site().people.search(query, searchParams.get("cursor") ?? undefined, asksForHtml(c)))
  }
  app.get("/search", routed(getSearch))

  const getImage = async (c: Context<AppEnv>): Promise<Response> => {
    const path = decodePath(c.req.path)?.slice(1) ?? ""
    const known = site().library.corpus.images.get(path)
    const file = known === undefined ? undefined : await readFile(known).catch(() => undefined)
    const type = imageType(path)
    if (file === undefined || type === undefined) throw errors.fail("not_found")
    return serveFile(c, file, { ...imagePolicy, "Content-Type": type })
  }

  const getDocument = (c: Context<AppEnv>) => {
    const document = findDocument(site(), c)
    if (document === undefined) return getImage(c)
    return document instanceof Promise ? document.then((made) => serveDocument(c, made)) : serveDocument(c, document)
  }
  app.get("/*", routed(getDocument))
  return app
}
