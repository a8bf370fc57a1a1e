import {
  createMcpHandler,
  type McpServerFactory,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"
import { z } from "zod"
import type { RpcRequest } from "./json-rpc.ts"

/** The response to one request: its `result` or `error` as JSON text, or a stream of events. */
export type RpcAnswer =
  | { readonly status: number; readonly member: "result" | "error"; readonly text: string }
  | { readonly stream: Response }

/** The HTTP request around a message. */
export type Caller = Pick<Request, "headers" | "signal"> & {
  /** Whether its trace fields decide which traces are kept. */
  readonly trustsTraces: () => boolean
}

export type AnswerRpc = (request: RpcRequest, caller: Pick<Caller, "headers" | "signal">) => Promise<RpcAnswer>

const legacyVersions: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS)

/**
 * The SDK's two ways to serve: `modern` is 2026-07-28, and has the error for an unknown revision. `initialize` belongs to the
 * earlier revisions, whatever the header says.
 */
export const eraOf = ({ method, params }: RpcRequest, { headers }: Pick<Request, "headers">): "legacy" | "modern" => {
  const version = headers.get("mcp-protocol-version")
  const isLegacy = version === null || legacyVersions.has(version)
  return isLegacy || (method === "initialize" && params?.["protocolVersion"] !== undefined) ? "legacy" : "modern"
}

const endpoint = "http://docs.invalid/mcp"
const jsonHeaders = { accept: "application/json, text/event-stream", "content-type": "application/json" }

const errorSchema = z.looseObject({ code: z.number(), message: z.string() })
const sdkResponse = z.looseObject({ result: z.unknown().optional(), error: errorSchema.optional() })

const issues = z.array(z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)

/** The first issue in a validator's report, which the SDK passes on as a message. */
const firstIssue = (message: string) => {
  try {
    return issues.parse(JSON.parse(message.slice(message.indexOf("["))))[0]
  } catch {
    return undefined
  }
}

/** The SDK reports params that fail its own schemas as a parse or an internal error. */
const withParamsCode = (error: z.infer<typeof errorSchema>): unknown => {
  const issue = firstIssue(error.message)
  if (issue !== undefined)
    return { ...error, code: -32_602, message: `Invalid params: ${issue.path.join(".")}: ${issue.message}` }
  return error.code === -32_700 ? { ...error, code: -32_602, message: "Invalid params" } : error
}

const refusal = z.object({ data: z.object({ supported: z.array(z.string()).min(1) }) })

/** All revisions, newest first. The SDK doesn't export the stateless ones, but its error for an unknown revision lists them. */
const readVersions = async (answer: AnswerRpc): Promise<string[]> => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "unknown",
    "io.modelcontextprotocol/clientCapabilities": {},
  }
  const method = "server/discover"
  const headers = { "mcp-protocol-version": "unknown", "mcp-method": method }
  const answered = await answer({ id: 0, method, params: { _meta: meta } }, new Request(endpoint, { headers }))
  const { supported } = refusal.parse("text" in answered ? JSON.parse(answered.text) : undefined).data
  return [...new Set([...supported, ...SUPPORTED_PROTOCOL_VERSIONS])].sort().toReversed()
}

/** Answers JSON-RPC requests by the official SDK, with a new server for each. */
export const createSdk = async (factory: McpServerFactory, onError: (error: Error) => void) => {
  const modern = createMcpHandler(factory, { legacy: "reject", onerror: onError })

  // The handler's own fallback answers the earlier revisions with event streams; its transport can answer in JSON.
  const answerLegacy = async (body: object): Promise<Response> => {
    const server = await factory({ era: "legacy" })
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    try {
      await server.connect(transport)
      const request = new Request(endpoint, { method: "POST", headers: jsonHeaders })
      return await transport.handleRequest(request, { parsedBody: body })
    } finally {
      await server.close()
    }
  }

  const answer: AnswerRpc = async (request, http) => {
    const { id, method, params } = request
    // The SDK accepts only strings and integers as ids.
    const isKnown = typeof id === "string" || Number.isSafeInteger(id)
    const body = { jsonrpc: "2.0", id: isKnown ? id : 0, method, ...(params !== undefined && { params }) }
    const era = eraOf(request, http)
    const headers = new Headers({ ...Object.fromEntries(http.headers), ...jsonHeaders })
    headers.delete("content-length")
    const response =
      era === "legacy"
        ? await answerLegacy(body)
        : await modern.fetch(new Request(endpoint, { method: "POST", headers, signal: http.signal }), {
            parsedBody: body,
          })
    if (response.headers.get("content-type") === "text/event-stream") return { stream: response }
    const { result, error } = sdkResponse.parse(await response.json())
    if (error === undefined) return { status: 200, member: "result", text: JSON.stringify(result) }
    const status = era === "legacy" ? 200 : response.status
    return { status, member: "error", text: JSON.stringify(withParamsCode(error)) }
  }

  return { answer, protocolVersions: await readVersions(answer), close: () => modern.close() }
}
