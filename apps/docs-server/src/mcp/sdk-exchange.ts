import {
  type McpServerFactory,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
} from "@modelcontextprotocol/server"
import { z } from "zod"
import type { RpcRequest } from "./json-rpc.ts"

/** What the SDK said to one request: a JSON-RPC result or error, or a stream of events. */
type SdkAnswer =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly status: number; readonly error: unknown }
  | { readonly kind: "stream"; readonly response: Response }

export type Era = "legacy" | "modern"

export type SdkExchange = {
  /** Newest first. */
  readonly protocolVersions: readonly string[]
  readonly send: (request: RpcRequest, era: Era, http: () => Pick<Request, "headers" | "signal">) => Promise<SdkAnswer>
  readonly close: () => Promise<void>
}

const legacyVersions: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS)

/**
 * A revision that nobody knows goes to the modern leg, which has the answer for it. The handshake of the revisions before
 * 2026-07-28 names its own version, whatever the header says.
 */
export const eraOf = ({ method, params }: RpcRequest, versionHeader: string | undefined): Era => {
  if (versionHeader === undefined || legacyVersions.has(versionHeader)) return "legacy"
  return method === "initialize" && params?.["protocolVersion"] !== undefined ? "legacy" : "modern"
}

const endpoint = "http://docs.invalid/mcp"
const answerSchema = z.looseObject({ result: z.unknown().optional(), error: z.unknown().optional() })

const errorSchema = z.looseObject({ code: z.number(), message: z.string() })
const issuesSchema = z
  .array(z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
  .min(1)

const issuesIn = (message: string): z.infer<typeof issuesSchema> | undefined => {
  const start = message.indexOf("[")
  if (start === -1) return undefined
  try {
    return issuesSchema.safeParse(JSON.parse(message.slice(start))).data
  } catch {
    return undefined
  }
}

/**
 * The SDK calls params that fail its own schemas an internal or a parse error, and shows the validator's report as it is.
 * To the caller they are bad params, and the first of them is enough.
 */
const clarify = (value: unknown): unknown => {
  const error = errorSchema.parse(value)
  const [issue] = issuesIn(error.message) ?? []
  if (issue !== undefined)
    return { ...error, code: -32602, message: `Invalid params: ${issue.path.join(".")}: ${issue.message}` }
  return error.code === -32700 ? { ...error, code: -32602, message: "Invalid params" } : error
}

const readAnswer = async (response: Response): Promise<SdkAnswer> => {
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true)
    return { kind: "stream", response }
  const { result, error } = answerSchema.parse(await response.json())
  return error === undefined
    ? { kind: "result", result }
    : { kind: "error", status: response.status, error: clarify(error) }
}

// The SDK takes strings and integers for ids; any other is put back by whoever echoes it.
const sdkId = (id: RpcRequest["id"]): string | number =>
  typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : 0

/**
 * Speaks MCP through the official SDK, one fresh server a request: 2026-07-28 by its handler, the revisions before by its
 * transport with JSON answers, which the handler's own fallback does not give.
 */
export const createSdkExchange = async (
  factory: McpServerFactory,
  onError: (error: Error) => void,
): Promise<SdkExchange> => {
  const modern = createMcpHandler(factory, {
    legacy: "reject",
    onerror: onError,
  })

  const sendModern = async (body: object, headers: Headers, signal: AbortSignal | null): Promise<SdkAnswer> => {
    const own = new Headers(headers)
    own.set("accept", "application/json, text/event-stream")
    own.set("content-type", "application/json")
    own.delete("content-length")
    const request = new Request(endpoint, { method: "POST", headers: own, signal })
    return readAnswer(await modern.fetch(request, { parsedBody: body }))
  }

  const sendLegacy = async (body: object): Promise<SdkAnswer> => {
    const server = await factory({ era: "legacy" })
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    try {
      await server.connect(transport)
      const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" }
      const request = new Request(endpoint, { method: "POST", headers })
      return await readAnswer(await transport.handleRequest(request, { parsedBody: body }))
    } finally {
      await server.close()
    }
  }

  /** The SDK does not export its list of stateless revisions, but names them to whoever asks for an unknown one. */
  const askModernVersions = async (): Promise<string[]> => {
    const version = "unknown"
    const meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": {},
    }
    const body = { jsonrpc: "2.0", id: 0, method: "server/discover", params: { _meta: meta } }
    const answer = await sendModern(
      body,
      new Headers({ "mcp-protocol-version": version, "mcp-method": body.method }),
      null,
    )
    const { data } = z
      .looseObject({ data: z.looseObject({ supported: z.array(z.string()).min(1) }) })
      .parse(answer.kind === "error" ? answer.error : undefined)
    return data.supported
  }

  const modernVersions = await askModernVersions()
  return {
    protocolVersions: [...new Set([...modernVersions, ...SUPPORTED_PROTOCOL_VERSIONS])].sort().toReversed(),
    send: async ({ method, params, id }, era, http) => {
      const body = { jsonrpc: "2.0", id: sdkId(id), method, ...(params !== undefined && { params }) }
      if (era === "legacy") return sendLegacy(body)
      const { headers, signal } = http()
      return sendModern(body, headers, signal)
    },
    close: () => modern.close(),
  }
}
