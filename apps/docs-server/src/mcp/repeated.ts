import { isObject, type JsonObject } from "@svc/common/json-object"
import { LRUCache } from "lru-cache"
import type { AnswerRpc, RpcAnswer } from "./sdk.ts"

// A larger request is rare, and would take more memory as a key than its response is worth.
const maxKeyLength = 4096
/** The headers that a response depends on. */
export const readHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"]
/** A trace changes no response, and its fields are new in each request. */
const traceFields = new Set(["traceparent", "tracestate", "baggage"])

const withoutTrace = (params: JsonObject | undefined): JsonObject | undefined => {
  const meta = params?.["_meta"]
  if (!isObject(meta)) return params
  return { ...params, _meta: Object.fromEntries(Object.entries(meta).filter(([name]) => !traceFields.has(name))) }
}

/**
 * Answers repeated requests from memory. The server has no state and only reads, so a response depends on the headers, the
 * method, the params and the pages alone.
 * @param pages another value whenever the pages have changed
 */
export const rememberAnswers = (answer: AnswerRpc, pages: () => unknown): AnswerRpc => {
  const kept = new LRUCache<string, RpcAnswer & { readonly text: string }>({
    max: 2000,
    maxSize: 32 * 2 ** 20,
    sizeCalculation: ({ text }, key) => text.length + key.length,
  })
  let current = pages()
  return async (request, caller) => {
    const { method, params } = request
    const headers = readHeaders.map((name) => caller.headers.get(name))
    const key = JSON.stringify([headers, method, withoutTrace(params)])
    if (pages() !== current) {
      current = pages()
      kept.clear()
    }
    const known = kept.get(key)
    if (known !== undefined) return known
    const before = current
    const fresh = await answer(request, caller)
    if ("text" in fresh && !fresh.isError && key.length <= maxKeyLength && pages() === before) kept.set(key, fresh)
    return fresh
  }
}
