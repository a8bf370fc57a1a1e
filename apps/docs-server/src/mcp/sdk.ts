import {
  createMcpHandler,
  type JSONRPCMessage,
  isJSONRPCRequest,
  type McpServerFactory,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from "@modelcontextprotocol/server"
import { isObject } from "@svc/common/json-object"
import { allRevisions, ownError, ownResult, type RpcError, type RpcRequest, unfitMeta } from "@svc/mcp"
import { z } from "zod"

/** The response to one request: JSON text in which `idHole` stands for the request's id, or a stream of events. */
export type RpcAnswer =
  | { readonly status: number; readonly isError: boolean; readonly text: string }
  | { readonly stream: ReadableStream<Uint8Array> }

export type Caller = Pick<Request, "headers" | "signal"> & {
  /** Whether its trace fields decide which traces are kept. */
  readonly trustsTraces: () => boolean
}

export type AnswerRpc = (
  request: Omit<RpcRequest, "id">,
  caller: Pick<Caller, "headers" | "signal">,
) => Promise<RpcAnswer>

const legacyVersions: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS)

/**
 * The SDK's two ways to serve: `modern` is 2026-07-28, and has the error for an unknown revision. `initialize` belongs to the
 * earlier revisions, whatever the header says.
 */
export const eraOf = (
  { method, params }: Pick<RpcRequest, "method" | "params">,
  { headers }: Pick<Request, "headers">,
): "legacy" | "modern" => {
  const version = headers.get("mcp-protocol-version")
  const isLegacy = version === null || legacyVersions.has(version)
  return isLegacy || (method === "initialize" && params?.["protocolVersion"] !== undefined) ? "legacy" : "modern"
}

const endpoint = "http://docs.invalid/mcp"
const jsonHeaders = { accept: "application/json, text/event-stream", "content-type": "application/json" }

/** The id of each request for the SDK, which accepts only strings and integers. No text of a page has it. */
const standIn = `id-${crypto.randomUUID()}`
const idHole = JSON.stringify(standIn)

/** A response's text with the id of its request, as JSON. */
export const withId = (text: string, id: string): string => {
  const at = text.lastIndexOf(idHole)
  return text.slice(0, at) + id + text.slice(at + idHole.length)
}

/** The same for a stream, whose events come whole. */
export const streamWithId = (events: ReadableStream<Uint8Array>, id: string): ReadableStream<Uint8Array> =>
  events.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (event, controller) => {
        const text = Buffer.from(event).toString()
        controller.enqueue(Buffer.from(text.replaceAll(idHole, () => id)))
      },
    }),
  )

const errorText = (error: RpcError): string =>
  `{"jsonrpc":"2.0","id":${idHole},"error":${JSON.stringify(ownError(error))}}`

const sdkResponse = z.object({
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
  result: z.unknown().optional(),
})

const refusal = z.object({ error: z.object({ data: z.object({ supported: z.array(z.string()).min(1) }) }) })

/** What a stateless request carries. */
const envelopeOf = (version: string) => ({
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {},
})

/**
 * The request with the revision that its header names, if that isn't served and `_meta` names none. The SDK would ask for the
 * missing `_meta`; now it says which revisions are served.
 */
const withHeaderVersion = (
  { params, ...request }: Omit<RpcRequest, "id">,
  { headers }: Pick<Request, "headers">,
  served: readonly string[],
): Omit<RpcRequest, "id"> => {
  const version = headers.get("mcp-protocol-version")
  if (version === null || served.includes(version)) return { ...request, params }
  const meta = isObject(params?.["_meta"]) ? params["_meta"] : {}
  return { ...request, params: { ...params, _meta: { ...envelopeOf(version), ...meta } } }
}

/** All revisions, newest first. The SDK doesn't export the stateless ones, but its error for an unknown revision lists them. */
const readVersions = async (answer: AnswerRpc): Promise<readonly string[]> => {
  const method = "server/discover"
  const headers = { "mcp-protocol-version": "unknown", "mcp-method": method }
  const answered = await answer(
    { method, params: { _meta: envelopeOf("unknown") } },
    new Request(endpoint, { headers }),
  )
  const { error } = refusal.parse("text" in answered ? JSON.parse(answered.text) : undefined)
  return allRevisions(error.data.supported)
}

/** Answers JSON-RPC requests by the official SDK, with a new server for each. */
export const createSdk = async (factory: McpServerFactory, onError: (error: Error) => void) => {
  const modern = createMcpHandler(factory, { legacy: "reject", onerror: onError })

  // The SDK's HTTP transport would write the message for us to parse.
  const answerLegacy = async (message: JSONRPCMessage): Promise<RpcAnswer> => {
    const server = await factory({ era: "legacy" })
    const answered = Promise.withResolvers<RpcAnswer>()
    const transport: Transport = {
      start: async () => {},
      close: async () => {},
      send: async (sent) => {
        if ("result" in sent) answered.resolve({ status: 200, isError: false, text: JSON.stringify(sent) })
        else if ("error" in sent) answered.resolve({ status: 200, isError: true, text: errorText(sent.error) })
      },
    }
    try {
      await server.connect(transport)
      transport.onmessage?.(message)
      return await answered.promise
    } finally {
      await server.close()
    }
  }

  const answerModern = async (body: object, http: Pick<Caller, "headers" | "signal">): Promise<RpcAnswer> => {
    const headers = new Headers({ ...Object.fromEntries(http.headers), ...jsonHeaders })
    headers.delete("content-length")
    const request = new Request(endpoint, { method: "POST", headers, signal: http.signal })
    const response = await modern.fetch(request, { parsedBody: body })
    if (response.body !== null && response.headers.get("content-type") === "text/event-stream")
      return { stream: response.body }
    const [status, text] = [response.status, await response.text()]
    // No string of a result has these names without escapes.
    if (!/"(?:error|supportedVersions)":/.test(text)) return { status, isError: false, text }
    const { error, result } = sdkResponse.parse(JSON.parse(text))
    if (error !== undefined) return { status, isError: true, text: errorText(error) }
    return {
      status,
      isError: false,
      text: `{"jsonrpc":"2.0","id":${idHole},"result":${JSON.stringify(ownResult(result))}}`,
    }
  }

  const answer: AnswerRpc = async (request, http) => {
    const { method, params } = request
    const body = { jsonrpc: "2.0" as const, id: standIn, method, ...(params !== undefined && { params }) }
    if (eraOf(request, http) === "modern") return answerModern(body, http)
    if (isJSONRPCRequest(body)) return answerLegacy(body)
    return { status: 200, isError: true, text: errorText(unfitMeta) }
  }

  const protocolVersions = await readVersions(answer)
  return {
    answer: ((request, http) => answer(withHeaderVersion(request, http, protocolVersions), http)) satisfies AnswerRpc,
    protocolVersions,
    close: () => modern.close(),
  }
}
