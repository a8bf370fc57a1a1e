import { isObject, type JsonObject, parseJson } from "@svc/common/json-object"
import { sourceAt } from "@svc/common/json-text"

/** The codes of JSON-RPC for what isn't a message at all. */
export const faultCodes = { parse: -32_700, invalid: -32_600, params: -32_602 } as const

/** How deeply a message may be nested. */
export const mostDepth = 32

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

/** Null stands for what a client has not set, and so does [], as which PHP writes an empty object. */
export const isUnset = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0)

/** Leaves out what is unset, at every depth; only capabilities are required and may be empty. */
const withoutUnset = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUnset)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (!isUnset(member)) return [[name, withoutUnset(member)]]
      return /capabilities$/i.test(name) ? [[name, {}]] : []
    }),
  )
}

/** Some frameworks send an object as JSON text, and null or an empty text where there is none. */
const objectIn = (given: unknown): unknown => {
  const read = typeof given === "string" ? (given.trim() === "" ? null : parseJson(given)) : given
  return isUnset(read) ? undefined : isObject(read) ? read : given
}

/** The params of a request. A tool reads its arguments by their schema, which says what null is. */
const tidied = ({ arguments: args, ...params }: JsonObject): JsonObject => {
  const given = objectIn(args)
  const rest = withoutUnset({ ...params, _meta: objectIn(params["_meta"]) ?? null })
  return { ...(isObject(rest) && rest), ...(given !== undefined && { arguments: given }) }
}

/** Reads a parsed JSON-RPC 2.0 message. Null, an empty array and a missing member are the same where MCP has an optional one. */
export const readMessage = (value: unknown): Message => {
  if (Array.isArray(value)) return invalid("Batches are not served: send one JSON-RPC message at a time.")
  if (!isObject(value)) return invalid("A JSON-RPC message is a JSON object.")
  const { jsonrpc, id, method, params: sent, ...rest } = value
  if (jsonrpc !== "2.0") return invalid('A JSON-RPC message has "jsonrpc": "2.0".')
  if (id !== undefined && !isId(id)) return invalid("id must be a string or a number.")
  if (method === undefined && ("result" in rest || "error" in rest)) {
    const isWhole = isObject(rest["error"]) || id !== undefined
    return isWhole ? { kind: "silent", message: value } : invalid("A response has an id.")
  }
  if (typeof method !== "string") return invalid("method must be a string, such as tools/list.")
  const given = objectIn(sent)
  if (given !== undefined && !isObject(given)) return invalid("params must be an object.")
  const params = given && tidied(given)
  if (id !== undefined) return { kind: "request", request: { id, method, params } }
  return { kind: "silent", message: { jsonrpc, method, ...(params !== undefined && { params }) } }
}

/**
 * The id of a parsed message, or the one at a path in it, as its client wrote it, and `null` if it has none: 1.0 and numbers past
 * 2^53 keep their digits.
 */
export const writtenId = (text: string, value: unknown, path: readonly string[] = ["id"]): string => {
  const id = path.reduce((at, name) => (isObject(at) ? at[name] : undefined), value)
  if (typeof id === "string") return JSON.stringify(id)
  return typeof id === "number" && Number.isFinite(id) ? (sourceAt(text, path) ?? "null") : "null"
}
