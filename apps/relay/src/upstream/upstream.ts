import { isObject } from "@svc/common/json-object"
import { Agent } from "undici"
import { parseExact } from "./exact-json.ts"

/** One JSON-RPC call. */
type UpstreamCall = {
  readonly method: string
  readonly params: readonly unknown[]
  /** For the whole call, connecting included, in milliseconds. */
  readonly timeoutMs: number
  /** Largest answer, in bytes. */
  readonly maxAnswerBytes: number
}

/**
 * What came of a call. `started` tells whether the request may have left this process: it turns true before the first
 * byte is written, so false proves that the provider never saw the call. Error codes don't tell: a reset means both.
 */
export type UpstreamAnswer =
  | { readonly kind: "result"; readonly result: unknown }
  | {
      readonly kind: "rpc-error"
      readonly code: number
      readonly message: string
      readonly data: unknown
      /** The HTTP status that it came with. */
      readonly status: number
    }
  | { readonly kind: "http-error"; readonly status: number }
  | { readonly kind: "malformed" }
  | { readonly kind: "transport-error"; readonly started: boolean }
  | { readonly kind: "timeout"; readonly started: boolean }

export type Upstream = {
  readonly call: (call: UpstreamCall) => Promise<UpstreamAnswer>
  readonly close: () => Promise<void>
}

/** Reads a whole answer: a JSON-RPC error with our id counts whatever the HTTP status says, else the status counts. */
const readAnswer = (id: number, status: number, body: Uint8Array): UpstreamAnswer => {
  const answer = readRpc(id, status, body)
  const ok = status >= 200 && status < 300
  if (answer?.kind === "rpc-error" || (ok && answer !== undefined)) return answer
  return ok ? { kind: "malformed" } : { kind: "http-error", status }
}

const readRpc = (id: number, status: number, body: Uint8Array): UpstreamAnswer | undefined => {
  let answer: unknown
  try {
    answer = parseExact(body)
  } catch {
    return undefined
  }
  if (!isObject(answer) || answer["jsonrpc"] !== "2.0" || answer["id"] !== id) return undefined
  const { result, error = null } = answer
  if (error === null) return result === undefined ? undefined : { kind: "result", result }
  if (result !== undefined || !isObject(error)) return undefined
  const { code, message, data } = error
  if (!Number.isSafeInteger(code) || typeof code !== "number" || typeof message !== "string") return undefined
  return { kind: "rpc-error", code, message, data, status }
}

/**
 * Makes the one way to one provider: an agent of our own, that follows no redirect, retries nothing and takes no proxy
 * from the environment.
 */
export const createUpstream = (url: string): Upstream => {
  // HTTP/1.1 alone: one request a connection, so that `started` speaks of this request only. The call's own timer
  // bounds everything; the agent's would only cut earlier.
  const agent = new Agent({ allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 60_000 } })
  const { origin, pathname, search, username, password } = new URL(url)
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" }
  if (username !== "" || password !== "") {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    headers["authorization"] = `Basic ${Buffer.from(credentials).toString("base64")}`
  }
  let lastId = 0

  const call = ({ method, params, timeoutMs, maxAnswerBytes }: UpstreamCall): Promise<UpstreamAnswer> =>
    new Promise((resolve) => {
      const id = ++lastId
      const chunks: Buffer[] = []
      let size = 0
      let status = 0
      let started = false
      let settled = false
      let abort: ((reason: Error) => void) | undefined
      const settle = (answer: UpstreamAnswer): void => {
        if (settled) return
        settled = true
        clearTimeout(timer)
        resolve(answer)
        abort?.(new Error("the call is over"))
      }
      const timer = setTimeout(() => settle({ kind: "timeout", started }), timeoutMs)
      agent.dispatch(
        {
          origin,
          path: pathname + search,
          method: "POST",
          headers,
          body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
        },
        {
          onRequestStart: (controller) => {
            // Over before it began (or about to be written a second time): an abort here keeps every byte back.
            if (settled || started) return controller.abort(new Error("the call is over"))
            started = true
            abort = (reason) => controller.abort(reason)
          },
          onResponseStart: (_controller, statusCode) => {
            status = statusCode
          },
          onResponseData: (_controller, chunk) => {
            size += chunk.length
            if (size > maxAnswerBytes) settle(readAnswer(id, status, new Uint8Array(0)))
            else chunks.push(chunk)
          },
          onResponseEnd: () => {
            abort = undefined
            settle(readAnswer(id, status, chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
          },
          onResponseError: () => {
            abort = undefined
            settle({ kind: "transport-error", started })
          },
        },
      )
    })

  return { call, close: () => agent.destroy() }
}
