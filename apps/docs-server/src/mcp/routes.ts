import {
  addressBucket,
  clientAddress,
  jsonTypeFault,
  readBody,
  requestHeader,
  type HttpEnv,
  trustsTraces,
  wantsEventStream,
} from "@svc/http"
import type { ApiError } from "@svc/errors"
import { hasMoreValues, isDeeper } from "@svc/common/json-text"
import type { Context, Handler, Hono } from "hono"
import { jsonHeaders, reply, serveDocument } from "../answers.ts"
import { commonHeaders } from "../site/documents.ts"
import { errors } from "../errors.ts"
import { messageBounds, readMessage, type RpcRequest, writtenId } from "./json-rpc.ts"
import type { Caller, RpcAnswer } from "./sdk.ts"
import type { Site } from "../site/site.ts"
import { lifetimeMs, maxStreamsPerClient, type Streams } from "./streams.ts"

export type McpDependencies = {
  readonly site: () => Site
  readonly answer: (request: RpcRequest, caller: Caller) => Promise<RpcAnswer>
  readonly protocolVersions: readonly string[]
  readonly streams: Streams
}

/** Makes a route's handler of one that is called only for requests that are admitted. */
export type Admitted = (handler: (c: Context<HttpEnv>) => Response | Promise<Response>) => Handler<HttpEnv>

/** Where MCP is spoken; the second is what older clients ask. */
export const mcpPaths = ["/mcp", "/mcp/sse"]

const bodyDeadlineMs = 30_000
const streamHeaders = {
  ...commonHeaders,
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
  Vary: "Accept, Accept-Encoding",
}
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const notJson = (): ApiError => errors.fail("invalid_request", { message: "The request body is not JSON in UTF-8." })

const tooMuch = (bound: string): ApiError =>
  errors.fail("invalid_request", { message: `The request body has more than ${bound}.` })

const readJsonBody = async (c: Context<HttpEnv>): Promise<{ readonly text: string; readonly value: unknown }> => {
  const fault = jsonTypeFault(c)
  if (fault !== undefined) throw errors.fail("unsupported_media_type", { message: `In this request, ${fault}.` })
  const bytes = await readBody(c, { limit: messageBounds.bytes, deadlineMs: bodyDeadlineMs })
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw notJson()
  }
  if (hasMoreValues(text, messageBounds.values)) throw tooMuch(`${messageBounds.values} values`)
  if (isDeeper(text, messageBounds.depth)) throw tooMuch(`${messageBounds.depth} levels of nesting`)
  try {
    return { text, value: JSON.parse(text) }
  } catch {
    throw notJson()
  }
}

/** The MCP endpoint: messages by POST, the descriptor or an event stream by GET. */
export const mcpRoutes = (
  app: Hono<HttpEnv>,
  { site, answer, protocolVersions, streams }: McpDependencies,
  admitted: Admitted,
): void => {
  const openStream = (c: Context<HttpEnv>): Response => {
    const noStream = (message: string, hint: string) =>
      errors.fail("method_not_allowed", { message, hint, headers: { Allow: "POST" } })
    const version = requestHeader(c, "mcp-protocol-version")
    if (version !== undefined && !protocolVersions.includes(version))
      throw errors.fail("invalid_request", {
        message: "The MCP-Protocol-Version header names no revision that is served here.",
        hint: `Name one of ${protocolVersions.join(", ")}, or none; see /openapi.json.`,
      })
    if (version !== undefined && version >= "2026-07-28")
      throw noStream("MCP 2026-07-28 has no stream over GET.", "Call subscriptions/listen by POST; see /openapi.json.")
    if (c.req.raw.method === "HEAD") return reply(200, streamHeaders)
    const client = addressBucket(clientAddress(c))
    if (streams.countOf(client) >= maxStreamsPerClient)
      throw errors.fail("rate_limited", {
        message: `This address has ${maxStreamsPerClient} event streams open.`,
        hint: "Close one of them. All tools answer by POST without a stream; see /openapi.json.",
        retryAfterSeconds: lifetimeMs / 1000,
      })
    const stream = streams.open(client)
    if (stream === undefined)
      throw noStream(
        "No further event stream can be opened now.",
        "All tools answer by POST without one; see /openapi.json.",
      )
    return reply(200, streamHeaders, stream)
  }

  const getMcp = (c: Context<HttpEnv>) =>
    wantsEventStream(requestHeader(c, "accept")) ? openStream(c) : serveDocument(c, site().descriptor)
  app.on("GET", mcpPaths, admitted(getMcp))

  const postMcp = async (c: Context<HttpEnv>): Promise<Response> => {
    const { text, value } = await readJsonBody(c)
    const message = readMessage(value)
    if (message === "invalid")
      throw errors.fail(
        "invalid_request",
        Array.isArray(value) ? { message: "Batches are not served: send one JSON-RPC message a request." } : {},
      )
    if (message === "silent") return reply(202, commonHeaders)
    const { headers, signal } = c.req.raw
    const answered = await answer(message, { headers, signal, trustsTraces: () => trustsTraces(c) })
    if ("stream" in answered) return reply(200, streamHeaders, answered.stream.body)
    const id = writtenId(text, message.id)
    return reply(answered.status, jsonHeaders, `{"jsonrpc":"2.0","id":${id},"${answered.member}":${answered.text}}`)
  }
  app.on("POST", mcpPaths, admitted(postMcp))
}
