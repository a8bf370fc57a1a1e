import { z } from "@svc/openapi"

/** One JSON-RPC 2.0 request or notification. */
export const jsonRpcRequest = z
  .looseObject({
    jsonrpc: z.literal("2.0").meta({ description: "The protocol's version." }),
    id: z
      .union([z.string(), z.number(), z.null()])
      .optional()
      .meta({ description: "Returned with the response; without it the message is a notification." }),
    method: z.string().meta({ description: "An MCP method such as initialize, tools/list or tools/call." }),
    params: z.record(z.string(), z.unknown()).optional().meta({ description: "Parameters of the method." }),
  })
  .openapi("JsonRpcRequest")

/** A success or an error, never both. */
export const jsonRpcResponse = z
  .looseObject({
    jsonrpc: z.literal("2.0").optional(),
    id: z.union([z.string(), z.number(), z.null()]).optional(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .openapi("JsonRpcResponse")

const peerResponse = z.union([
  z.looseObject({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.number(), z.null()]),
    result: z.unknown(),
    method: z.undefined().optional(),
  }),
  z.looseObject({
    jsonrpc: z.literal("2.0"),
    error: z.looseObject({ code: z.number(), message: z.string() }),
    method: z.undefined().optional(),
  }),
])

export type RpcRequest = {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>> | undefined
  readonly id: string | number | null
}

/**
 * Limits of a message, many times what a call needs. The SDK's validator reports an issue for each value that doesn't fit,
 * so a hostile message costs as much as it has values.
 */
export const messageBounds = { bytes: 65_536, values: 500, depth: 32 } as const

/** What a body is: a request, a message that gets no response, or not JSON-RPC. */
export const readMessage = (value: unknown): RpcRequest | "silent" | "invalid" => {
  const request = jsonRpcRequest.safeParse(value)
  if (!request.success) return peerResponse.safeParse(value).success ? "silent" : "invalid"
  const { id, method, params } = request.data
  return id === undefined ? "silent" : { method, params, id }
}

// Nearly all ids are plain integers, and searching the text for others is much faster than parsing it again.
const oddId = /\\u|"id"\s*:\s*(?:-0|-?\d*[.eE])/

/** The root's last `id` as the client wrote it: 1.0 and numbers past 2^53 keep their digits. */
export const writtenId = (text: string, id: RpcRequest["id"]): string => {
  if (typeof id !== "number" || (Number.isSafeInteger(id) && !oddId.test(text))) return JSON.stringify(id)
  const written = new Map<unknown, string>()
  const root = JSON.parse(text, function (key, value, { source }) {
    if (key === "id" && source !== undefined) written.set(this, source)
    return value
  })
  return written.get(root) ?? "null"
}
