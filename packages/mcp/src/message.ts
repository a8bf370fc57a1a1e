import { isObject, type JsonObject, parseJson } from "@svc/common/json-object"
import { sourceAt } from "@svc/common/json-text"

/** The codes of JSON-RPC for what isn't a message at all. */
export const faultCodes = { parse: -32_700, invalid: -32_600, params: -32_602 } as const

/** A request as its client wrote it. */
export type RpcRequest = {
  readonly method: string
  readonly params: JsonObject | undefined
  readonly id: string | number | null
}

/** What a JSON text is: a request, a message that gets no response, or none. `reason` says why. */
export type Message =
  | { readonly kind: "request"; readonly request: RpcRequest }
  | { readonly kind: "silent"; readonly message: JsonObject }
  | { readonly kind: "invalid"; readonly reason: string }

const isId = (id: unknown): id is RpcRequest["id"] =>
  id === null || typeof id === "string" || (typeof id === "number" && Number.isFinite(id))

const invalid = (reason: string): Message => ({ kind: "invalid", reason })

/** Null stands for what a client has not set, at every depth but in a tool's arguments: these have a schema. */
const withoutNulls = (value: unknown, isParams = false): unknown => {
  if (Array.isArray(value)) return value.map((one) => withoutNulls(one))
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(
    members.map(([name, member]) => [name, isParams && name === "arguments" ? member : withoutNulls(member)]),
  )
}

/** Some frameworks send the arguments of a tool as JSON text. */
const withArguments = (params: JsonObject): JsonObject => {
  const { arguments: given } = params
  const read = typeof given === "string" ? parseJson(given) : undefined
  return isObject(read) ? { ...params, arguments: read } : params
}

/** Reads a parsed JSON-RPC 2.0 message. Null and a missing member are the same where MCP has an optional one. */
export const readMessage = (value: unknown): Message => {
  if (Array.isArray(value)) return invalid("Batches are not served: send one JSON-RPC message at a time.")
  if (!isObject(value)) return invalid("A JSON-RPC message is a JSON object.")
  const { jsonrpc, id, method, params: given, ...rest } = value
  if (jsonrpc !== "2.0") return invalid('A JSON-RPC message has "jsonrpc": "2.0".')
  if (id !== undefined && !isId(id)) return invalid("id must be a string or a number.")
  if (method === undefined && ("result" in rest || "error" in rest)) {
    const isWhole = isObject(rest["error"]) || id !== undefined
    return isWhole ? { kind: "silent", message: value } : invalid("A response has an id.")
  }
  if (typeof method !== "string") return invalid("method must be a string, such as tools/list.")
  if (given !== undefined && given !== null && !isObject(given)) return invalid("params must be an object.")
  const tidy = withoutNulls(given ?? {}, true)
  const params = isObject(given) && isObject(tidy) ? withArguments(tidy) : undefined
  if (id !== undefined) return { kind: "request", request: { id, method, params } }
  return { kind: "silent", message: { jsonrpc, method, ...(params !== undefined && { params }) } }
}

/** The id of a parsed message as its client wrote it, and `null` if it has none: 1.0 and numbers past 2^53 keep their digits. */
export const writtenId = (text: string, value: unknown): string => {
  const id = isObject(value) ? value["id"] : undefined
  if (typeof id === "string") return JSON.stringify(id)
  return typeof id === "number" && Number.isFinite(id) ? (sourceAt(text, ["id"]) ?? "null") : "null"
}
