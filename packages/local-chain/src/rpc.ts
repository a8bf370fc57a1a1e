import { isObject } from "@svc/common/json-object"

// The JSON-RPC errors of this node: the protocol's and those that a Solana validator adds.
const codes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  blockCleanedUp: -32001,
  preflightFailure: -32002,
  signatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  slotSkipped: -32007,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const

export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(kind: keyof typeof codes, message: string, data?: unknown) {
    super(message)
    this.name = "RpcError"
    this.code = codes[kind]
    this.data = data
  }
}

const invalidRequest = (reason: string) => new RpcError("invalidRequest", `Invalid request: ${reason}`)
export const invalidParams = (message: string) => new RpcError("invalidParams", message)

export type Method = (params: readonly unknown[]) => unknown

const maxBatch = 1000

type Id = string | number | bigint | null
type Answer = { jsonrpc: "2.0"; id: Id } & (
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } }
)

const isId = (value: unknown): value is Id =>
  value === null || typeof value === "string" || typeof value === "bigint" || Number.isSafeInteger(value)

/** The response to a request that failed. Anything but an RpcError is a bug of this program. */
export const errorResponse = (id: Id, cause: unknown): Answer => {
  const error = cause instanceof RpcError ? cause : new RpcError("internal", "Internal error")
  const { code, message, data } = error
  return { jsonrpc: "2.0", id, error: data === undefined ? { code, message } : { code, message, data } }
}

/** Serves these methods by JSON-RPC 2.0: accepts a request or a batch, and returns its response, or undefined for notifications. */
export const createRpc = (methods: Readonly<Record<string, Method>>) => {
  const table = new Map(Object.entries(methods))

  const answer = (request: unknown): Answer | undefined => {
    let id: Id = null
    try {
      if (!isObject(request)) throw invalidRequest("not an object")
      const { id: given, jsonrpc, method: name, params } = request
      if (given !== undefined && !isId(given)) throw invalidRequest("id must be a string, an integer or null")
      id = given ?? null
      if (jsonrpc !== "2.0") throw invalidRequest('jsonrpc must be "2.0"')
      if (typeof name !== "string") throw invalidRequest("no method")
      const method = table.get(name)
      if (method === undefined) throw new RpcError("methodNotFound", "Method not found")
      const list = params ?? []
      if (!Array.isArray(list)) throw invalidParams("Invalid params: an array is expected")
      const result = method(list)
      return given === undefined ? undefined : { jsonrpc: "2.0", id, result }
    } catch (error) {
      return isNotification(request) ? undefined : errorResponse(id, error)
    }
  }

  return (request: unknown): Answer | Answer[] | undefined => {
    if (!Array.isArray(request)) return answer(request)
    if (request.length === 0 || request.length > maxBatch) {
      return errorResponse(null, invalidRequest(`a batch holds 1 to ${maxBatch} calls`))
    }
    const answers = request.map(answer).filter((one) => one !== undefined)
    return answers.length === 0 ? undefined : answers
  }
}

// A valid call without an id gets no response, not even an error. Anything invalid gets one.
const isNotification = (request: unknown): boolean =>
  isObject(request) && !("id" in request) && request["jsonrpc"] === "2.0" && typeof request["method"] === "string"
