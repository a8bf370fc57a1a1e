import { mostDepth } from "@svc/mcp"
import { z } from "@svc/openapi"

// Of a literal zod-openapi makes an enum.
const version = z.string().meta({ const: "2.0", description: "The protocol's version." })

export const jsonRpcRequest = z
  .looseObject({
    jsonrpc: version,
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
    jsonrpc: version.optional(),
    id: z.union([z.string(), z.number(), z.null()]).optional(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .openapi("JsonRpcResponse")

/**
 * Limits of a message, many times what a call needs. The SDK's validator reports an issue for each value that doesn't fit,
 * so a hostile message costs as much as it has values.
 */
export const messageBounds = { bytes: 65_536, values: 500, depth: mostDepth } as const
