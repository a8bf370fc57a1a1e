import {
  addressBucket,
  commentOf,
  countStream,
  type EventStreams,
  type HttpEnv,
  jsonBody,
  longestBodyMs,
  wantsEventStream,
  withoutRepeats,
} from "@svc/http"
import { type Limits, placesOf } from "@svc/limits"
import { readMessage, type RpcRequest, writtenId } from "@svc/mcp"
import { createRoute, z } from "@svc/openapi"
import type { Context } from "hono"
import { jsonHeaders, reply, serveDocument } from "../answers.ts"
import { errors } from "../errors.ts"
import { type DocsApp, failures, notModified, open } from "../routes/describe-route.ts"
import { commonHeaders } from "../site/documents.ts"
import type { Site } from "../site/site.ts"
import { mcpDescriptor } from "./descriptor.ts"
import { jsonRpcRequest, jsonRpcResponse, messageBounds } from "./json-rpc.ts"
import { readHeaders } from "./repeated.ts"
import { type Caller, type RpcAnswer, streamWithId, withId } from "./sdk.ts"
import { tools } from "./tools.ts"

export type McpDependencies = {
  readonly site: () => Site
  readonly answer: (request: Omit<RpcRequest, "id">, caller: Caller) => Promise<RpcAnswer>
  readonly protocolVersions: readonly string[]
  readonly streams: Pick<EventStreams, "open">
  readonly limits: Pick<Limits, "take" | "enter">
}

export const maxStreamsPerClient = 8
export const lifetimeMs = 5 * 60_000

export const mcpPaths = ["/mcp", "/mcp/sse"]

const body = jsonBody({
  limit: messageBounds.bytes,
  deadlineMs: longestBodyMs,
  maxValues: messageBounds.values,
  maxDepth: messageBounds.depth,
})
const streamHeaders = {
  ...commonHeaders,
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
  Vary: "Accept, Accept-Encoding",
}
/** Reads the body's message, and responds to those that need no result. */
const readRequest = (c: Context<HttpEnv>): RpcRequest | undefined => {
  const message = readMessage(c.var.json.value)
  if (message.kind === "invalid") throw errors.fail("invalid_request", { message: message.reason })
  return message.kind === "request" ? message.request : undefined
}

/** A stream of comments, which ends after five minutes. */
export const openQuietStream = (
  streams: McpDependencies["streams"],
  countWaiting: (bytes: number) => void,
  onEnd: () => void,
) =>
  streams.open(countWaiting, ({ send, end }) => {
    const lifetime = setTimeout(end, lifetimeMs)
    send(commentOf("open"))
    return () => {
      clearTimeout(lifetime)
      onEnd()
    }
  })

const streamContent = { "text/event-stream": { schema: z.string() } }
const toolNotes = tools.map(({ name, description }) => `- \`${name}\`: ${description}`).join("\n")

// In MCP 2026-07-28, JSON-RPC errors come with 400 and 404.
const withJsonRpc = (responses: ReturnType<typeof failures>) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const { schema } = response.content["application/json"]
      const either = status === "400" || status === "404" ? z.union([schema, jsonRpcResponse]) : schema
      return [status, { ...response, content: { "application/json": { schema: either } } }]
    }),
  )

const descriptorRoute = (path: string, alias: string) =>
  createRoute({
    method: "get",
    path,
    summary: `Descriptor of the MCP server${alias}`,
    description:
      "Returns the descriptor. When `Accept` names `text/event-stream` and wants it more than JSON, the event stream of " +
      "Streamable HTTP is opened instead, for MCP revisions that have it: 405 says that there is none, or none free.",
    operationId: alias === "" ? "getMcpDescriptor" : "getMcpDescriptorLegacy",
    ...(alias !== "" && { deprecated: true }),
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
    ...(alias !== "" && { deprecated: true }),
    tags: ["mcp"],
    ...open,
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
export const mcpRoutes = (app: DocsApp, { site, answer, protocolVersions, streams, limits }: McpDependencies): void => {
  const openStream = async (c: Context<HttpEnv>): Promise<Response> => {
    const version = c.req.header("mcp-protocol-version")
    if (version !== undefined && !protocolVersions.includes(version))
      throw errors.fail("invalid_request", {
        message: "The MCP-Protocol-Version header names no revision that is served here.",
        hint: `Name one of ${protocolVersions.join(", ")}, or none; see /openapi.json.`,
      })
    if (version !== undefined && version >= "2026-07-28")
      throw errors.fail("method_not_allowed", {
        message: "MCP 2026-07-28 has no stream over GET.",
        hint: "Call subscriptions/listen by POST; see /openapi.json.",
        headers: { Allow: "POST" },
      })
    if (c.req.method === "HEAD") return c.body(null, 200, streamHeaders)
    const places = placesOf("mcp", addressBucket(c.get("clientAddress")), maxStreamsPerClient)
    const entry = await limits.enter({ places, leaseMs: lifetimeMs })
    if ("full" in entry)
      // Clients take it for an endpoint without streams, and go on by POST.
      throw errors.fail("method_not_allowed", {
        message: `This address has ${maxStreamsPerClient} event streams open, or its network as many as it may.`,
        hint: "Close one of them. All tools work by POST without a stream; see /openapi.json.",
        headers: { Allow: "POST" },
      })
    return c.body(openQuietStream(streams, countStream(c), entry.leave), 200, streamHeaders)
  }

  for (const [path, alias] of [
    ["/mcp", ""],
    ["/mcp/sse", ", legacy alias"],
  ] as const) {
    app.use(path, async ({ req }, next) => {
      for (const name of readHeaders) {
        const value = req.header(name)
        if (value?.includes(",") === true) req.raw.headers.set(name, withoutRepeats(value))
      }
      await next()
    })
    app.openapi(descriptorRoute(path, alias), (c) =>
      wantsEventStream(c.req.header("accept")) ? openStream(c) : serveDocument(c, site().descriptor),
    )
    // Described only: the message is read once, by hand.
    app.openAPIRegistry.registerPath(messageRoute(path, alias))
    app.post(path, body, async (c) => {
      const request = readRequest(c)
      if (request === undefined) return c.body(null, 202, commonHeaders)
      const { headers, signal } = c.req.raw
      const answered = await answer(request, { headers, signal, trustsTraces: () => c.get("trustsTraces") })
      const id = writtenId(c.var.json.text, c.var.json.value)
      if ("stream" in answered) {
        countStream(c)
        return new Response(streamWithId(answered.stream, id), { headers: streamHeaders })
      }
      return reply(answered.status, jsonHeaders, withId(answered.text, id))
    })
  }
}
