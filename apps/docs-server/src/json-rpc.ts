import { z } from "zod"

/** One JSON-RPC 2.0 request or notification. */
export const jsonRpcRequest = z.looseObject({
  jsonrpc: z.literal("2.0").meta({ description: "The protocol's version." }),
  id: z
    .union([z.string(), z.number(), z.null()])
    .optional()
    .meta({ description: "Comes back with the answer; a message without it is a notification." }),
  method: z.string().meta({ description: "An MCP method such as initialize, tools/list or tools/call." }),
  params: z.record(z.string(), z.unknown()).optional().meta({ description: "As the method wants them." }),
})

/** A success or an error, never both. */
export const jsonRpcResponse = z.looseObject({
  jsonrpc: z.literal("2.0").optional(),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
})

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
  /** The id as it was sent, to be echoed: 1.0 and numbers past 2^53 keep their digits. */
  readonly idText: string
}

/** Far more than any call needs. An object of a hundred thousand keys costs its readers half a second. */
export const mostMembers = 1000

/** Whether a text names more members than a call may have: counts the colons that stand behind a string. */
export const hasTooManyMembers = (text: string): boolean => {
  let members = 0
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) {
    let before = at - 1
    while (/\s/.test(text.charAt(before))) before--
    if (text[before] === '"' && ++members > mostMembers) return true
  }
  return false
}

/** What a body is: a request to answer, something that wants no answer, or no JSON-RPC at all. */
export type Message = RpcRequest | "silent" | "invalid"

const plainId = /"id"\s*:\s*(?:0|-?[1-9]\d*)\s*[,}]/
// A key with its colon, another string, a bracket, or a number or word.
const pieces = /"(?:[^"\\]+|\\.)*"(?:\s*:)?|[{}[\]]|[^\s",:{}[\]]+/g

/** The root's last `id` as it is written. The text is walked, not parsed with a reviver: nesting must not cost a stack. */
const writtenId = (text: string): string => {
  let depth = 0
  let isId = false
  let written = "null"
  for (const [piece] of text.matchAll(pieces)) {
    if (piece === "{" || piece === "[") depth++
    else if (piece === "}" || piece === "]") depth--
    else if (depth === 1 && piece.endsWith(":")) isId = JSON.parse(piece.slice(0, -1)) === "id"
    else if (depth === 1 && isId) written = piece
  }
  return written
}

// `1` is by far the usual way to write an id; anything else that JSON allows for a number is looked up in the text.
const idTextOf = (text: string, id: string | number | null): string =>
  typeof id !== "number" || (Number.isSafeInteger(id) && plainId.test(text)) ? JSON.stringify(id) : writtenId(text)

export const readMessage = (text: string, value: unknown): Message => {
  const request = jsonRpcRequest.safeParse(value)
  if (!request.success) return peerResponse.safeParse(value).success ? "silent" : "invalid"
  const { id, method, params } = request.data
  if (id === undefined) return "silent"
  return { method, params, id, idText: idTextOf(text, id) }
}
