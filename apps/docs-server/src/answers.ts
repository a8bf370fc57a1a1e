import { ApiError, type BodyFault } from "@svc/errors"
import { acceptsGzip, acceptWeights, type HttpEnv, matchesETag } from "@svc/http"
import type { Context } from "hono"
import { hashOf } from "./corpus/corpus.ts"
import { type Document, type Encoding, commonHeaders, documentHeaders, jsonType } from "./site/documents.ts"
import { errors } from "./errors.ts"
import { rootOf } from "@svc/site"

export const jsonHeaders = { ...commonHeaders, "Content-Type": jsonType }
export const noStore = { ...jsonHeaders, "Cache-Control": "no-store" }

/** A response with prepared headers. `c.body` would make a Headers object of them for each request. */
export const reply = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream | null = null,
): Response => new Response(body, { status, headers })

/** An error whose hint names this server's own paths as callers reach them: below the path of its URL. */
export const withRoot = ({ code, status, message, hint = "", headers }: ApiError, baseUrl: string): ApiError => {
  const own = /(?<![\w/.])\/(?=(?:openapi\.json|llms(?:-full)?\.txt|mcp)\b)/g
  return new ApiError(code, { status, message, hint: hint.replaceAll(own, `${rootOf(baseUrl)}/`) }, { headers })
}

const bodyOf = ({ code, message, hint = "" }: ApiError) => ({ error: { code, message, hint } })

export const errorResponse = (
  c: Context<HttpEnv>,
  error: ApiError,
  more: Readonly<Record<string, string>> = {},
): Response => c.json(bodyOf(error), error.status, { ...noStore, ...more, ...error.headers })

/** The response to bytes that aren't an HTTP request. */
export const unreadableResponse =
  (baseUrl: string) =>
  (_requestId: string, reason: string, status: 400 | 405): Response => {
    const error =
      status === 405
        ? errors.fail("method_not_allowed", { headers: { Allow: "GET, HEAD, POST, OPTIONS" } })
        : errors.fail("invalid_request", {
            message: `Not a request: ${reason}.`,
            hint: "Send HTTP/1.1 with this server's name as Host and a path, as /openapi.json lists them, as target.",
          })
    const body = bodyOf(withRoot(error, baseUrl))
    return Response.json(body, { status: error.status, headers: { ...noStore, ...error.headers } })
  }

export const bodyError = (fault: BodyFault): ApiError => {
  if (fault.kind === "too-large") return errors.fail("request_too_large")
  if (fault.kind === "unsupported-media-type")
    return errors.fail("unsupported_media_type", { message: `In this request, ${fault.reason}.` })
  if (fault.kind === "invalid-json")
    return errors.fail("invalid_request", { message: `In this request, ${fault.reason}.` })
  const what = fault.kind === "timeout" || fault.kind === "aborted" ? "did not arrive" : fault.reason
  return errors.fail("invalid_request", { message: `The request body ${what}.` })
}

/**
 * Whether a GET asks for HTML: it is named and preferred to Markdown and plain text. Wildcards don't count, because curl,
 * fetch and MCP clients send them.
 */
export const wantsHtml = (accept: string | undefined): boolean => {
  if (accept === undefined || !/html/i.test(accept)) return false
  const types = acceptWeights(accept)
  const weight = (...names: string[]) => Math.max(...names.map((name) => types.get(name) ?? 0))
  return weight("text/html", "application/xhtml+xml") > weight("text/markdown", "text/plain")
}

const accepts = (encoding: Encoding, header: string | undefined): boolean =>
  encoding === "gzip"
    ? acceptsGzip(header)
    : header?.includes("br") === true && (acceptWeights(header).get("br") ?? 0) > 0

// Compressing less than this saves less than the header costs.
const worthCompressing = 1024

/** Responds to a GET or HEAD: 304 if the caller has this text, else the text, compressed if the caller accepts it. */
export const serveDocument = (c: Context<HttpEnv>, document: Document): Response | Promise<Response> => {
  const { hash, text, bytes, headers, encodings, encoded } = document
  const taken = c.req.header("accept-encoding")
  const encoding = text.length < worthCompressing ? undefined : encodings.find((one) => accepts(one, taken))
  if (matchesETag(c.req.header("if-none-match"), [`"${hash}"`]))
    return reply(304, encoding === undefined ? headers : { ...headers, ETag: `W/"${hash}"` })
  if (encoding === undefined) return reply(200, headers, bytes())
  return encoded(encoding).then((one) => reply(200, one.headers, one.body))
}

export const serveFile = (
  c: Context<HttpEnv>,
  file: Uint8Array<ArrayBuffer>,
  type: string,
  more?: Readonly<Record<string, string>>,
): Response => {
  const etag = `"${hashOf(file)}"`
  const headers = documentHeaders(type, etag, more)
  if (matchesETag(c.req.header("if-none-match"), [etag])) return reply(304, headers)
  return reply(200, headers, new Uint8Array(file))
}
