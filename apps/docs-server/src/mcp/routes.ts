import { hasMoreValues, isDeeper } from "@svc/common/json-text"
import type { ApiError } from "@svc/errors"
import { addressBucket, countStream, type HttpEnv, jsonTypeFault, readBody, wantsEventStream } from "@svc/http"
import { createRoute, z } from "@svc/openapi"
import type { Context, MiddlewareHandler } from "hono"
import { jsonHeaders, serveDocument } from "../answers.ts"
import { errors } from "../errors.ts"
import { type DocsApp, failures, notModified, open } from "../routes/describe-route.ts"
import { commonHeaders } from "../site/documents.ts"
import type { Site } from "../site/site.ts"
import { mcpDescriptor } from "./descriptor.ts"
import { jsonRpcRequest, jsonRpcResponse, messageBounds, readMessage, type RpcRequest, writtenId } from "./json-rpc.ts"
import type { Caller, RpcAnswer } from "./sdk.ts"
import { lifetimeMs, maxStreamsPerClient, type Streams } from "./streams.ts"
import { tools } from "./tools.ts"

export type McpDependencies = {
  readonly site: () => Site
  readonly answer: (request: RpcRequest, caller: Caller) => Promise<RpcAnswer>
  readonly protocolVersions: readonly string[]
  readonly streams: Streams
}

/** The paths of the MCP endpoint. The second one is for older clients. */
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

/** Reads the body, and responds to messages that need no result. The validator then receives a request. */
const readMcpMessage: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const { text, value } = await readJsonBody(c)
  // The validator judges what looks like a request.
  const isRequest = typeof value === "object" && value !== null && "id" in value && "method" in value
  const message = isRequest ? "request" : readMessage(value)
  if (message === "invalid")
    throw errors.fail(
      "invalid_request",
      Array.isArray(value) ? { message: "Batches are not served: send one JSON-RPC message a request." } : {},
    )
  if (message === "silent") return c.body(null, 202, commonHeaders)
  Object.assign(c.req.bodyCache, { text: Promise.resolve(text) })
  return next()
}

const streamContent = { "text/event-stream": { schema: z.string() } }
const toolNotes = tools.map(({ name, describe }) => `- \`${name}\`: ${describe({ name: "svc", about: "" })}`).join("\n")

// In MCP 2026-07-28, JSON-RPC errors come with 400 and 404.
const withJsonRpc = (responses: ReturnType<typeof failures>) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, { description, content }]) => {
      const { schema } = content["application/json"]
      const either = status === "400" || status === "404" ? z.union([schema, jsonRpcResponse]) : schema
      return [status, { description, content: { "application/json": { schema: either } } }]
    }),
  )

const descriptorRoute = (path: string, alias: string) =>
  createRoute({
    method: "get",
    path,
    summary: `Descriptor of the MCP server${alias}`,
    description:
      "Answers the descriptor. When `Accept` names `text/event-stream` and wants it more than JSON, the event stream of " +
      "Streamable HTTP is opened instead, for MCP revisions that have it: 405 says that there is none, or none free; " +
      "429 that the address has too many open.",
    operationId: alias === "" ? "getMcpDescriptor" : "getMcpDescriptorLegacy",
    tags: ["mcp"],
    ...open,
    parameters: [
      { name: "accept", in: "header", required: false, schema: { type: "string", default: "application/json" } },
    ],
    responses: {
      200: {
        description: "The descriptor, or the stream.",
        content: { "application/json": { schema: mcpDescriptor }, ...streamContent },
      },
      ...notModified,
      ...failures("invalid_request", "method_not_allowed"),
    },
  })

const messageRoute = (path: string, alias: string) =>
  createRoute({
    method: "post",
    path,
    summary: `Call the MCP server${alias}`,
    description:
      `One JSON-RPC 2.0 message of the Model Context Protocol over Streamable HTTP: at most ${messageBounds.bytes / 1024} KiB, ` +
      `${messageBounds.values} values and ${messageBounds.depth} levels of nesting. Tools:\n\n${toolNotes}`,
    operationId: alias === "" ? "postMcp" : "postMcpLegacy",
    tags: ["mcp"],
    ...open,
    middleware: readMcpMessage,
    request: { body: { required: true, content: { "application/json": { schema: jsonRpcRequest } } } },
    responses: {
      200: {
        description: "The result or a JSON-RPC error; a stream for methods that are one by nature.",
        content: { "application/json": { schema: jsonRpcResponse }, ...streamContent },
      },
      202: { description: "A notification or a response was taken; there is no body." },
      ...withJsonRpc(failures("invalid_request", "not_found", "request_too_large", "unsupported_media_type")),
    },
  })

/** The MCP endpoint: messages by POST, the descriptor or an event stream by GET. */
export const mcpRoutes = (app: DocsApp, { site, answer, protocolVersions, streams }: McpDependencies): void => {
  const openStream = (c: Context<HttpEnv>): Response => {
    const noStream = (message: string, hint: string) =>
      errors.fail("method_not_allowed", { message, hint, headers: { Allow: "POST" } })
    const version = c.req.header("mcp-protocol-version")
    if (version !== undefined && !protocolVersions.includes(version))
      throw errors.fail("invalid_request", {
        message: "The MCP-Protocol-Version header names no revision that is served here.",
        hint: `Name one of ${protocolVersions.join(", ")}, or none; see /openapi.json.`,
      })
    if (version !== undefined && version >= "2026-07-28")
      throw noStream("MCP 2026-07-28 has no stream over GET.", "Call subscriptions/listen by POST; see /openapi.json.")
    if (c.req.method === "HEAD") return c.body(null, 200, streamHeaders)
    const client = addressBucket(c.get("clientAddress"))
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
    countStream(c)
    return c.body(stream, 200, streamHeaders)
  }

  for (const [path, alias] of [
    ["/mcp", ""],
    ["/mcp/sse", ", legacy alias"],
  ] as const) {
    app.openapi(descriptorRoute(path, alias), (c) =>
      wantsEventStream(c.req.header("accept")) ? openStream(c) : serveDocument(c, site().descriptor),
    )
    app.openapi(messageRoute(path, alias), async (c) => {
      const { method, params, id = null } = c.req.valid("json")
      const { headers, signal } = c.req.raw
      const answered = await answer(
        { method, params, id },
        { headers, signal, trustsTraces: () => c.get("trustsTraces") },
      )
      if ("stream" in answered) {
        countStream(c)
        return new Response(answered.stream.body, { headers: streamHeaders })
      }
      const { status, member, text } = answered
      const sentId = writtenId(await c.req.text(), id)
      return new Response(`{"jsonrpc":"2.0","id":${sentId},"${member}":${text}}`, { status, headers: jsonHeaders })
    })
  }
}
