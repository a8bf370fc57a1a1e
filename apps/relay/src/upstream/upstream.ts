import { isObject } from "@svc/common/json-object"
import { duplicateKey } from "@svc/common/json-text"
import { Agent } from "undici"
import { parseExact } from "./exact-json.ts"
import { decidesByStatus } from "./proof.ts"
import { encodingsOf, unpack } from "./unpack.ts"

/** One JSON-RPC call. */
type UpstreamCall = {
  readonly method: string
  readonly params: readonly unknown[]
  /** For the whole call, connecting included, in milliseconds. */
  readonly timeoutMs: number
  /** Maximum size of the response, in bytes: as it arrives, and unpacked. */
  readonly maxResponseBytes: number
  /** The request that it is for, in the log. */
  readonly requestId?: string | undefined
}

/**
 * The outcome of a call. `started` is whether the request may have left this process: it becomes true before the first byte is
 * written, so false proves that the provider never saw the call. An error code can't prove that: a reset may come before or after.
 */
export type UpstreamResponse =
  | { readonly kind: "result"; readonly result: unknown }
  | {
      readonly kind: "rpc-error"
      readonly code: number
      readonly message: string
      readonly data: unknown
      /** The HTTP status of the response. */
      readonly status: number
      /** The whole response, parsed. */
      readonly body: unknown
    }
  | {
      readonly kind: "http-error"
      readonly status: number
      /** What its Retry-After says. */
      readonly retryAfterSeconds?: number | undefined
    }
  | { readonly kind: "malformed" }
  | { readonly kind: "transport-error"; readonly started: boolean }
  | { readonly kind: "timeout"; readonly started: boolean }

type Report = (reason: string, requestId?: string) => void

export type Upstream = {
  readonly call: (call: UpstreamCall) => Promise<UpstreamResponse>
  /** Reports for the log why a result is invalid. `call` itself reports every failure except a JSON-RPC error. */
  readonly report: Report
  readonly close: () => Promise<void>
}

type Head = { readonly status: number; readonly retryAfterSeconds: number | undefined }

/** The seconds of a Retry-After: its number, or its date after the response's own, whatever this machine's clock says. */
const secondsOf = (retryAfter: unknown, date: unknown): number | undefined => {
  const text = String(retryAfter)
  if (/^\d+$/.test(text)) return Number(text)
  const ms = text.endsWith(" GMT") ? Date.parse(text) - Date.parse(String(date)) : NaN
  return Number.isNaN(ms) ? undefined : Math.ceil(ms / 1000)
}

/**
 * Reads a whole response. Some statuses count whatever the body says. With any other status a JSON-RPC error with our id counts
 * as that error, and with 2xx a result as that result.
 */
const readResponse = (id: number, { status, retryAfterSeconds }: Head, body: Uint8Array): UpstreamResponse => {
  const response = decidesByStatus(status) ? undefined : readRpc(id, status, body)
  const ok = status >= 200 && status < 300
  if (response?.kind === "rpc-error" || (ok && response !== undefined)) return response
  return ok ? { kind: "malformed" } : { kind: "http-error", status, retryAfterSeconds }
}

/** Why a response is a failure. The texts of JSON-RPC errors go to the caller. */
const reasonOf = (response: UpstreamResponse): string | undefined => {
  if (response.kind === "http-error") return `HTTP status ${response.status}`
  return response.kind === "malformed" ? "the body isn't a JSON-RPC response to the call" : undefined
}

const readRpc = (id: number, status: number, bytes: Uint8Array): UpstreamResponse | undefined => {
  let body: unknown
  try {
    body = parseExact(bytes)
  } catch {
    return undefined
  }
  if (!isObject(body) || body["jsonrpc"] !== "2.0" || body["id"] !== id) return undefined
  const { result, error = null } = body
  if (error === null) return result === undefined ? undefined : { kind: "result", result }
  if (result !== undefined || !isObject(error)) return undefined
  const { code, message, data } = error
  if (!Number.isSafeInteger(code) || typeof code !== "number" || typeof message !== "string") return undefined
  // Of two members of one name only the last was parsed, and the other one may say something else.
  if (duplicateKey(Buffer.from(bytes).toString()) !== undefined) return undefined
  return { kind: "rpc-error", code, message, data, status, body }
}

