import type { Clock } from "./clock.ts"
export { systemClock } from "./clock.ts"
export { ownError, SvcError } from "./error.ts"
import { ownError, SvcError } from "./error.ts"
import { isObject, parseJson, textOf } from "./json.ts"

export type Call = {
  readonly url: string
  readonly method?: "GET" | "POST" | "PUT" | "DELETE"
  /** A key or a token, sent in the Authorization header only. */
  readonly bearer?: string | undefined
  /** More request headers, in lower case. `accept` defaults to application/json. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** A complete response of any status; `body` is undefined if it isn't JSON. */
export type Answer = {
  readonly url: string
  readonly status: number
  readonly header: (name: string) => string | null
  readonly body: unknown
}

/** What the library needs of `fetch`: the global one is such a function. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Record<string, string>
    readonly body?: string
    readonly redirect: "manual"
    readonly signal: AbortSignal
  },
) => Promise<{
  readonly status: number
  readonly headers: Pick<Headers, "get">
  readonly text: () => Promise<string>
  /** Read in parts, as they come, by who follows changes. */
  readonly body: {
    readonly getReader: () => {
      readonly read: () => Promise<{ readonly done?: boolean | undefined; readonly value?: Uint8Array | undefined }>
    }
  } | null
}>

const exchange = async (fetch: Fetch, call: Call, signal: AbortSignal): Promise<Answer> => {
  const response = await fetch(call.url, {
    method: call.method ?? "GET",
    headers: {
      accept: "application/json",
      // `fetch` would reject a line break, or a sign that was copied with the key, by an error that shows the key.
      ...(call.bearer && { authorization: `Bearer ${encodeURI(call.bearer.trim())}` }),
      ...(call.body !== undefined && { "content-type": "application/json" }),
      ...call.headers,
    },
    // Undefined without a body.
    body: JSON.stringify(call.body),
    // A key or a transaction never follows a redirect. Cloudflare Workers don't take "error".
    redirect: "manual",
    signal,
  })
  const text = await response.text()
  return { url: call.url, status: response.status, header: (name) => response.headers.get(name), body: parseJson(text) }
}

/** Sends a request and reads the complete response. Throws SvcError: `network-error`, `timeout`, `aborted`. */
export const request = async (fetch: Fetch | undefined, clock: Clock, call: Call): Promise<Answer> => {
  const where = new URL(call.url).origin
  const throwIfAborted = (): void => {
    if (call.signal?.aborted) throw ownError("aborted", "Aborted")
  }
  throwIfAborted()
  const leaving = new AbortController()
  const leave = (): void => leaving.abort()
  call.signal?.addEventListener("abort", leave)
  let isLate = false
  const expire = (): void => {
    isLate = !leaving.signal.aborted
    leave()
  }
  void clock.sleep(call.timeoutMs, leaving.signal).then(expire)
  try {
    // The global one is looked up at each call, because a page may replace it.
    return await exchange(fetch ?? globalThis.fetch, call, leaving.signal)
  } catch (cause) {
    if (isLate) {
      throw ownError("timeout", `${where} sent no response in ${call.timeoutMs / 1000} s`, { retryable: true })
    }
    throwIfAborted()
    throw ownError("network-error", `${where} can't be reached`, { retryable: true, cause })
  } finally {
    // Ends the wait too. The response has been read.
    leave()
    call.signal?.removeEventListener("abort", leave)
  }
}

/** The error that a response of any of the services describes. */
export const errorOf = ({ url, status, header, body }: Answer): SvcError => {
  // The documentation server wraps its fields in `error`.
  const whole = isObject(body) ? body : {}
  const fields = isObject(whole["error"]) ? whole["error"] : whole
  const { retryable } = fields
  const code = textOf(fields, "code")
  // The platform has `error` and `request_id`, the relay `message` and `requestId`.
  const message = textOf(fields, "message") ?? textOf(fields, "error")
  const seconds = Number(header("retry-after") ?? -1)
  const state = textOf(fields, "submissionState")
  const known = code !== undefined && message !== undefined
  return new SvcError({
    status,
    code: known ? code : "unexpected-answer",
    message: known ? message : `${url} sent ${status} with a body that can't be read`,
    hint: textOf(fields, "hint"),
    docs: textOf(fields, "docs"),
    // A redirect, whose status is 0 in browsers, is often that of a network where one has to log in. CDNs have statuses of their
    // own for a server that they don't reach, from 520 on.
    retryable: typeof retryable === "boolean" ? retryable : /^(?:0|30.|408|429|5..)$/.test(`${status}`),
    // None of the services asks for more than an hour. A proxy's days would hold a call without a signal for so long.
    retryAfterMs: seconds >= 0 && seconds <= 3600 ? seconds * 1000 : undefined,
    requestId: textOf(fields, "requestId") ?? textOf(fields, "request_id") ?? header("x-request-id") ?? undefined,
    submissionState: state === "not_submitted" || state === "unknown" ? state : undefined,
    signature: textOf(fields, "signature"),
    details: fields["details"],
  })
}

/** A service's URL without a trailing slash. Throws TypeError unless it is an http or https URL. */
export const baseUrl = (text: string, name: string): string => {
  const href = URL.canParse(text) ? new URL(text).href : ""
  if (!/^https?:\/\/[^@/]+\/[^?#]*$/.test(href)) {
    throw new TypeError(`${name} must be an http or https URL without user, query or fragment`)
  }
  return href.replace(/\/+$/, "")
}