/** The Authorization header for the user and password of a provider's URL, if it has them. */
export const credentialsOf = (url: string): Readonly<Record<string, string>> => {
  const { username, password } = new URL(url)
  if (username === "" && password === "") return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` }
}

/**
 * Makes the client of one provider. It has its own agent, which follows no redirect, retries nothing and uses no proxy from the
 * environment.
 * @param report called with the reason of each failure except a JSON-RPC error, for the log
 */
export const createUpstream = (url: string, report: Report = () => {}): Upstream => {
  // HTTP/1.1 only: a connection carries one request at a time, so `started` is about this request. The call's timer bounds
  // everything; the agent's timers would only stop it earlier.
  const agent = new Agent({ allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 60_000 } })
  const { origin, pathname, search } = new URL(url)
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    "accept-encoding": "identity",
    ...credentialsOf(url),
  }
  let lastId = 0

  const call = ({ method, params, timeoutMs, maxResponseBytes, requestId }: UpstreamCall): Promise<UpstreamResponse> =>
    new Promise((resolve) => {
      const id = ++lastId
      const chunks: Buffer[] = []
      let size = 0
      let head: Head = { status: 0, retryAfterSeconds: undefined }
      let encodings: readonly string[] = []
      let started = false
      let settled = false
      let abort: ((reason: Error) => void) | undefined
      const settle = (response: UpstreamResponse, reason = reasonOf(response)): void => {
        if (settled) return
        settled = true
        clearTimeout(timer)
        if (reason !== undefined) report(reason, requestId)
        resolve(response)
        abort?.(new Error("the call is over"))
      }
      // A status that counts whatever the body says counts without its body, too.
      const fail = (kind: "timeout" | "transport-error", reason: string): void => {
        if (decidesByStatus(head.status)) settle({ kind: "http-error", ...head })
        else settle({ kind, started }, reason)
      }
      const giveUp = (reason: string): void => settle(readResponse(id, head, new Uint8Array(0)), reason)
      const timer = setTimeout(() => fail("timeout", `no response within ${Math.round(timeoutMs)} ms`), timeoutMs)
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
            // The call is over, or is about to be written a second time: an abort here holds every byte back.
            if (settled || started) return controller.abort(new Error("the call is over"))
            started = true
            abort = (reason) => controller.abort(reason)
          },
          onResponseStart: (_controller, statusCode, responseHeaders) => {
            const { date, "retry-after": retryAfter } = responseHeaders
            head = { status: statusCode, retryAfterSeconds: secondsOf(retryAfter, date) }
            encodings = encodingsOf(responseHeaders["content-encoding"])
          },
          onResponseData: (_controller, chunk) => {
            size += chunk.length
            if (size > maxResponseBytes) giveUp(`the body is over ${maxResponseBytes} bytes`)
            else chunks.push(chunk)
          },
          onResponseEnd: () => {
            abort = undefined
            const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
            if (encodings.length === 0 || decidesByStatus(head.status)) return settle(readResponse(id, head, body))
            unpack(body, encodings, maxResponseBytes).then(
              (unpacked) => settle(readResponse(id, head, unpacked)),
              (error: unknown) => giveUp(error instanceof Error ? error.message : "the body can't be unpacked"),
            )
          },
          onResponseError: (_controller, error) => {
            abort = undefined
            // The parser's error has a code that may be undefined.
            fail("transport-error", "code" in error && typeof error.code === "string" ? error.code : error.name)
          },
        },
      )
    })

  return { call, report, close: () => agent.destroy() }
}
